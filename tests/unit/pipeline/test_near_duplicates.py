"""The same words, the same recording; and what is neither."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import pytest
from fakes import make_clip
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.resample import resample
from refprep.pipeline.decode import decode_file
from refprep.pipeline.near_duplicates import DuplicateReason, find_near_duplicates

RATE_HZ = 16_000
WORDS = ("it was the best of times", "we had everything before us", "he said nothing more that day")


def speech_like(seed: int, seconds: float = 4.0) -> np.ndarray:
    """Syllables of noise in changing colours, about four a second, with pauses."""
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal(round(seconds * RATE_HZ)) * 1e-4
    at = 0.1
    while at < seconds - 0.3:
        length = rng.uniform(0.08, 0.25)
        centre_hz, span = rng.uniform(250, 2800), slice(round(at * RATE_HZ), round((at + length) * RATE_HZ))
        num = len(samples[span])
        carrier = np.cos(2 * np.pi * centre_hz * np.arange(num) / RATE_HZ)
        samples[span] += (
            rng.uniform(0.02, 0.3) * np.hanning(num) * carrier * (1 + rng.standard_normal(num) / 2)
        )
        at += length + rng.choice([0.02, 0.08, 0.35], p=[0.6, 0.3, 0.1])
    return samples.astype(np.float32)


def reasons(clips, texts) -> dict[tuple[int, int], str]:
    return {(d.first, d.second): d.reason.value for d in find_near_duplicates(clips, texts)}


def of(*arrays: np.ndarray, rate_hz: int = RATE_HZ):
    return [make_clip(a, rate_hz) for a in arrays]


def test_different_clips_are_none():
    clips = of(*(speech_like(k) for k in range(3)))
    assert find_near_duplicates(clips, WORDS) == ()
    assert find_near_duplicates(clips, [""] * 3) == ()


def test_two_takes_of_one_sentence():
    clips = of(speech_like(1), speech_like(2))
    (found,) = find_near_duplicates(clips, ["It was the best of times.", "it was the best, of times"])
    assert (found.first, found.second, found.reason) == (0, 1, DuplicateReason.SAME_WORDS)
    assert found.similarity == 1.0
    assert found.message == "the same words (100% of the letters)"


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("it was the best of times indeed", "it was the best of time indeed", True),
        ("it was the best of times", "it was the worst of times", False),
        ("Yes sir.", "Yes sir.", False),  # too short to tell two clips apart
        ("", "", False),
        ("我们今天去", "我们今天去。", True),
        ("你好", "你好", False),
    ],
)
def test_how_alike_words_must_be(one, other, is_same):
    assert bool(reasons(of(speech_like(1), speech_like(2)), [one, other])) == is_same


@pytest.mark.parametrize("text", ["", WORDS[0]])
@pytest.mark.parametrize(
    "change",
    [
        lambda s: 0.05 * s,
        lambda s: -s,
        lambda s: np.clip(4 * s, -0.5, 0.5),
        lambda s: s[: round(0.85 * len(s))],
        lambda s: s[4321:],
        lambda s: np.concatenate([np.zeros(7777, np.float32), s, np.zeros(9999, np.float32)]),
        lambda s: np.round(s * 127) / 127,
        lambda s: s + np.random.default_rng(0).standard_normal(len(s)) * 0.01,
        lambda s: np.concatenate([speech_like(77, 2.0), s, speech_like(78, 3.0)]),
    ],
    ids=["quieter", "inverted", "clipped", "shorter", "later", "padded", "8 bit", "noisy", "joined"],
)
def test_the_same_recording(change, text):
    original = speech_like(5)
    clips = of(original, change(original).astype(np.float32))
    (found,) = find_near_duplicates(clips, [text, text])
    assert found.reason is DuplicateReason.SAME_RECORDING
    assert found.similarity > 0.75
    assert found.message == f"the same recording (correlation {found.similarity:.2f})"


def test_speech_between_two_silences_is_not_the_same_speech():
    """Their envelopes are alike, whatever is said."""
    pause = np.zeros(RATE_HZ, np.float32)
    clips = of(*(np.concatenate([pause, speech_like(k, 1.5), pause]) for k in range(4)))
    assert find_near_duplicates(clips, [""] * 4) == ()


@pytest.mark.parametrize("rate_hz", [8000, 22_050, 48_000])
def test_the_same_recording_at_another_rate(rate_hz):
    original = speech_like(6)
    other = resample(original, RATE_HZ, rate_hz)
    clips = [make_clip(original, RATE_HZ), make_clip(other, rate_hz)]
    assert reasons(clips, ["", ""]) == {(0, 1): "same_recording"}


def test_a_copy_whose_text_was_cut_with_it():
    original = speech_like(7, 8.0)
    clips = of(original, original[: len(original) // 2])
    texts = [
        "it was the best of times it was the worst of times it was the age of wisdom",
        "it was the best of times it was the worst",
    ]
    assert reasons(clips, texts) == {(0, 1): "same_recording"}


@pytest.mark.parametrize("samples", [np.zeros(16_000), np.zeros(10), np.zeros(1)])
def test_silence_and_snippets_are_like_nothing(samples):
    clips = of(speech_like(1), samples.astype(np.float32), samples.astype(np.float32))
    assert find_near_duplicates(clips, ["", "", ""]) == ()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000), st.floats(2.0, 6.0), st.floats(2.0, 6.0))
def test_sounds_of_their_own_are_never_one(seed, other_seed, seconds, other_seconds):
    if seed != other_seed:
        clips = of(speech_like(seed, seconds), speech_like(other_seed, other_seconds))
        assert find_near_duplicates(clips, ["", ""]) == ()


# --------------------------------------------------------------------------- real speech


@pytest.fixture(scope="module")
def pack(speech_pack: Path):
    """(rows, clips) of the labelled pack."""
    with (speech_pack / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, [decode_file(speech_pack / row["path"]) for row in rows]


def recording(path: str) -> str:
    """Two files of one recording in the originals: clean and noisy, dry and reverberated, 16 bit and 32."""
    for mark in ("clean_", "noisy_", "_rvb", "_32bit_float"):
        path = path.replace(mark, "")
    return path


@pytest.mark.speech
def test_no_two_recordings_of_different_sentences_are_taken_for_one(pack):
    rows, clips = pack
    kept = [i for i, row in enumerate(rows) if row["kind"] != "derived"]
    found = find_near_duplicates([clips[i] for i in kept], [rows[i]["transcript"] for i in kept])
    for pair in found:
        one, other = rows[kept[pair.first]], rows[kept[pair.second]]
        if pair.reason is DuplicateReason.SAME_RECORDING:
            assert recording(one["path"]) == recording(other["path"])
        else:
            assert one["transcript"].lower() == other["transcript"].lower()
    blind = find_near_duplicates([clips[i] for i in kept], [""] * len(kept))
    for pair in blind:
        assert recording(rows[kept[pair.first]]["path"]) == recording(rows[kept[pair.second]]["path"])
    assert len(blind) >= 6


@pytest.mark.speech
@pytest.mark.parametrize("has_text", [False, True])
def test_every_copy_of_one_recording_is_found(pack, has_text):
    rows, clips = pack
    place = {row["path"]: i for i, row in enumerate(rows)}
    copies = 0
    for index, row in enumerate(rows):
        sources = row["source_path"].split(";")
        if row["kind"] != "derived" or len(sources) > 1:
            continue
        source = place[sources[0]]
        texts = [rows[source]["transcript"], row["transcript"]] if has_text else ["", ""]
        (found,) = find_near_duplicates([clips[source], clips[index]], texts)
        assert found.reason is DuplicateReason.SAME_RECORDING, row["path"]
        copies += 1
    assert copies == 20


@pytest.mark.speech
def test_two_hundred_clips_take_two_seconds(pack):
    rows, clips = pack
    kept = [i for i, row in enumerate(rows) if row["transcript"]]
    kept = (kept + kept)[:200]
    start = time.perf_counter()
    find_near_duplicates([clips[i] for i in kept], [rows[i]["transcript"] for i in kept])
    assert time.perf_counter() - start < 6.0  # 1.5 s on two idle cores; a busy machine is allowed more
