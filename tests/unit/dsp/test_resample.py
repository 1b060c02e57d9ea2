from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.resample import resample


def sine(rate_hz, frequency_hz, duration_s=1.0):
    return np.sin(2 * np.pi * frequency_hz * np.arange(round(rate_hz * duration_s)) / rate_hz).astype(
        np.float32
    )


def test_equal_rates_return_the_same_array():
    samples = sine(16_000, 440)
    assert resample(samples, 16_000, 16_000) is samples


@given(
    num_samples=st.integers(0, 3000),
    from_hz=st.sampled_from([8000, 11_025, 16_000, 22_050, 44_100, 48_000]),
    to_hz=st.sampled_from([16_000, 24_000]),
)
@settings(max_examples=60, deadline=None)
def test_length(num_samples, from_hz, to_hz):
    out = resample(np.zeros(num_samples, np.float32), from_hz, to_hz)
    assert out.shape == (-(-num_samples * to_hz // from_hz),)
    assert out.dtype == np.float32


@pytest.mark.parametrize("from_hz", [8000, 22_050, 44_100, 48_000])
def test_a_tone_in_band_keeps_its_shape(from_hz):
    out = resample(sine(from_hz, 1000), from_hz, 16_000)
    error = out[2000:-2000] - sine(16_000, 1000)[2000 : len(out) - 2000]
    assert np.abs(error).max() < 1e-3


def test_a_tone_above_the_new_band_is_gone():
    out = resample(sine(48_000, 9000), 48_000, 16_000)
    assert np.abs(out[1000:-1000]).max() < 10 ** (-85 / 20)
