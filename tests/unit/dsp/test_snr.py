from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.snr import estimate_snr
from refprep.types import SnrMethod, Span

RATE_HZ = 16_000
SPEECH = (Span(1.0, 3.0),)


def speech_in_noise(snr_db: float, noise_db: float = -50.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal(4 * RATE_HZ) * 10 ** (noise_db / 20)
    samples[RATE_HZ : 3 * RATE_HZ] += rng.standard_normal(2 * RATE_HZ) * 10 ** ((noise_db + snr_db) / 20)
    return samples.astype(np.float32)


@given(snr_db=st.floats(0, 45), seed=st.integers(0, 100))
@settings(max_examples=30, deadline=None)
def test_a_known_ratio_is_read_from_the_pauses(snr_db, seed):
    estimate = estimate_snr(speech_in_noise(snr_db, seed=seed), RATE_HZ, SPEECH)
    assert estimate.snr_db == pytest.approx(snr_db, abs=0.7)
    assert estimate.noise_dbfs == pytest.approx(-50, abs=0.5)
    assert estimate.method is SnrMethod.PAUSES


def test_an_offset_is_no_noise():
    shifted = speech_in_noise(30) + np.float32(0.2)
    assert estimate_snr(shifted, RATE_HZ, SPEECH).snr_db == pytest.approx(30, abs=0.7)


def test_a_click_in_the_pause_is_not_its_noise():
    samples = speech_in_noise(30)
    samples[3000:3100] = 0.9
    assert estimate_snr(samples, RATE_HZ, SPEECH).snr_db == pytest.approx(30, abs=1.0)


def test_digital_silence_makes_it_an_estimate():
    samples = speech_in_noise(30)
    samples[:RATE_HZ] = samples[3 * RATE_HZ :] = 0.0
    samples[2 * RATE_HZ : 2 * RATE_HZ + 4000] *= np.float32(0.03)  # a closure: the noise shows through
    estimate = estimate_snr(samples, RATE_HZ, SPEECH)
    assert estimate.method is SnrMethod.QUIET_FRAMES
    assert estimate.snr_db == pytest.approx(30, abs=2)


def test_impossible():
    assert estimate_snr(np.zeros(16_000, np.float32), RATE_HZ, ()).snr_db is None
    nothing = estimate_snr(np.zeros(16_000, np.float32), RATE_HZ, (Span(0.2, 0.9),))
    assert (nothing.snr_db, nothing.noise_dbfs, nothing.method) == (None, -math.inf, SnrMethod.NONE)
    assert estimate_snr(np.zeros(0, np.float32), RATE_HZ, ()).method is SnrMethod.NONE
