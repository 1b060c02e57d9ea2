"""Every set of clips there is, for selections small enough to look at all of them; nothing of the selection's own code."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from refprep.pipeline.select import ClipPool, LengthWindow, SelectionResolution

WINDOW = LengthWindow(min_s=12.0, max_s=30.0, target_s=12.0, gap_s=0.12, tail_s=0.16)
RESOLUTION = SelectionResolution(score=0.02, closeness_s=0.5, quality=4.0, ngrams=2)


def pool_of(durations_s, scores, deficits=None, ngrams=None, duplicates=()) -> ClipPool:
    """A pool; no deficits and nothing said where none is given."""
    num = len(durations_s)
    return ClipPool(
        durations_s,
        np.asarray(scores, dtype=float),
        deficits or [0] * num,
        ngrams or [set()] * num,
        duplicates,
    )


def square(num: int, score: float, **pairs: float) -> np.ndarray:
    """One score for all pairs but those named: ``p01=0.9`` is that of 0 and 1."""
    scores = np.full((num, num), score)
    np.fill_diagonal(scores, 1.0)
    for name, value in pairs.items():
        i, j = int(name[1]), int(name[2])
        scores[i, j] = scores[j, i] = value
    return scores


def hundredths(score: float) -> int:
    """Ten-thousandths, to the nearest."""
    return round(score * 10_000)


def lone_score(pool: ClipPool, index: int, threshold: float) -> float:
    """Mean score with the clips that confirm it and are no copies of it; 1 where there is no other, -1 where none does."""
    copies = {index, *(j for pair in pool.duplicates if index in pair for j in pair)}
    others = [float(pool.scores[index, k]) for k in range(len(pool.durations_s)) if k not in copies]
    if not others:
        return 1.0
    confirmed = [hundredths(s) for s in others if s >= threshold]
    return round(Fraction(sum(confirmed), len(confirmed))) / 10_000 if confirmed else -1.0


def set_score(pool: ClipPool, chosen, threshold: float) -> float:
    """Lowest score of a pair, or the lone score."""
    if len(chosen) == 1:
        return lone_score(pool, chosen[0], threshold)
    return min(float(pool.scores[i, j]) for i, j in combinations(chosen, 2))


def key(
    pool: ClipPool, window: LengthWindow, resolution: SelectionResolution, chosen, threshold: float
) -> tuple[int, int, int]:
    """(score, closeness, quality) in steps, each better when greater."""
    ms = [round(Fraction(str(pool.durations_s[i])) * 1000) for i in chosen]
    total_ms = sum(ms) + round(window.gap_s * 1000) * (len(chosen) - 1) + round(window.tail_s * 1000)
    deviation = abs(total_ms - round(window.target_s * 1000)) // round(resolution.closeness_s * 1000)
    deficit = sum(pool.deficits[i] * m for i, m in zip(chosen, ms, strict=True))
    return (
        hundredths(set_score(pool, chosen, threshold)) // hundredths(resolution.score),
        -deviation,
        -(deficit // round(resolution.quality * 1000)),
    )


def num_ngrams(pool: ClipPool, chosen) -> int:
    """Distinct ones."""
    return len(set().union(*(pool.ngrams[i] for i in chosen)))


def admissible_sets(
    pool: ClipPool, window: LengthWindow, threshold: float, required=()
) -> list[tuple[int, ...]]:
    """All of them."""
    num = len(pool.durations_s)
    apart = {frozenset(p) for p in pool.duplicates}
    found = []
    for size in range(1, num + 1):
        for chosen in combinations(range(num), size):
            exact_ms = [Fraction(str(pool.durations_s[i])) * 1000 for i in chosen]
            rest_ms = Fraction(str(window.gap_s)) * 1000 * (size - 1) + Fraction(str(window.tail_s)) * 1000
            if (
                set(required) <= set(chosen)
                and sum(math.floor(m) for m in exact_ms) + rest_ms >= Fraction(str(window.min_s)) * 1000
                and sum(math.ceil(m) for m in exact_ms) + rest_ms <= Fraction(str(window.max_s)) * 1000
                and set_score(pool, chosen, threshold) >= threshold - 5e-5
                and not any(frozenset(p) in apart for p in combinations(chosen, 2))
            ):
                found.append(chosen)
    return found


@st.composite
def instances(draw, most: int = 9):
    """(pool, window, threshold): coarse grids, so that ties are common and edges are met."""
    num = draw(st.integers(1, most))
    # Mostly quarter seconds; sometimes lengths between two ms.
    length_s = st.one_of(
        st.integers(2, 60).map(lambda k: k / 4), st.integers(5_000, 150_000).map(lambda k: k / 10_000)
    )
    durations_s = draw(st.lists(length_s, min_size=num, max_size=num))
    low, high = draw(st.sampled_from([(50, 99), (90, 92), (90, 90)]))
    scores = np.eye(num)
    pairs = [(i, j) for i in range(num) for j in range(i)]
    for i, j in pairs:
        scores[i, j] = scores[j, i] = draw(st.integers(low, high)) / 100
    deficits = draw(st.lists(st.integers(0, 5), min_size=num, max_size=num))
    said = st.frozensets(st.sampled_from("abcdefghijkl"), max_size=6)
    ngrams = draw(st.lists(said, min_size=num, max_size=num))
    duplicates = draw(st.lists(st.sampled_from(pairs), max_size=6, unique=True)) if pairs else []
    least_s = draw(st.integers(4, 14))
    most_s = least_s + draw(st.integers(0, 10))
    target_s = draw(st.integers(least_s, most_s))
    gap_s = draw(st.sampled_from([0.0, 0.12, 0.25]))
    window = LengthWindow(float(least_s), float(most_s), float(target_s), gap_s, 0.25)
    threshold = draw(st.integers(45, 95)) / 100
    return ClipPool(durations_s, scores, deficits, ngrams, duplicates), window, threshold
