"""The chosen set against every set there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from select_kit import (
    RESOLUTION,
    WINDOW,
    admissible_sets,
    instances,
    key,
    num_ngrams,
    pool_of,
    set_score,
    square,
)

from refprep.errors import UsageError
from refprep.pipeline.select import LengthWindow, SelectionResolution, select_clips, select_nested


def check_best(found, pool, window, threshold, required=()):
    """No admissible set is in a better step, and of variety none has a step more."""
    sets = admissible_sets(pool, window, threshold, required)
    if not sets:
        assert found is None
        return
    assert found is not None
    assert found.chosen in sets
    best = max(key(pool, window, RESOLUTION, s, threshold) for s in sets)
    assert key(pool, window, RESOLUTION, found.chosen, threshold) == best
    equal = [s for s in sets if key(pool, window, RESOLUTION, s, threshold) == best]
    most = max(num_ngrams(pool, s) for s in equal)
    assert num_ngrams(pool, found.chosen) > most - RESOLUTION.ngrams
    assert found.is_optimal
    assert all(step.is_optimal for step in found.steps)


@settings(max_examples=500, deadline=None)
@given(instances(), st.data())
def test_nothing_beats_the_chosen_set(instance, data):
    pool, window, threshold = instance
    num = len(pool.durations_s)
    required = data.draw(st.one_of(st.just([]), st.lists(st.integers(0, num - 1), max_size=2, unique=True)))
    found = select_clips(pool, window=window, threshold=threshold, required=required, resolution=RESOLUTION)
    check_best(found, pool, window, threshold, required)
    if found is None:
        return
    chosen = found.chosen
    score, closeness, quality, variety = found.steps
    assert chosen == tuple(sorted(set(chosen)))
    assert found.required == tuple(sorted(required))
    assert found.total_s == pytest.approx(window.total_s([pool.durations_s[i] for i in chosen]))
    assert window.min_s - 1e-9 <= found.total_s <= window.max_s + 1e-9
    assert found.min_pairwise_score == (set_score(pool, chosen, threshold) if len(chosen) > 1 else None)
    # The certificate says the same in units.
    assert score.measured == pytest.approx(set_score(pool, chosen, threshold))
    assert score.measured < score.bound <= score.measured + RESOLUTION.score + 1e-9
    assert closeness.measured == pytest.approx(
        abs(found.total_s - window.target_s), abs=0.0005 * len(chosen) + 1e-9
    )
    assert closeness.bound <= closeness.measured < closeness.bound + RESOLUTION.closeness_s
    assert quality.bound <= quality.measured < quality.bound + RESOLUTION.quality
    assert variety.measured == num_ngrams(pool, chosen) < variety.bound


@settings(max_examples=100, deadline=None)
@given(instances(most=8), st.integers(1, 12))
def test_a_nested_set_is_the_best_given_the_shorter_one(instance, more_s):
    pool, window, threshold = instance
    longer = LengthWindow(
        window.min_s, window.max_s + more_s, window.target_s + more_s, window.gap_s, window.tail_s
    )
    found = select_nested(pool, windows=[window, longer], threshold=threshold, resolution=RESOLUTION)
    first = select_clips(pool, window=window, threshold=threshold, resolution=RESOLUTION)
    if found is None:
        assert first is None or not admissible_sets(pool, longer, threshold, first.chosen)
        return
    shorter, other = found
    assert shorter == first
    assert set(shorter.chosen) <= set(other.chosen)
    assert other.required == shorter.chosen
    check_best(other, pool, longer, threshold, shorter.chosen)


@settings(max_examples=25, deadline=None)
@given(instances(), st.randoms(use_true_random=False))
def test_the_order_of_the_clips_does_not_matter(instance, random):
    pool, window, threshold = instance
    num = len(pool.durations_s)
    assume(num > 1)
    order = list(range(num))
    random.shuffle(order)
    shuffled = pool_of(
        [pool.durations_s[i] for i in order],
        pool.scores[np.ix_(order, order)],
        [pool.deficits[i] for i in order],
        [pool.ngrams[i] for i in order],
        [(order.index(i), order.index(j)) for i, j in pool.duplicates],
    )
    one = select_clips(pool, window=window, threshold=threshold, resolution=RESOLUTION)
    other = select_clips(shuffled, window=window, threshold=threshold, resolution=RESOLUTION)
    assert (one is None) == (other is None)
    if one is not None:
        back = tuple(sorted(order[i] for i in other.chosen))
        assert key(pool, window, RESOLUTION, one.chosen, threshold) == key(
            pool, window, RESOLUTION, back, threshold
        )


def test_no_candidates():
    assert select_clips(pool_of([], np.zeros((0, 0))), window=WINDOW, threshold=0.7) is None


def test_a_lone_clip_that_is_long_enough_is_taken():
    found = select_clips(pool_of([12.0], np.ones((1, 1))), window=WINDOW, threshold=0.7)
    assert found.chosen == (0,)
    assert found.min_pairwise_score is None
    assert found.total_s == pytest.approx(12.16)


def test_a_single_clip_that_nothing_resembles_loses_to_a_proven_pair():
    # Clip 0 alone would hit the target; clips 1 and 2 resemble each other more than anything resembles it.
    found = select_clips(pool_of([11.84, 6.0, 6.5], square(3, 0.75, p12=0.95)), window=WINDOW, threshold=0.7)
    assert found.chosen == (1, 2)
    assert found.min_pairwise_score == 0.95


def test_a_single_clip_is_as_good_as_its_witnesses_on_average():
    # 0 and 1 are too long for each other; alone 0 hits the target.
    found = select_clips(pool_of([11.84, 25.0, 6.0], square(3, 0.75, p01=0.95)), window=WINDOW, threshold=0.7)
    assert found.chosen == (0,)
    assert found.min_pairwise_score is None
    assert found.steps[0].measured == 0.85
    assert "0.850 here of one clip with the others on average" in found.proof


def test_a_pair_beats_a_single_clip_that_is_in_it():
    # By its best witness alone, clip 0 would be as good as the pair of 0 and 1, and closer to the target.
    found = select_clips(pool_of([12.0, 6.0, 6.5], square(3, 0.75, p01=0.95)), window=WINDOW, threshold=0.7)
    assert found.chosen == (0, 1)


def test_a_single_clip_that_no_other_confirms_is_not_admissible():
    assert select_clips(pool_of([12.0, 3.0], square(2, 0.6)), window=WINDOW, threshold=0.7) is None


def test_a_copy_is_no_witness():
    scores = square(3, 0.75, p01=0.99)
    found = select_clips(
        pool_of([12.0, 12.0, 3.0], scores, duplicates=[(0, 1)]), window=WINDOW, threshold=0.7
    )
    assert found.steps[0].measured == 0.75
    scores = square(3, 0.6, p01=0.99)
    assert (
        select_clips(pool_of([12.0, 12.0, 3.0], scores, duplicates=[(0, 1)]), window=WINDOW, threshold=0.7)
        is None
    )
    alone = select_clips(
        pool_of([12.0, 12.0], square(2, 0.99), duplicates=[(0, 1)]), window=WINDOW, threshold=0.7
    )
    assert len(alone.chosen) == 1


def test_gap_and_tail_count():
    pool = pool_of([6.0, 6.0], square(2, 0.9))
    window = LengthWindow(12.0, 12.28, 12.28, 0.12, 0.16)
    assert select_clips(pool, window=window, threshold=0.7).total_s == pytest.approx(12.28)
    tight = LengthWindow(12.0, 12.27, 12.2, 0.12, 0.16)
    assert select_clips(pool, window=tight, threshold=0.7) is None


def test_a_length_a_hair_outside_the_window_is_outside():
    window = LengthWindow(12.0, 12.2, 12.0, 0.0, 0.0)
    for duration_s in (11.9999, 12.2001):
        assert select_clips(pool_of([duration_s], np.ones((1, 1))), window=window, threshold=0.7) is None


def test_a_pair_below_the_threshold_is_never_chosen():
    # By half of what scores count in: rounded, it would be at the threshold.
    pool = pool_of([6.0, 6.0, 6.0], square(3, 0.9, p01=0.69996))
    found = select_clips(pool, window=WINDOW, threshold=0.7)
    assert not {0, 1} <= set(found.chosen)
    assert select_clips(pool_of([6.0, 6.0], square(2, 0.69996)), window=WINDOW, threshold=0.7) is None


def test_a_pair_without_a_score_is_never_chosen():
    scores = square(3, 0.9)
    scores[0, 1] = scores[1, 0] = np.nan
    found = select_clips(pool_of([6.0, 6.0, 6.0], scores), window=WINDOW, threshold=0.7)
    assert not {0, 1} <= set(found.chosen)


def test_two_near_duplicates_are_never_both_chosen():
    pool = pool_of([6.0] * 3, square(3, 0.9), duplicates=[(0, 1), (1, 2)])
    assert select_clips(pool, window=WINDOW, threshold=0.7).chosen == (0, 2)


def test_quality_breaks_ties():
    pool = pool_of([6.0] * 4, square(4, 0.9), [30, 0, 20, 10])
    assert select_clips(pool, window=WINDOW, threshold=0.7).chosen == (1, 3)


def test_a_deficit_counts_for_the_seconds_of_its_clip():
    # With 0 goes 1, of two points, or 2, of three, but half as long: 16 point-seconds against 12.
    window = LengthWindow(12.0, 30.0, 14.0, 0.0, 0.0)
    pool = pool_of([8.0, 8.0, 4.0], square(3, 0.9, p12=0.6), [0, 2, 3])
    fine = SelectionResolution(closeness_s=4.0, quality=1.0)
    assert select_clips(pool, window=window, threshold=0.7, resolution=fine).chosen == (0, 2)
    same = pool_of([8.0, 8.0, 4.0], square(3, 0.9, p12=0.6), [0, 1, 3])
    assert select_clips(same, window=window, threshold=0.7, resolution=fine).chosen == (0, 1)


def test_variety_decides_among_equals():
    said = [{"a", "b"}, {"a", "b"}, {"b", "c"}, {"c", "d"}]
    pool = pool_of([6.0] * 4, square(4, 0.9), ngrams=said)
    found = select_clips(pool, window=WINDOW, threshold=0.7, resolution=SelectionResolution(ngrams=1))
    assert found.chosen in ((0, 3), (1, 3))
    assert found.steps[3].measured == 4


def test_differences_below_a_step_do_not_decide():
    # 0.004 of a score and 0.05 s stand against 24 n-grams.
    scores = square(4, 0.6, p01=0.874, p23=0.870)
    said = [set("ab"), set("ab"), set("abcdefghijklm"), set("nopqrstuvwxyz")]
    pool = pool_of([5.95, 5.9, 5.9, 6.0], scores, ngrams=said)
    assert select_clips(pool, window=WINDOW, threshold=0.7).chosen == (2, 3)
    fine = SelectionResolution(score=0.001)
    assert select_clips(pool, window=WINDOW, threshold=0.7, resolution=fine).chosen == (0, 1)


@pytest.mark.parametrize("field", ["score", "closeness_s", "quality", "ngrams"])
def test_a_step_of_nothing_is_an_error(field):
    with pytest.raises(UsageError, match="step of nothing"):
        select_clips(
            pool_of([12.0], np.ones((1, 1))),
            window=WINDOW,
            threshold=0.7,
            resolution=SelectionResolution(**{field: 0}),
        )


def test_nested_targets_must_rise():
    window = LengthWindow(12.0, 30.0, 12.0, 0.12, 0.16)
    with pytest.raises(UsageError, match="targets 12, 12 s"):
        select_nested(pool_of([6.0] * 3, square(3, 0.9)), windows=[window, window], threshold=0.7)


def test_a_nested_proof_says_what_it_rests_on():
    windows = [LengthWindow(12.0, 30.0, t, 0.12, 0.16) for t in (12.0, 24.0)]
    shorter, longer = select_nested(pool_of([6.0] * 5, square(5, 0.9)), windows=windows, threshold=0.7)
    assert "of the shorter reference" not in shorter.proof
    assert "with the 2 clips of the shorter reference" in longer.proof
    assert (len(shorter.chosen), len(longer.chosen)) == (2, 4)


def test_a_length_that_only_one_set_has_is_solved():
    """HiGHS gave "Solve error" for it, with its presolve."""
    window = LengthWindow(min_s=11.0, max_s=11.0, target_s=11.0, gap_s=0.25, tail_s=0.25)
    durations_s = [0.5, 0.5, 0.5, 0.5, 10.25, 10.5]
    found = select_clips(pool_of(durations_s, square(6, 0.5)), window=window, threshold=0.45)
    assert found is None or sum(durations_s[i] for i in found.chosen) + 0.25 * len(found.chosen) == 11.0
