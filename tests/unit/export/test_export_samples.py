"""Whatever is exported, its samples are those of reference.wav, bit for bit, in each stored format."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
import soundfile
from export_kit import make_voice, noise
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import NoReferenceError
from refprep.export import EXPORTERS, export_voice
from refprep.types import SampleFormat

RATE_HZ = 1000
RAW = {
    "PCM_16": st.integers(-(2**15), 2**15 - 1).map(lambda n: n / 2**15),
    "PCM_24": st.integers(-(2**23), 2**23 - 1).map(lambda n: n / 2**23),
    "FLOAT": st.floats(-4.0, 4.0, width=32),
}


@st.composite
def voices(draw):
    """(format, samples of each clip, gap, tail): mostly noise, some drawn values, lengths around the engines' limits."""
    sample_format = draw(st.sampled_from(sorted(RAW)))
    lengths = draw(st.lists(st.integers(900, 9000), min_size=1, max_size=4))
    clips = []
    for seed, length in enumerate(lengths):
        samples = np.array(noise(length, seed, sample_format))
        drawn = draw(st.lists(RAW[sample_format], max_size=8))
        samples[: len(drawn)] = drawn
        clips.append(samples.astype(np.float32))
    silence = st.integers(0, 300).map(lambda ms: f"zeros-{ms}ms")
    return sample_format, clips, draw(silence), draw(silence)


@settings(deadline=None, max_examples=40)
@given(voices(), st.sampled_from(sorted(EXPORTERS)))
def test_exported_samples_are_the_voices(voice, engine):
    sample_format, clips, gap, tail = voice
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "voice", Path(folder) / "out"
        make_voice(source, samples=clips, rate_hz=RATE_HZ, sample_format=sample_format, gap=gap, tail=tail)
        reference, _ = soundfile.read(source / "reference.wav", dtype="float32")
        try:
            document = export_voice(source, engine, out).document
        except NoReferenceError:
            assert not out.exists()
            return
        assert document["sample_format"] == sample_format
        files = {row["file"] for row in document["clips"]}
        read = {f: soundfile.read(out / f, dtype="float32")[0] for f in files}
        for row in document["clips"]:
            there = read[row["file"]][row["start_sample"] : row["end_sample"]]
            here = reference[row["voice_start_sample"] : row["voice_end_sample"]]
            assert there.tobytes() == here.tobytes()
        for name in files:
            assert soundfile.info(out / name).subtype == sample_format
        if files <= {"reference.wav", "prompt.wav"}:
            (joined,) = read.values()
            if not document["is_cut"]:
                assert joined.tobytes() == reference.tobytes()
            covered = np.zeros(joined.shape[0], dtype=bool)
            for row in document["clips"]:
                covered[row["start_sample"] : row["end_sample"]] = True
            assert not joined[~covered].any()
            gaps = (len(document["clips"]) - 1) * int(gap[6:-2]) + int(tail[6:-2])
            assert np.count_nonzero(~covered) == gaps


@pytest.mark.parametrize("sample_format", list(SampleFormat))
def test_the_stored_format_is_that_of_the_voice(tmp_path, sample_format):
    make_voice(tmp_path / "voice", sample_format=sample_format.value)
    export_voice(tmp_path / "voice", "f5-tts", tmp_path / "out")
    assert soundfile.info(tmp_path / "out" / "reference.wav").subtype == sample_format.value


def test_a_negative_zero_stays_one(tmp_path):
    samples = np.zeros(4000, dtype=np.float32)
    samples[::2] = -0.0
    samples[1] = 1 / 3
    make_voice(tmp_path / "voice", samples=[samples], sample_format="FLOAT", tail="zeros-0ms")
    export_voice(tmp_path / "voice", "qwen3-tts", tmp_path / "out")
    written, _ = soundfile.read(tmp_path / "out" / "reference.wav", dtype="float32")
    assert written.tobytes() == samples.tobytes()


def test_what_follows_a_clip_in_the_voice_follows_it_in_the_export(tmp_path):
    make_voice(
        tmp_path / "voice",
        (2.0, 3.5, 3.0, 3.9, 5.5),
        rate_hz=RATE_HZ,
        gap="room-tone-120ms",
        tail="room-tone-200ms",
        nested=[2],
    )
    voice = soundfile.read(tmp_path / "voice" / "reference.wav", dtype="float32")[0]
    gap, tail = voice[2000:2120], voice[-200:]
    assert voice[5620:5820].tobytes() == tail.tobytes()  # a shorter reference ends after the second clip
    assert np.any(gap)
    assert gap.tobytes() == tail[:120].tobytes()
    document = export_voice(tmp_path / "voice", "gpt-sovits", tmp_path / "out").document
    assert [row["path"] for row in document["clips"]] == [
        "../clips/0.wav",
        "../clips/1.wav",
        "../clips/3.wav",
    ]
    joined = soundfile.read(tmp_path / "out" / "reference.wav", dtype="float32")[0]
    starts = [row["start_sample"] for row in document["clips"]]
    assert starts == [0, 2120, 5820]
    assert joined[:5820].tobytes() == voice[:5820].tobytes()
    assert joined[9720:].tobytes() == tail.tobytes()
    export_voice(tmp_path / "voice", "qwen3-tts", tmp_path / "whole")
    whole = soundfile.read(tmp_path / "whole" / "reference.wav", dtype="float32")[0]
    assert whole.tobytes() == voice.tobytes()
