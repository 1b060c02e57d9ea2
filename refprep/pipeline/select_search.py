"""A good set before the proof of the best: exchanges of up to two clips for up to two others.

The solver spends most of its time on finding sets. Given one that is nearly the most varied, what is left to it is to
prove that none is a step better.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import numpy.typing as npt

from refprep.pipeline.select_instance import Instance, Limits, Pairs
from refprep.pipeline.select_program import compatible_pairs, holds, near_window

_MOST_REMOVED = 2


def exchange_for_variety(
    instance: Instance, limits: Limits, chosen: tuple[int, ...], *, end_s: float
) -> tuple[int, ...]:
    """Exchange clips while that adds n-grams, the best exchange first; ties go to the first found.

    Args:
        instance: What there is to choose from.
        limits: What every set on the way keeps to.
        chosen: A set that keeps to them.
        end_s: Of ``time.monotonic``: no exchange is begun after it.

    Returns:
        A set that no such exchange makes more varied, or the best when time was over.
    """
    said = np.zeros((len(instance.deficits), len(instance.ngrams)))
    for column, (clips, _) in enumerate(instance.ngrams):
        said[list(clips), column] = 1.0
    weights = np.array([weight for _, weight in instance.ngrams], dtype=np.float64)
    pairs = compatible_pairs(instance, limits)
    while time.monotonic() < end_s:
        better = _best_exchange(instance, limits, chosen, said, weights, pairs)
        if better is None:
            break
        chosen = better
    return chosen


def _best_exchange(
    instance: Instance,
    limits: Limits,
    chosen: tuple[int, ...],
    said: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    pairs: Pairs,
) -> tuple[int, ...] | None:
    """The set after the exchange that adds most; None where none adds any."""
    best, best_count = None, float(instance.num_ngrams(chosen))
    free = [i for i in chosen if not instance.required[i]]
    for size in range(_MOST_REMOVED + 1):
        for removed in itertools.combinations(free, size):
            rest = [i for i in chosen if i not in removed]
            covered = said[rest].any(axis=0)
            fresh = said * np.where(covered, 0.0, weights)
            alone = fresh.sum(axis=1)
            # [i, j]: n-grams that both add; [i, i]: that one adds.
            count = weights[covered].sum() + alone[:, np.newaxis] + alone - fresh @ said.T
            count[~_allowed(instance, limits, rest, pairs)] = -1.0
            i, j = np.unravel_index(int(np.argmax(count)), count.shape)
            if count[i, j] > best_count:
                trial = tuple(sorted({*rest, int(i), int(j)}))
                if holds(instance, limits, trial):
                    best, best_count = trial, float(count[i, j])
    return best


def _allowed(
    instance: Instance,
    limits: Limits,
    rest: list[int],
    pairs: Pairs,
) -> Pairs:
    """[i, j]: both may join what is left of the set; [i, i]: the one may."""
    low_near, high_near = near_window(instance, limits)
    fits = np.asarray(pairs[:, rest].all(axis=1))
    fits[rest] = False
    allowed = pairs & fits[:, np.newaxis] & fits
    sums = [
        (instance.floor_ms, instance.low_ms, None),
        (instance.ceil_ms, None, instance.high_ms),
        (instance.near_ms, low_near, high_near),
    ]
    if limits.deficit is not None:
        sums.append((instance.deficits, None, (limits.deficit + 1) * instance.quality_step - 1))
    for values, low, high in sums:
        both = values[:, np.newaxis] + values
        np.fill_diagonal(both, values)
        both += values[rest].sum()
        if low is not None:
            allowed &= both >= low
        if high is not None:
            allowed &= both <= high
    return allowed
