from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.loudness import integrated_lufs

RNG = np.random.default_rng(0)
NOISE = RNG.standard_normal(24_000).astype(np.float32) * np.float32(0.1)


@given(gain_db=st.floats(-30, 30))
@settings(max_examples=30, deadline=None)
def test_gain_is_loudness(gain_db):
    raised = NOISE * np.float32(10 ** (gain_db / 20))
    assert integrated_lufs(raised, 16_000) - integrated_lufs(NOISE, 16_000) == pytest.approx(
        gain_db, abs=1e-3
    )


def test_silence_is_infinitely_quiet_and_raises_no_warning():
    assert integrated_lufs(np.zeros(16_000, np.float32), 16_000) == -math.inf
    assert integrated_lufs(np.zeros(10, np.float32), 16_000) == -math.inf
    assert integrated_lufs(np.zeros(0, np.float32), 16_000) == -math.inf


@pytest.mark.parametrize("duration_s", [0.05, 0.1, 0.2, 0.399, 0.4])
def test_a_short_clip_is_as_loud_as_a_long_one_of_the_same_sound(duration_s):
    time_s = np.arange(48_000) / 48_000
    sine = (0.1 * np.sin(2 * np.pi * 997 * time_s)).astype(np.float32)
    short = integrated_lufs(sine[: round(48_000 * duration_s)], 48_000)
    assert short == pytest.approx(integrated_lufs(sine, 48_000), abs=0.3)


@pytest.mark.parametrize("rate_hz", [8000, 11_025, 16_000, 22_050, 44_100, 96_000])
def test_any_rate(rate_hz):
    time_s = np.arange(2 * rate_hz) / rate_hz
    sine = (0.1 * np.sin(2 * np.pi * 997 * time_s)).astype(np.float32)
    assert integrated_lufs(sine, rate_hz) == pytest.approx(-23.0, abs=0.2)
