from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from refprep.dsp.bandwidth import bandwidth_hz
from refprep.dsp.resample import resample
from refprep.types import Span


def speech_like(rate_hz: int, cutoff_hz: float | None, seed: int = 0):
    """Two seconds of noise that falls by 6 dB an octave, cut off where asked, between pauses."""
    rng = np.random.default_rng(seed)
    wave = signal.lfilter([1.0], [1.0, -0.9], rng.standard_normal(2 * rate_hz)) * 0.02
    if cutoff_hz is not None:
        wave = signal.sosfiltfilt(signal.butter(20, cutoff_hz, fs=rate_hz, output="sos"), wave)
    silence = rng.standard_normal(rate_hz // 2) * 1e-5
    return np.concatenate([silence, wave, silence]).astype(np.float32)


SPEECH = (Span(0.5, 2.5),)


@pytest.mark.parametrize("cutoff_hz", [3400, 5500, 7000, 11_000])
@pytest.mark.parametrize("rate_hz", [24_000, 48_000])
def test_the_cutoff_is_found(rate_hz, cutoff_hz):
    measured = bandwidth_hz(speech_like(rate_hz, cutoff_hz), rate_hz, SPEECH)
    assert cutoff_hz - 130 <= measured <= cutoff_hz * 1.25


@pytest.mark.parametrize("rate_hz", [16_000, 24_000, 48_000])
def test_telephone_speech_in_a_wide_file(rate_hz):
    narrow = resample(speech_like(8000, None), 8000, rate_hz)
    assert 3700 <= bandwidth_hz(narrow, rate_hz, SPEECH) <= 4300


def test_full_band():
    assert bandwidth_hz(speech_like(16_000, None), 16_000, SPEECH) == 8000


def test_noise_above_the_speech_is_not_speech():
    """Hiss of the equipment goes on in the pauses: it does not widen the speech."""
    rng = np.random.default_rng(5)
    narrow = resample(speech_like(8000, None), 8000, 48_000)
    hissing = narrow + (rng.standard_normal(narrow.size) * 10 ** (-55 / 20)).astype(np.float32)
    assert bandwidth_hz(hissing, 48_000, SPEECH) <= 4500


def test_a_whistle_is_not_speech():
    narrow = resample(speech_like(8000, None), 8000, 48_000)
    whistle = 0.01 * np.sin(2 * np.pi * 15_690 * np.arange(narrow.size) / 48_000)
    assert bandwidth_hz((narrow + whistle).astype(np.float32), 48_000, SPEECH) <= 4500


def test_silence_and_too_little():
    assert bandwidth_hz(np.zeros(16_000, np.float32), 16_000, ()) == 0.0
    assert bandwidth_hz(np.ones(10, np.float32), 16_000, ()) == 0.0
    assert bandwidth_hz(np.zeros(0, np.float32), 16_000, ()) == 0.0


def test_without_speech_the_whole_clip_counts():
    assert bandwidth_hz(speech_like(16_000, None), 16_000, ()) == 8000
