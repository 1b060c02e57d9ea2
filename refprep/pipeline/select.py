"""Candidates -> the best set of complete clips, with its certificate.

Admissible is a set whose whole length lies in the window, whose every pair scores at least the threshold, that holds no
two near-duplicates and every required clip. The chosen one maximises, in this order: the lowest score of any pair,
closeness of the whole length to the target, quality, variety of what is said. Each is compared in steps of its
resolution (``SelectionResolution``), since a difference too small to be measured would otherwise decide everything and
leave nothing to what comes after. Steps are counted from zero and a value belongs to the step it falls into; of variety,
the last, no set has a whole step more than the chosen one.

A clip long enough to stand alone is as well proven as the other clips prove it: its score is the mean of those with them;
near-duplicates of it prove nothing. Where there is no other clip, its score is 1.

Each objective is a mixed-integer program in whole numbers that HiGHS solves to proven optimality, with those before it as
constraints; the first is a bisection over the steps that occur. Sets that are equal in all four are equally good: which
one is taken depends on the candidates and their order alone, since the solver runs with a fixed seed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from refprep.errors import BackendError, UsageError
from refprep.pipeline.certificate import SelectionStep, certify, proof_sentence
from refprep.pipeline.select_instance import (
    NOT_ALONE,
    ClipPool,
    Instance,
    LengthWindow,
    Limits,
    Objective,
    SelectionResolution,
    make_instance,
)
from refprep.pipeline.select_program import solve
from refprep.pipeline.select_search import exchange_for_variety

__all__ = ["ClipPool", "LengthWindow", "Selection", "SelectionResolution", "select_clips", "select_nested"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen clips and why there are no better ones.

    Attributes:
        chosen: Candidate indices, ascending.
        min_pairwise_score: Lowest score among the chosen; None for a single clip.
        total_s: Length of the reference they make.
        is_optimal: HiGHS proved every step optimal.
        proof: One sentence for people.
        steps: The certificate, in the order of the objectives.
        required: Candidate indices that had to be in: it is optimal given these.
    """

    chosen: tuple[int, ...]
    min_pairwise_score: float | None
    total_s: float
    is_optimal: bool
    proof: str
    steps: tuple[SelectionStep, ...] = ()
    required: tuple[int, ...] = ()


def select_clips(
    pool: ClipPool,
    *,
    window: LengthWindow,
    threshold: float,
    required: Collection[int] = (),
    resolution: SelectionResolution | None = None,
    time_limit_s: float = 60.0,
) -> Selection | None:
    """Choose the best admissible set of clips.

    Args:
        pool: The candidates.
        window: Admissible lengths.
        threshold: Lowest score a chosen pair may have.
        required: Candidates that must be in.
        resolution: Steps in which sets are compared; None for the defaults.
        time_limit_s: Wall time, about. What is not settled by then is told in ``steps``.

    Returns:
        The selection, or None when HiGHS proves that no set is admissible.

    Raises:
        UsageError: A resolution finer than what is counted in.
        BackendError: The time was over before any admissible set was found, or the solver failed.
    """
    end_s = time.monotonic() + time_limit_s
    if not pool.durations_s:
        return None
    resolution = resolution or SelectionResolution()
    instance = make_instance(pool, window, threshold, required, resolution)
    found = _settle_score(instance, end_s)
    if found is None:
        return None
    chosen, bound = found
    bounds = {Objective.SCORE: bound}
    limits = Limits(instance.value(Objective.SCORE, chosen))
    for objective in (Objective.CLOSENESS, Objective.QUALITY):
        chosen, bounds[objective] = _improve(instance, limits, objective, chosen, end_s)
        limits = limits.tightened(objective, instance.value(objective, chosen))
    chosen, bounds[Objective.VARIETY] = _vary(instance, limits, chosen, end_s)
    scores = [float(pool.scores[i, j]) for i in chosen for j in chosen if j < i]
    total_s = float(window.total_s([pool.durations_s[i] for i in chosen]))
    steps = certify(instance, resolution, chosen, bounds)
    return Selection(
        chosen=chosen,
        min_pairwise_score=min(scores, default=None),
        total_s=total_s,
        is_optimal=all(s.is_optimal for s in steps),
        proof=proof_sentence(
            steps,
            window,
            total_s,
            num_candidates=len(pool.durations_s),
            num_chosen=len(chosen),
            num_required=len(required),
        ),
        steps=steps,
        required=tuple(sorted(required)),
    )


def select_nested(
    pool: ClipPool,
    *,
    windows: Sequence[LengthWindow],
    threshold: float,
    resolution: SelectionResolution | None = None,
    time_limit_s: float = 60.0,
) -> tuple[Selection, ...] | None:
    """Choose a set for every window, each a superset of the one before.

    The first is optimal; each longer one is optimal given the shorter one, which its proof says.

    Args:
        pool: The candidates.
        windows: Of rising target.
        threshold: Lowest score a chosen pair may have.
        resolution: Steps in which sets are compared; None for the defaults.
        time_limit_s: Wall time for each window, about.

    Returns:
        One selection for each window, or None when HiGHS proves that one of them has no admissible set.

    Raises:
        UsageError: Targets that do not rise, or as ``select_clips``.
        BackendError: As ``select_clips``.
    """
    targets = [w.target_s for w in windows]
    if any(longer <= shorter for shorter, longer in itertools.pairwise(targets)):
        raise UsageError(
            f"targets {', '.join(f'{t:g}' for t in targets)} s",
            where="nested",
            fix="Give them from the shortest to the longest, each once.",
        )
    found: list[Selection] = []
    for window in windows:
        selection = select_clips(
            pool,
            window=window,
            threshold=threshold,
            required=found[-1].chosen if found else (),
            resolution=resolution,
            time_limit_s=time_limit_s,
        )
        if selection is None:
            return None
        found.append(selection)
    return tuple(found)


def _settle_score(instance: Instance, end_s: float) -> tuple[tuple[int, ...], int] | None:
    """A set of the highest lowest pair score that was found, and the highest level not ruled out.

    A bisection over the levels that occur; None when no set is admissible at the lowest.
    """
    apart = ~instance.forbidden & ~np.eye(len(instance.deficits), dtype=np.bool_)
    alone = instance.lone_scores[instance.lone_scores > NOT_ALONE]
    occurring = np.concatenate([instance.scores[apart], alone]) // instance.score_step
    levels = [int(v) for v in np.unique(occurring)]
    if not levels:
        return None
    first = solve(
        instance, Limits(levels[0]), Objective.SCORE, time_limit_s=max(0.0, end_s - time.monotonic())
    )
    if first.chosen is None:
        if first.is_final:
            return None
        raise BackendError(
            "the time was over before a set of clips was found, and it is not proven that there is none",
            where="HiGHS",
            fix="Allow more time, or give fewer clips.",
        )
    chosen = first.chosen
    low, high, ruled_out = levels.index(instance.value(Objective.SCORE, chosen)), len(levels), len(levels)
    while low + 1 < high:
        middle = (low + high) // 2
        trial = solve(instance, Limits(levels[middle]), Objective.SCORE, time_limit_s=_share_s(end_s))
        if trial.chosen is not None:
            chosen = trial.chosen
            low = levels.index(instance.value(Objective.SCORE, chosen))
            continue
        high = middle
        if trial.is_final:
            ruled_out = middle
    return chosen, levels[ruled_out - 1]


def _improve(
    instance: Instance, limits: Limits, objective: Objective, chosen: tuple[int, ...], end_s: float
) -> tuple[tuple[int, ...], int]:
    """The best set under the limits, or the best that was found; and the bound, in steps.

    Only what beats the set at hand is asked for: where nothing does, it is the optimum.
    """
    value = instance.value(objective, chosen)
    if value == 0:
        return chosen, 0
    answer = solve(instance, limits, objective, beat=value, time_limit_s=_share_s(end_s))
    if answer.chosen is not None:
        chosen, value = answer.chosen, instance.value(objective, answer.chosen)
    return chosen, value if answer.is_final else max(0, min(value, answer.bound or 0))


def _vary(
    instance: Instance, limits: Limits, chosen: tuple[int, ...], end_s: float
) -> tuple[tuple[int, ...], int]:
    """The most varied set under the limits, to less than a step, or the best that was found; and the bound.

    A set that is a step better is asked for until there is none.
    """
    step = instance.variety_step
    bound = sum(weight for _, weight in instance.ngrams)
    while True:
        chosen = exchange_for_variety(instance, limits, chosen, end_s=end_s)
        count = instance.num_ngrams(chosen)
        if bound < count + step:
            return chosen, bound
        left_s = max(0.0, end_s - time.monotonic())
        answer = solve(instance, limits, Objective.VARIETY, beat=count, time_limit_s=left_s)
        if answer.is_final and answer.chosen is None:
            return chosen, count + step - 1
        if answer.bound is not None:
            # The solver's bound is on sets that are a step better; those that are not lie below that.
            bound = min(bound, max(answer.bound, count + step - 1))
        if answer.chosen is None:
            return chosen, bound
        chosen = answer.chosen


def _share_s(end_s: float) -> float:
    """Half of the time that is left, so that one hard program does not take it from all that follow."""
    return max(0.0, (end_s - time.monotonic()) / 2)
