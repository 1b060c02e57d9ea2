from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.true_peak import true_peak_dbtp


def test_silence():
    assert true_peak_dbtp(np.zeros(100, np.float32), 16_000) == -math.inf
    assert true_peak_dbtp(np.zeros(0, np.float32), 16_000) == -math.inf


@pytest.mark.parametrize("rate_hz", [16_000, 48_000, 96_000])
def test_a_quarter_of_the_rate_hides_three_decibels(rate_hz):
    """BS.1770-4 annex 2: samples 45 degrees off the crest read 3.01 dB too low."""
    wave = np.sin(np.pi / 2 * np.arange(rate_hz) + np.pi / 4)
    fade = np.minimum(1.0, np.arange(rate_hz) / 1000)  # no step at the start: it would ring
    samples = (0.5 * wave * fade * fade[::-1]).astype(np.float32)
    assert 20 * math.log10(np.abs(samples).max()) == pytest.approx(-9.03, abs=0.01)
    assert true_peak_dbtp(samples, rate_hz) == pytest.approx(-6.02, abs=0.15)


@given(seed=st.integers(0, 1000), gain_db=st.floats(-40, 20))
@settings(max_examples=30, deadline=None)
def test_gain_moves_it_and_samples_bound_it(seed, gain_db):
    samples = np.random.default_rng(seed).standard_normal(800).astype(np.float32) * np.float32(0.1)
    peak = true_peak_dbtp(samples, 16_000)
    assert peak >= 20 * math.log10(np.abs(samples).max()) - 1e-6
    raised = samples * np.float32(10 ** (gain_db / 20))
    assert true_peak_dbtp(raised, 16_000) - peak == pytest.approx(gain_db, abs=1e-3)


def test_blocks_do_not_matter(monkeypatch):
    samples = np.random.default_rng(3).standard_normal(20_000).astype(np.float32)
    whole = true_peak_dbtp(samples, 16_000)
    monkeypatch.setattr("refprep.dsp.true_peak._BLOCK_SAMPLES", 1000)
    assert true_peak_dbtp(samples, 16_000) == pytest.approx(whole, abs=1e-9)


def test_at_192_khz_the_samples_are_the_peak():
    assert true_peak_dbtp(np.array([0.1, -0.5, 0.1], np.float32), 192_000) == pytest.approx(-6.02, abs=0.01)
