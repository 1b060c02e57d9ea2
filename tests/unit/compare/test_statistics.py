"""Paired differences: intervals that cover, that do not care which side is called A, and that say nothing of nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.compare.statistics import MIN_PAIRS, paired_difference

VALUES = st.lists(st.floats(-1e3, 1e3).map(lambda v: round(v, 3)), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(0, 2**32 - 1))
def test_a_and_b_may_change_places(a, seed):
    b = [v + e for v, e in zip(a, np.random.default_rng(seed).standard_normal(len(a)), strict=True)]
    one, other = paired_difference(a, b), paired_difference(b, a)
    assert one is not None
    assert other is not None
    assert one.mean == pytest.approx(-other.mean)
    assert one.is_shown == other.is_shown
    if one.low is not None and one.high is not None and other.low is not None and other.high is not None:
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_the_same_twice_differs_by_nothing(values):
    found = paired_difference(values, values)
    assert found is not None
    assert found.mean == 0.0
    assert not found.is_shown
    assert {found.low, found.high} <= {0.0, None}


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_the_interval_holds_the_mean_and_is_the_same_every_time(values):
    zeros = [0.0] * len(values)
    found = paired_difference(values, zeros)
    assert found == paired_difference(values, zeros)
    assert found is not None
    assert found.pairs == len(values)
    if len(values) < MIN_PAIRS:
        assert (found.low, found.high, found.is_shown) == (None, None, False)
    else:
        assert found.low is not None
        assert found.high is not None
        assert found.low <= found.mean <= found.high


@pytest.mark.parametrize("pairs", [5, 10, 25])
def test_intervals_cover_the_truth_about_as_often_as_they_say(pairs):
    rng = np.random.default_rng(pairs)
    hits = 0
    for _ in range(200):
        voices = rng.standard_normal(pairs)  # what text and seed do to both
        a = voices + 0.3 + 0.2 * rng.standard_normal(pairs)
        b = voices + 0.2 * rng.standard_normal(pairs)
        found = paired_difference(list(a), list(b))
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.3 <= found.high
    assert 0.88 <= hits / 200 <= 1.0


def test_a_clear_difference_is_shown_and_noise_is_not():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((2, 10))
    clear = paired_difference(list(noise[0] + 5), list(noise[1]))
    none = paired_difference(list(noise[0]), list(noise[1]))
    assert clear is not None
    assert clear.is_shown
    assert none is not None
    assert not none.is_shown


def test_pairs_without_numbers_are_left_out():
    found = paired_difference([1.0, None, 3.0, float("nan")], [0.0, 1.0, None, 2.0])
    assert found is not None
    assert (found.pairs, found.mean) == (1, 1.0)
    assert paired_difference([None], [1.0]) is None
    assert paired_difference([], []) is None
    with pytest.raises(ValueError, match="1 values beside 2"):
        paired_difference([1.0], [1.0, 2.0])
