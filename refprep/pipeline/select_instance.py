"""A selection in whole numbers: what there is to choose from, and what a set of clips is worth.

Lengths are in ms, deficits in points times ms, objectives in steps of their resolution. Two sets that differ in an
objective are therefore at least 1 apart, whatever the tolerance of a solver.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from refprep.errors import UsageError

Ints = npt.NDArray[np.int64]
Pairs = npt.NDArray[np.bool_]

NOT_ALONE = -(1 << 62)  # below every score
SCORE_UNITS = 10_000  # scores count in whole 1e-4
_ROUNDING_MS = 1e-6  # 6.1 s are 6099.999999999999 ms


@dataclass(frozen=True, slots=True)
class LengthWindow:
    """How long a reference may be, seconds, and what lies between and after its clips."""

    min_s: float
    max_s: float
    target_s: float
    gap_s: float
    tail_s: float

    def total_s(self, durations_s: Sequence[float]) -> float:
        """Length of a reference of these clips, gaps and tail included."""
        return sum(durations_s) + self.gap_s * max(0, len(durations_s) - 1) + self.tail_s


@dataclass(frozen=True, slots=True, eq=False)
class ClipPool:
    """The n candidates of a selection.

    Attributes:
        durations_s: Of each. They count in whole ms: rounded down against a window's lower end and up against its upper
            one, so that the real length is inside.
        scores: (n, n) symmetric pair scores of one encoder; the diagonal is not read, NaN is below every threshold.
        deficits: Whole points of each, less is better; they count for every second of the clip.
        ngrams: What each says, as distinct n-grams.
        duplicates: Pairs of which at most one may be in.
    """

    durations_s: Sequence[float]
    scores: npt.NDArray[np.float64]
    deficits: Sequence[int]
    ngrams: Sequence[Collection[str]]
    duplicates: Collection[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class SelectionResolution:
    """Differences that count, one step each.

    Attributes:
        score: Of a pair, in whole 1e-4.
        closeness_s: In whole ms; the default is about a word.
        quality: Point-seconds; ten are one warning on one second of the reference.
        ngrams: Distinct n-grams. 12 s of English hold 86 to 119 letter pairs (90 % of 84 sets of real clips); how the same
            words are written moves a clip by up to 7 (official text against a recogniser's, 90 % of 95 clips), numbers
            in digits by 5.5 (median of 32).
    """

    score: float = 0.01
    closeness_s: float = 0.25
    quality: float = 10.0
    ngrams: int = 10


class Objective(enum.StrEnum):
    """What is optimised, in this order."""

    SCORE = "lowest_pair_score"
    CLOSENESS = "closeness"
    QUALITY = "quality"
    VARIETY = "variety"


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """What there is to choose from, in whole numbers.

    Attributes:
        floor_ms, near_ms, ceil_ms: (n,) clip and one gap, rounded down, to the nearest and up.
        low_ms, high_ms, aim_ms: Of the sum over the chosen: the last gap is taken off, the tail counted.
        scores: (n, n) of a pair, in 1e-4; symmetric.
        lone_scores: (n,) of a set of this clip alone; ``NOT_ALONE`` where it may not stand alone.
        forbidden: (n, n) pairs that are never both in; symmetric, no clip with itself.
        deficits: (n,) points times ms.
        ngrams: (clips that say them, how many there are of them), each set of clips once.
        required: (n,) clips that must be in.
        score_step, closeness_step_ms, quality_step, variety_step: Resolutions.
    """

    floor_ms: Ints
    near_ms: Ints
    ceil_ms: Ints
    low_ms: int
    high_ms: int
    aim_ms: int
    scores: Ints
    lone_scores: Ints
    forbidden: Pairs
    deficits: Ints
    ngrams: tuple[tuple[tuple[int, ...], int], ...]
    required: Pairs
    score_step: int
    closeness_step_ms: int
    quality_step: int
    variety_step: int

    def deviation_ms(self, chosen: Sequence[int]) -> int:
        """Distance of a set's length to the target."""
        return abs(int(self.near_ms[list(chosen)].sum()) - self.aim_ms)

    def deficit(self, chosen: Sequence[int]) -> int:
        """Points times ms of a set."""
        return int(self.deficits[list(chosen)].sum())

    def num_ngrams(self, chosen: Sequence[int]) -> int:
        """Distinct n-grams of a set."""
        inside = set(chosen)
        return sum(weight for clips, weight in self.ngrams if not inside.isdisjoint(clips))

    def score(self, chosen: Sequence[int]) -> int:
        """The lowest pair score of a set; the lone score where there is one clip."""
        if len(chosen) == 1:
            return int(self.lone_scores[chosen[0]])
        among = self.scores[np.ix_(chosen, chosen)]
        return int(among[np.triu_indices(len(chosen), 1)].min())

    def value(self, objective: Objective, chosen: Sequence[int]) -> int:
        """A set's objective in steps; variety, the last one, in n-grams."""
        match objective:
            case Objective.SCORE:
                return self.score(chosen) // self.score_step
            case Objective.CLOSENESS:
                return self.deviation_ms(chosen) // self.closeness_step_ms
            case Objective.QUALITY:
                return self.deficit(chosen) // self.quality_step
            case Objective.VARIETY:
                return self.num_ngrams(chosen)

    def admits(self, chosen: Sequence[int]) -> bool:
        """Length, forbidden pairs and required clips are as they must be."""
        inside = list(chosen)
        return bool(
            inside
            and self.floor_ms[inside].sum() >= self.low_ms
            and self.ceil_ms[inside].sum() <= self.high_ms
            and not self.forbidden[np.ix_(inside, inside)].any()
            and set(np.flatnonzero(self.required)) <= set(inside)
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """How good a set must be, in steps: what the steps before have settled.

    Attributes:
        level: Lowest pair score at least.
        deviation: Distance to the target at most; None for any.
        deficit: Quality deficit at most; None for any.
    """

    level: int
    deviation: int | None = None
    deficit: int | None = None

    def tightened(self, objective: Objective, value: int) -> Limits:
        """With an objective settled; variety is the last one and limits nothing."""
        if objective is Objective.CLOSENESS:
            return replace(self, deviation=value)
        return replace(self, deficit=value) if objective is Objective.QUALITY else self


def make_instance(
    pool: ClipPool,
    window: LengthWindow,
    threshold: float,
    required: Collection[int],
    resolution: SelectionResolution,
) -> Instance:
    """The task in whole numbers.

    Raises:
        UsageError: A resolution finer than what is counted in.
    """
    score_step = round(resolution.score * SCORE_UNITS)
    closeness_step_ms, quality_step = round(resolution.closeness_s * 1000), round(resolution.quality * 1000)
    if min(score_step, closeness_step_ms, quality_step, resolution.ngrams) < 1:
        raise UsageError(
            f"a step of nothing in {resolution}",
            where="resolution",
            fix="Give 0.0001 of a score, 1 ms, 0.001 point-seconds and one n-gram at least.",
        )
    num = len(pool.durations_s)
    same = np.eye(num, dtype=np.bool_)
    copies = same.copy()
    for i, j in pool.duplicates:
        copies[i, j] = copies[j, i] = True
    scores = np.rint(np.nan_to_num(pool.scores, nan=-1e6) * SCORE_UNITS).astype(np.int64)
    # The threshold holds for the score itself, not for the rounded one.
    confirmed = (pool.scores >= threshold) & ~copies
    # The best of them instead of the mean would make every clip alone beat every set that it is in.
    number = confirmed.sum(axis=1)
    mean = np.where(confirmed, scores, 0).sum(axis=1) / np.maximum(number, 1)
    lone_scores = np.where(number > 0, np.rint(mean).astype(np.int64), NOT_ALONE)
    lone_scores[copies.all(axis=1)] = SCORE_UNITS
    must = np.zeros(num, dtype=np.bool_)
    must[list(required)] = True
    gap_ms = round(window.gap_s * 1000)
    offset_ms = round(window.tail_s * 1000) - gap_ms  # length = sum(clip + gap) - gap + tail
    exact_ms = np.asarray(pool.durations_s, dtype=np.float64) * 1000
    near_ms = np.rint(exact_ms).astype(np.int64)
    return Instance(
        floor_ms=np.floor(exact_ms + _ROUNDING_MS).astype(np.int64) + gap_ms,
        near_ms=near_ms + gap_ms,
        ceil_ms=np.ceil(exact_ms - _ROUNDING_MS).astype(np.int64) + gap_ms,
        low_ms=math.ceil(window.min_s * 1000 - _ROUNDING_MS) - offset_ms,
        high_ms=math.floor(window.max_s * 1000 + _ROUNDING_MS) - offset_ms,
        aim_ms=round(window.target_s * 1000) - offset_ms,
        scores=scores,
        lone_scores=lone_scores,
        forbidden=~confirmed & ~same,
        deficits=np.asarray(pool.deficits, dtype=np.int64) * near_ms,
        ngrams=_ngram_groups(pool.ngrams),
        required=must,
        score_step=score_step,
        closeness_step_ms=closeness_step_ms,
        quality_step=quality_step,
        variety_step=resolution.ngrams,
    )


def _ngram_groups(ngrams: Sequence[Collection[str]]) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Each set of clips that says some n-grams, and how many those are; in a fixed order."""
    said: dict[str, list[int]] = {}
    for index, grams in enumerate(ngrams):
        for gram in set(grams):
            said.setdefault(gram, []).append(index)
    groups: dict[tuple[int, ...], int] = {}
    for clips in sorted(tuple(c) for c in said.values()):
        groups[clips] = groups.get(clips, 0) + 1
    return tuple(groups.items())
