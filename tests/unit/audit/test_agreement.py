"""Agreement of codes and states: shares, windows, chance, distances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refprep.audit.agreement import WINDOWS, compare_codes, compare_hidden, difference_db

CODES = st.tuples(st.integers(0, 12), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(*[arrays(np.int32, shape, elements=st.integers(0, 3))] * 2)
)


@given(CODES)
def test_shares_are_those_of_equal_codes_and_the_same_both_ways(pair):
    one, other = pair
    found, back = compare_codes(one, other), compare_codes(other, one)
    assert found.per_codebook == back.per_codebook
    assert all(0.0 <= v <= 1.0 for v in (*found.per_codebook, *found.chance))
    if len(one):
        assert found.mean == pytest.approx(float((one == other).mean()))
        thirds = np.array_split(np.arange(len(one)), 3)
        for name, rows in zip(WINDOWS, thirds, strict=True):
            expected = (one[rows] == other[rows]).mean(axis=0) if len(rows) else np.ones(one.shape[1])
            assert found.windows[name] == pytest.approx(tuple(expected))
    same = bool(np.array_equal(one, other))
    assert (found.first_difference is None) == same
    if not same:
        assert np.array_equal(one[: found.first_difference], other[: found.first_difference])


@given(CODES)
def test_a_clip_agrees_with_itself(pair):
    found = compare_codes(pair[0], pair[0])
    assert (found.mean, found.first, found.first_difference) == (1.0, 1.0, None)


def test_chance_is_what_a_shuffle_gives():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 4, (200, 2)), rng.integers(0, 4, (200, 2))
    shuffled = [(one == other[rng.permutation(200)]).mean(axis=0) for _ in range(300)]
    assert compare_codes(one, other).chance == pytest.approx(tuple(np.mean(shuffled, axis=0)), abs=0.01)


def test_frames_that_one_lacks_do_not_agree():
    codes = np.zeros((4, 2), np.int32)
    found = compare_codes(codes, codes[:3])
    assert (found.frames, found.mean, found.first_difference) == (4, 0.75, 3)


@pytest.mark.parametrize("shape", [(3, 3), (3, 0), (3,)])
def test_codes_of_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match="codes of"):
        compare_codes(np.zeros((3, 2), np.int32), np.zeros(shape, np.int32))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 10.0))
def test_distance_grows_with_the_difference_and_ignores_scale(seed, scale):
    rng = np.random.default_rng(seed)
    exact = rng.standard_normal((30, 8)).astype(np.float32)
    noise = rng.standard_normal((30, 8)).astype(np.float32)
    near, far = (compare_hidden(exact, exact + k * noise) for k in (0.01, 0.1))
    assert far.whole == pytest.approx(10 * near.whole, rel=1e-3)
    assert far.worst >= far.whole
    scaled = compare_hidden(exact * np.float32(scale), (exact + 0.1 * noise) * np.float32(scale))
    assert scaled.whole == pytest.approx(far.whole, rel=1e-3)


def test_states_that_are_no_numbers_are_infinitely_far():
    exact = np.random.default_rng(0).standard_normal((9, 2)).astype(np.float32)
    broken = exact.copy()
    broken[8] = np.nan
    found = compare_hidden(exact, broken)
    assert (found.whole, found.windows["late"], found.windows["early"]) == (math.inf, math.inf, 0.0)
    with pytest.raises(ValueError, match="states of"):
        compare_hidden(exact, broken[:8])


def test_a_difference_in_db():
    one = np.ones(10, np.float32)
    assert difference_db(one, one) == -math.inf
    assert difference_db(one, one * 0.9) == pytest.approx(-20.0, abs=1e-4)
    assert difference_db(np.zeros(10, np.float32), one) is None
    with pytest.raises(ValueError, match="signals of"):
        difference_db(one, one[:9])
