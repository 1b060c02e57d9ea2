from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.dsp.levels import dc_offset, frame_powers, mean_power, rms_dbfs, span_samples
from refprep.types import Span

NOISE = np.random.default_rng(0).standard_normal(16_000).astype(np.float32) * np.float32(0.1)


def test_square_wave_of_full_scale_is_zero_db():
    assert rms_dbfs(np.tile(np.array([1, -1], np.float32), 100)) == 0.0


def test_silence_and_nothing():
    assert rms_dbfs(np.zeros(10, np.float32)) == -math.inf
    assert rms_dbfs(np.zeros(0, np.float32)) == -math.inf
    assert dc_offset(np.zeros(0, np.float32)) == 0.0


@given(gain_db=st.floats(-40, 40))
def test_gain_moves_the_level_by_itself(gain_db):
    raised = NOISE * np.float32(10 ** (gain_db / 20))
    assert rms_dbfs(raised) - rms_dbfs(NOISE) == pytest.approx(gain_db, abs=1e-3)


def test_long_sums_keep_their_digits():
    """Ten minutes at 16 kHz: float32 accumulation is off by more than this."""
    assert mean_power(np.full(9_600_000, 0.1, np.float32)) == pytest.approx(0.01, rel=1e-7)


def test_spans_are_cut_on_samples_and_clamped():
    samples = np.arange(100, dtype=np.float32)
    cut = span_samples(samples, 10, [Span(0.0, 0.3), Span(9.8, 12.0)])
    np.testing.assert_array_equal(cut, [0, 1, 2, 98, 99])
    assert span_samples(samples, 10, []).size == 0


def test_frames_leave_out_the_incomplete_one():
    np.testing.assert_allclose(frame_powers(np.array([1, 1, 2, 2, 9], np.float32), 2), [1, 4])


def test_offset():
    assert dc_offset(NOISE + np.float32(0.2)) == pytest.approx(0.2 + float(NOISE.mean()), abs=1e-6)
