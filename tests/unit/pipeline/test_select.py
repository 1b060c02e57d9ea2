"""The chosen set against every set there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from refprep.pipeline.select import LengthWindow, select_clips

WINDOW = LengthWindow(min_s=12.0, max_s=30.0, target_s=12.0, gap_s=0.12, tail_s=0.16)
EPSILON = 1e-5


def pair_score(cosines, chosen):
    """Lowest cosine of a pair; a single clip is as well proven as by the clip that resembles it most."""
    if len(chosen) > 1:
        return min(cosines[i][j] for i, j in combinations(chosen, 2))
    others = [c for k, c in enumerate(cosines[chosen[0]]) if k != chosen[0]]
    return max(others, default=1.0)


def length_s(durations, chosen, window):
    return sum(durations[i] for i in chosen) + window.gap_s * (len(chosen) - 1) + window.tail_s


def brute_force(durations, cosines, quality, window, threshold):
    """(score, deviation, quality) of the best admissible set, or None."""
    n = len(durations)
    sets = [c for size in range(1, n + 1) for c in combinations(range(n), size)]
    sets = [
        s
        for s in sets
        if window.min_s - EPSILON <= length_s(durations, s, window) <= window.max_s + EPSILON
        and pair_score(cosines, s) >= threshold
    ]
    if not sets:
        return None
    score = max(pair_score(cosines, s) for s in sets)
    sets = [s for s in sets if pair_score(cosines, s) == score]
    deviation = min(abs(length_s(durations, s, window) - window.target_s) for s in sets)
    sets = [s for s in sets if abs(length_s(durations, s, window) - window.target_s) <= deviation + EPSILON]
    return score, deviation, max(sum(quality[i] for i in s) for s in sets)


@st.composite
def instances(draw):
    n = draw(st.integers(1, 9))
    # Lengths on a grid of a quarter second and few distinct cosines: ties are common, boundaries are met.
    durations = [k / 4 for k in draw(st.lists(st.integers(2, 60), min_size=n, max_size=n))]
    cosines = np.eye(n)
    for i in range(n):
        for j in range(i):
            cosines[i, j] = cosines[j, i] = draw(st.integers(50, 99)) / 100
    quality = draw(st.lists(st.integers(-4, 4).map(float), min_size=n, max_size=n))
    low = draw(st.integers(4, 14))
    high = low + draw(st.integers(0, 10))
    target = draw(st.integers(low, high))
    window = LengthWindow(float(low), float(high), float(target), draw(st.sampled_from([0.0, 0.25])), 0.25)
    return durations, cosines, quality, window, draw(st.integers(45, 95)) / 100


@settings(max_examples=120, deadline=None)
@given(instances())
def test_nothing_beats_the_chosen_set(instance):
    durations, cosines, quality, window, threshold = instance
    best = brute_force(durations, cosines.tolist(), quality, window, threshold)
    found = select_clips(durations, cosines, quality, window=window, threshold=threshold)
    if best is None:
        assert found is None
        return
    assert found is not None
    score, deviation, top_quality = best
    chosen = found.chosen
    assert chosen == tuple(sorted(set(chosen)))
    assert pair_score(cosines.tolist(), chosen) == score
    assert found.min_pairwise_cosine == (score if len(chosen) > 1 else None)
    assert found.total_s == pytest.approx(length_s(durations, chosen, window))
    assert window.min_s - EPSILON <= found.total_s <= window.max_s + EPSILON
    assert abs(found.total_s - window.target_s) == pytest.approx(deviation, abs=EPSILON)
    assert sum(quality[i] for i in chosen) == pytest.approx(top_quality, abs=1e-6)
    assert found.is_optimal


@settings(max_examples=25, deadline=None)
@given(instances(), st.randoms(use_true_random=False))
def test_the_order_of_the_clips_does_not_matter(instance, random):
    durations, cosines, quality, window, threshold = instance
    n = len(durations)
    assume(n > 1)
    order = list(range(n))
    random.shuffle(order)
    one = select_clips(durations, cosines, quality, window=window, threshold=threshold)
    other = select_clips(
        [durations[i] for i in order],
        cosines[np.ix_(order, order)],
        [quality[i] for i in order],
        window=window,
        threshold=threshold,
    )
    assert (one is None) == (other is None)
    if one is not None:
        assert pair_score(cosines.tolist(), one.chosen) == pair_score(
            cosines.tolist(), tuple(order[i] for i in other.chosen)
        )
        assert abs(one.total_s - window.target_s) == pytest.approx(
            abs(other.total_s - window.target_s), abs=EPSILON
        )


def square(n: int, value: float, **pairs: float):
    cosines = np.full((n, n), value)
    np.fill_diagonal(cosines, 1.0)
    for name, cosine in pairs.items():
        i, j = int(name[1]), int(name[2])
        cosines[i, j] = cosines[j, i] = cosine
    return cosines


def test_no_candidates():
    assert select_clips([], np.zeros((0, 0)), [], window=WINDOW, threshold=0.7) is None


def test_a_lone_clip_that_is_long_enough_is_taken():
    found = select_clips([12.0], np.ones((1, 1)), [0.0], window=WINDOW, threshold=0.7)
    assert found.chosen == (0,)
    assert found.min_pairwise_cosine is None
    assert found.total_s == pytest.approx(12.16)


def test_a_single_clip_that_nothing_resembles_loses_to_a_proven_pair():
    # Clip 0 alone would hit the target; clips 1 and 2 resemble each other more than anything resembles it.
    cosines = square(3, 0.75, p12=0.95)
    found = select_clips([11.84, 6.0, 6.5], cosines, [0.0] * 3, window=WINDOW, threshold=0.7)
    assert found.chosen == (1, 2)
    assert found.min_pairwise_cosine == 0.95


def test_a_single_clip_is_as_good_as_its_best_witness():
    # 0 resembles 1 best; only 0 is long enough, alone it hits the target and needs no join.
    cosines = square(3, 0.75, p01=0.95)
    found = select_clips([11.84, 1.0, 6.0], cosines, [0.0] * 3, window=WINDOW, threshold=0.7)
    assert found.chosen == (0,)
    assert found.min_pairwise_cosine is None


def test_a_single_clip_that_no_other_confirms_is_not_admissible():
    assert select_clips([12.0, 3.0], square(2, 0.6), [0.0, 0.0], window=WINDOW, threshold=0.7) is None


def test_gap_and_tail_count():
    window = LengthWindow(12.0, 12.28, 12.28, 0.12, 0.16)
    found = select_clips([6.0, 6.0], square(2, 0.9), [0.0, 0.0], window=window, threshold=0.7)
    assert found.total_s == pytest.approx(12.28)
    tight = LengthWindow(12.0, 12.27, 12.2, 0.12, 0.16)
    assert select_clips([6.0, 6.0], square(2, 0.9), [0.0, 0.0], window=tight, threshold=0.7) is None


def test_a_pair_below_the_threshold_is_never_chosen():
    cosines = square(3, 0.9, p01=0.69)
    found = select_clips([6.0, 6.0, 6.0], cosines, [0.0, 0.0, 0.0], window=WINDOW, threshold=0.7)
    assert not {0, 1} <= set(found.chosen)


def test_quality_breaks_ties():
    found = select_clips([6.0] * 4, square(4, 0.9), [0.0, 3.0, 1.0, 2.0], window=WINDOW, threshold=0.7)
    assert found.chosen == (1, 3)


def test_the_proof_says_what_was_proven():
    found = select_clips([6.0] * 4, square(4, 0.9), [0.0] * 4, window=WINDOW, threshold=0.7)
    for part in ("4 candidates", "HiGHS", "12-30 s", "0.900", f"{found.total_s:.2f} s"):
        assert part in found.proof


def test_forty_candidates_are_solved():
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((40, 8)) * 0.3 + np.eye(8)[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    durations = rng.uniform(1.5, 6.0, 40)
    found = select_clips(list(durations), vectors @ vectors.T, [0.0] * 40, window=WINDOW, threshold=0.5)
    assert found is not None
    assert 12.0 - EPSILON <= found.total_s <= 30.0 + EPSILON


def test_a_length_that_only_one_set_has_is_solved():
    """HiGHS gave "Solve error" for it, with its presolve."""
    cosines = np.full((6, 6), 0.5)
    np.fill_diagonal(cosines, 1.0)
    window = LengthWindow(min_s=11.0, max_s=11.0, target_s=11.0, gap_s=0.25, tail_s=0.25)
    found = select_clips([0.5, 0.5, 0.5, 0.5, 10.25, 10.5], cosines, [0.0] * 6, window=window, threshold=0.45)
    assert (
        found is None
        or sum([0.5, 0.5, 0.5, 0.5, 10.25, 10.5][i] for i in found.chosen) + 0.25 * len(found.chosen) == 11.0
    )
