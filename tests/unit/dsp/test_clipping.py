from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.dsp.clipping import clipped_ratio

TIME_S = np.arange(16_000) / 16_000
SINE = np.sin(2 * np.pi * 220 * TIME_S)


def sixteen_bits(wave):
    return (np.clip(np.rint(wave * 32768), -32768, 32767) / 32768).astype(np.float32)


def test_clean_is_exactly_zero():
    assert clipped_ratio(sixteen_bits(0.9 * SINE * np.linspace(0.5, 1, 16_000))) == 0.0
    assert clipped_ratio(np.zeros(100, np.float32)) == 0.0
    assert clipped_ratio(np.zeros(0, np.float32)) == 0.0


@given(gain=st.floats(1.1, 8.0))
def test_flat_tops_are_counted(gain):
    clipped = sixteen_bits(gain * SINE)
    truth = np.mean((clipped >= 32767 / 32768) | (clipped <= -1.0))
    assert clipped_ratio(clipped) == pytest.approx(truth, abs=0.01)


@given(attenuation_db=st.floats(1, 30))
def test_attenuated_clipping_is_still_clipping(attenuation_db):
    clipped = sixteen_bits(2.0 * SINE)
    quieter = sixteen_bits(clipped * 10 ** (-attenuation_db / 20))
    assert clipped_ratio(quieter) > 0.5


def test_one_side_only():
    assert clipped_ratio(sixteen_bits(np.minimum(SINE, 0.5))) == pytest.approx(1 / 3, abs=0.02)


def test_one_flat_crest_is_no_clipping():
    """A low voice at 48 kHz, rounded to 16 bits, is flat at its highest crest."""
    wave = SINE * np.hanning(16_000) * 0.5
    wave[8000:8006] = 0.7
    assert clipped_ratio(sixteen_bits(wave)) == 0.0


def test_coarse_steps_are_no_clipping():
    assert clipped_ratio(sixteen_bits(SINE * 3 / 32768)) == 0.0


def test_beyond_full_scale():
    samples = np.array([0.0, 1.2, 0.1, -1.1], np.float32)
    assert clipped_ratio(samples) == 0.5
