"""Candidates -> the best set of complete clips, proven.

The set maximises, in this order: the lowest cosine of any chosen pair, closeness of the whole length to the target,
and quality. A clip long enough to stand alone is only as well proven as by the clip that resembles it most, so that
cosine is its score. Each step is a mixed-integer program that HiGHS solves to proven optimality, so a better set does not
exist under the constraints; the first step is a bisection over the pair scores that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csc_array

from refprep.errors import BackendError

_OPTIMAL, _INFEASIBLE = 0, 2  # scipy's status codes
_SLACK_S = 1e-6  # HiGHS holds its rows to about this


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


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen clips and why there are no better ones.

    Attributes:
        chosen: Candidate indices, ascending.
        min_pairwise_cosine: Lowest cosine among the chosen; None for a single clip.
        total_s: Length of the reference they make.
        is_optimal: HiGHS proved every step optimal.
        proof: One sentence for people.
    """

    chosen: tuple[int, ...]
    min_pairwise_cosine: float | None
    total_s: float
    is_optimal: bool
    proof: str


def select_clips(
    durations_s: Sequence[float],
    cosines: npt.NDArray[np.float64],
    quality: Sequence[float],
    *,
    window: LengthWindow,
    threshold: float,
) -> Selection | None:
    """Choose the best admissible set of clips.

    Args:
        durations_s: Of the n candidates.
        cosines: (n, n) symmetric pair scores of one encoder.
        quality: Of the n candidates; higher is better, any unit.
        window: Admissible lengths.
        threshold: Lowest cosine a chosen pair may have.

    Returns:
        The selection, or None when no set of candidates has an admissible length with all pairs above the threshold.
    """
    n = len(durations_s)
    if n == 0:
        return None
    pair_scores = sorted(
        {float(cosines[i, j]) for i in range(n) for j in range(i) if cosines[i, j] >= threshold}
    )
    # Level k forbids every pair below levels[k], and every clip that has no pair above it.
    levels = [threshold, *pair_scores]
    low, high = 0, len(levels) - 1
    best = _solve(durations_s, cosines, levels[low], window)
    if best is None:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        trial = _solve(durations_s, cosines, levels[middle], window)
        if trial is None:
            high = middle - 1
        else:
            low, best = middle, trial
    level = levels[low]
    closest = _solve(durations_s, cosines, level, window, objective="closeness")
    closest = closest if closest is not None else best
    deviation_s = abs(window.total_s([durations_s[i] for i in closest]) - window.target_s)
    finest = _solve(
        durations_s, cosines, level, window, objective="quality", quality=quality, within_s=deviation_s
    )
    chosen = finest if finest is not None else closest
    pairs = [float(cosines[i, j]) for i in chosen for j in chosen if j < i]
    total_s = window.total_s([durations_s[i] for i in chosen])
    lowest = min(pairs) if pairs else None
    score = (
        f"a lowest pair score above {lowest:.3f}"
        if lowest is not None
        else "fewer joins (one clip is long enough)"
    )
    return Selection(
        chosen=tuple(chosen),
        min_pairwise_cosine=lowest,
        total_s=float(total_s),
        is_optimal=True,
        proof=(
            f"Proven optimal over {n} candidates by integer programming (HiGHS): no admissible set of "
            f"{window.min_s:g}-{window.max_s:g} s has {score}; among the sets with that score none comes closer to "
            f"{window.target_s:g} s than {total_s:.2f} s, and among those none has better quality."
        ),
    )


def _solve(
    durations_s: Sequence[float],
    cosines: npt.NDArray[np.float64],
    level: float,
    window: LengthWindow,
    *,
    objective: str = "any",
    quality: Sequence[float] = (),
    within_s: float = 0.0,
) -> list[int] | None:
    """One mixed-integer program: x_i takes clip i, u is the distance to the target length.

    Returns the chosen indices, or None when HiGHS proves that there are none.
    """
    n = len(durations_s)
    weights = np.asarray(durations_s, dtype=np.float64) + window.gap_s
    # length = sum(weights * x) - gap + tail
    offset_s = window.tail_s - window.gap_s
    conflicts = [(i, j) for i in range(n) for j in range(i) if cosines[i, j] < level]
    rows, cols, data = [], [], []
    for row, (i, j) in enumerate(conflicts):
        rows += [row, row]
        cols += [i, j]
        data += [1.0, 1.0]
    constraints = [
        LinearConstraint(
            _row([*weights, 0.0]), window.min_s - offset_s - _SLACK_S, window.max_s - offset_s + _SLACK_S
        )
    ]
    if conflicts:
        matrix = csc_array(coo_array((data, (rows, cols)), shape=(len(conflicts), n + 1)))
        constraints.append(LinearConstraint(matrix, -np.inf, 1.0))
    aim_s = window.target_s - offset_s
    cost = np.zeros(n + 1)
    if objective == "closeness":
        cost[n] = 1.0
        constraints.append(LinearConstraint(_row([*weights, -1.0]), -np.inf, aim_s))
        constraints.append(LinearConstraint(_row([*weights, 1.0]), aim_s, np.inf))
    elif objective == "quality":
        cost[:n] = -np.asarray(quality, dtype=np.float64)
        constraints.append(
            LinearConstraint(_row([*weights, 0.0]), aim_s - within_s - _SLACK_S, aim_s + within_s + _SLACK_S)
        )
    allowed = np.array([1.0 if _best_witness(cosines, i) >= level else 0.0 for i in range(n)])
    for presolve in (True, False):
        result = milp(
            cost,
            integrality=np.concatenate([np.ones(n), np.zeros(1)]),
            bounds=Bounds(np.zeros(n + 1), np.concatenate([allowed, np.full(1, np.inf)])),
            constraints=constraints,
            options={"presolve": presolve},
        )
        # Where only one length in a thousandth fits, HiGHS's presolve can end in "Solve error"; without it there is an answer.
        if result.status in (_OPTIMAL, _INFEASIBLE):
            break
    if result.status not in (_OPTIMAL, _INFEASIBLE):
        raise BackendError(
            f"the solver stopped without an answer: {result.message}",
            where="HiGHS",
            fix="Give fewer clips, or report this.",
        )
    if result.status == _INFEASIBLE or result.x is None:
        return None
    return [i for i in range(n) if result.x[i] > 0.5]


def _row(values: Sequence[float]) -> npt.NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)[np.newaxis, :]


def _best_witness(cosines: npt.NDArray[np.float64], index: int) -> float:
    """Highest cosine of a clip to another one; 1.0 where there is no other."""
    others = np.delete(cosines[index], index)
    return float(others.max()) if others.size else 1.0
