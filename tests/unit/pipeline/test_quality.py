"""Clip and speech in, numbers out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.quality import measure_quality
from refprep.types import AudioSource, Clip, Downmix, SampleFormat, SnrMethod, Span, freeze

RATE_HZ = 16_000


def clip_of(samples, rate_hz: int = RATE_HZ) -> Clip:
    samples = freeze(np.asarray(samples, np.float32))
    duration_s = len(samples) / rate_hz
    source = AudioSource(
        path="clip.wav",
        file_sha256="0" * 64,
        container="wav",
        codec="pcm_f32le",
        sample_format=SampleFormat.FLOAT,
        num_channels=1,
        declared_duration_s=duration_s,
        decoded_duration_s=duration_s,
        downmix=Downmix.NONE,
        channel_peaks=(1.0,),
    )
    return Clip(id=pcm_sha256(samples, rate_hz), source=source, samples=samples, sample_rate_hz=rate_hz)


def scene(*parts: tuple[float, float], seed: int = 0):
    """(seconds, level in dBFS): noise of these levels, one behind the other."""
    rng = np.random.default_rng(seed)
    pieces = [rng.standard_normal(round(s * RATE_HZ)) * 10 ** (db / 20) for s, db in parts]
    return np.concatenate(pieces).astype(np.float32)


SCENE = scene((0.5, -70), (1.0, -20), (0.8, -70), (1.2, -20), (0.3, -70))
SPEECH = (Span(0.48, 1.52), Span(2.28, 3.52))


def measure(samples, speech=SPEECH, text=None, language=""):
    return measure_quality(clip_of(samples), speech, text=text, language=language)


def test_a_plain_clip():
    report = measure(SCENE, text="one two three four five six", language="en")
    assert report.speech_level_dbfs == pytest.approx(-20, abs=0.5)
    assert report.noise_level_dbfs == pytest.approx(-70, abs=0.5)
    assert report.snr_db == pytest.approx(50, abs=1)
    assert report.snr_method is SnrMethod.PAUSES
    assert report.leading_silence_s == pytest.approx(0.5, abs=0.011)
    assert report.trailing_silence_s == pytest.approx(0.3, abs=0.011)
    assert report.longest_inner_silence_s == pytest.approx(0.8, abs=0.021)
    assert report.longest_inner_silence.start_s == pytest.approx(1.5, abs=0.011)
    assert report.tail_level_dbfs == pytest.approx(-70, abs=1)
    assert report.speech_s == pytest.approx(2.2, abs=0.05)
    assert report.pace_per_s == pytest.approx(6 / 2.2, rel=0.05)
    assert report.duration_s == pytest.approx(3.8)
    assert report.clipped_ratio == 0.0
    assert report.bandwidth_hz == 8000
    assert not report.is_pace_in_characters


def test_an_offset_changes_no_level():
    plain, shifted = measure(SCENE), measure(SCENE + np.float32(0.2))
    assert shifted.dc_offset == pytest.approx(0.2, abs=1e-3)
    assert shifted.speech_level_dbfs == pytest.approx(plain.speech_level_dbfs, abs=0.01)
    assert shifted.tail_level_dbfs == pytest.approx(plain.tail_level_dbfs, abs=0.1)
    assert shifted.snr_db == pytest.approx(plain.snr_db, abs=0.1)
    assert shifted.leading_silence_s == plain.leading_silence_s


def test_digital_silence_at_the_end():
    report = measure(np.concatenate([SCENE, np.zeros(1600, np.float32)]))
    assert report.tail_level_dbfs == -math.inf


def test_nobody_speaks():
    report = measure(scene((1.0, -60)), speech=())
    assert report.speech_level_dbfs == -math.inf
    assert report.speech_s == 0.0
    assert report.snr_db is None
    assert report.pace_per_s is None
    assert (report.leading_silence_s, report.trailing_silence_s) == (1.0, 0.0)
    assert report.longest_inner_silence is None


@pytest.mark.parametrize("num_samples", [1, 10, 400, 6400])
def test_digital_silence_of_any_length(num_samples):
    report = measure(np.zeros(num_samples), speech=())
    assert report.loudness_lufs == report.true_peak_dbtp == report.tail_level_dbfs == -math.inf
    assert report.bandwidth_hz == 0.0


@pytest.mark.parametrize("num_samples", [10, 400, 6400])
def test_speech_of_any_length(num_samples):
    report = measure(
        SCENE[10_000 : 10_000 + num_samples],
        speech=[Span(0.0, num_samples / RATE_HZ)],
        text="a",
        language="en",
    )
    assert math.isfinite(report.speech_level_dbfs)
    assert report.pace_per_s is None  # less than half a second


def test_characters_are_counted_where_they_are_syllables():
    report = measure(SCENE, text="今天天气很好", language="zh")
    assert report.is_pace_in_characters
    assert report.pace_per_s == pytest.approx(6 / 2.2, rel=0.05)


@given(gain_db=st.floats(-20, 12))
@settings(max_examples=25, deadline=None)
def test_gain_moves_levels_and_nothing_else(gain_db):
    plain, raised = measure(SCENE), measure(SCENE * np.float32(10 ** (gain_db / 20)))
    for name in (
        "loudness_lufs",
        "speech_level_dbfs",
        "true_peak_dbtp",
        "tail_level_dbfs",
        "noise_level_dbfs",
    ):
        assert getattr(raised, name) - getattr(plain, name) == pytest.approx(gain_db, abs=0.02)
    assert raised.snr_db == pytest.approx(plain.snr_db, abs=0.02)
    assert raised.leading_silence_s == plain.leading_silence_s
    assert raised.trailing_silence_s == plain.trailing_silence_s
    assert raised.longest_inner_silence == plain.longest_inner_silence
    assert raised.bandwidth_hz == plain.bandwidth_hz


def test_the_clip_is_left_as_it_is():
    clip = clip_of(SCENE)
    measure_quality(clip, SPEECH, text=None, language="")
    np.testing.assert_array_equal(clip.samples, SCENE)
