"""The mixed-integer programs behind the selection: sets of clips as 0/1 variables, solved by HiGHS.

Every number in a program is whole: lengths in ms, deficits in points times ms, objectives in steps of their resolution.
Two sets of different objective are therefore at least 1 apart, far beyond the solver's tolerance of 1e-6, and what it
returns is checked again in integers.

| variable | meaning |
| --- | --- |
| x[i] | clip i is in the set |
| y[g] | n-gram group g is said; at most the number of its chosen clips |
| z | closeness or quality, in steps |
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from refprep.errors import BackendError
from refprep.pipeline.select_instance import Instance, Ints, Limits, Objective, Pairs

_OPTIMAL, _LIMIT, _INFEASIBLE = 0, 1, 2  # scipy's status codes
_TOLERANCE = 1e-6  # HiGHS's own, for integrality and bounds
_MOST_REPAIRS = 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program gave.

    Attributes:
        chosen: Clips, ascending; None where there is no set, or none was found.
        bound: No set is better than this: steps of closeness and quality, n-grams; None where nothing is known.
        is_final: The set is optimal (of variety: within less than a step), or it is proven that there is none.
    """

    chosen: tuple[int, ...] | None
    bound: int | None
    is_final: bool


def solve(
    instance: Instance, limits: Limits, objective: Objective, *, beat: int | None = None, time_limit_s: float
) -> Answer:
    """Find the best set under the limits.

    Args:
        instance: What there is to choose from.
        limits: How good the set must be in the objectives that come before.
        objective: ``SCORE`` asks for any set under the limits.
        beat: Only sets better than so many steps, or by a step of n-grams more than so many, count; None for all.
        time_limit_s: Wall time.

    Raises:
        BackendError: HiGHS fails, with its presolve and without.
    """
    compatible = compatible_pairs(instance, limits)
    kept = np.flatnonzero(compatible.diagonal())
    if kept.size == 0 or not compatible.diagonal()[instance.required].all():
        return Answer(None, None, is_final=True)
    program = _Program(instance, limits, objective, kept, compatible[np.ix_(kept, kept)], beat)
    for _ in range(_MOST_REPAIRS):
        answer, chosen = program.run(time_limit_s)
        # To the solver a clip at 0.999999 is in, and 30 s off by a hundredth of a ms are 30 s.
        if chosen is None or (holds(instance, limits, chosen) and _beats(instance, objective, beat, chosen)):
            return answer
        program.exclude(chosen)
    raise BackendError("its sets break the rules they were made by", where="HiGHS", fix="Report this.")


def holds(instance: Instance, limits: Limits, chosen: tuple[int, ...]) -> bool:
    """A set is under the limits, in exact arithmetic."""
    return (
        instance.admits(chosen)
        and instance.value(Objective.SCORE, chosen) >= limits.level
        and (limits.deviation is None or instance.value(Objective.CLOSENESS, chosen) <= limits.deviation)
        and (limits.deficit is None or instance.value(Objective.QUALITY, chosen) <= limits.deficit)
    )


def _beats(instance: Instance, objective: Objective, beat: int | None, chosen: tuple[int, ...]) -> bool:
    if beat is None:
        return True
    value = instance.value(objective, chosen)
    return value >= beat + instance.variety_step if objective is Objective.VARIETY else value < beat


def near_window(instance: Instance, limits: Limits) -> tuple[int, int]:
    """Least and greatest sum of ``near_ms`` under the limit of closeness."""
    if limits.deviation is None:
        return -(1 << 40), 1 << 40
    slack_ms = (limits.deviation + 1) * instance.closeness_step_ms - 1
    return instance.aim_ms - slack_ms, instance.aim_ms + slack_ms


def compatible_pairs(instance: Instance, limits: Limits) -> Pairs:
    """Clips and pairs that some set under the limits could hold; a clip that none could has no diagonal either.

    A clip, and a pair, falls out when everything compatible with it does not fill the window; that is repeated until
    nothing falls out any more. At high levels little is left for the solver to do.
    """
    pairs = (instance.scores // instance.score_step >= limits.level) & ~instance.forbidden
    np.fill_diagonal(pairs, True)
    with_required = np.asarray(pairs[:, instance.required].all(axis=1))
    pairs &= with_required[:, np.newaxis] & with_required
    low_near, high_near = near_window(instance, limits)
    lone = (
        (instance.lone_scores // instance.score_step >= limits.level)
        & (instance.floor_ms >= instance.low_ms)
        & (instance.near_ms >= low_near)
    )
    fits = (instance.ceil_ms <= instance.high_ms) & (instance.near_ms <= high_near)
    pairs &= fits[:, np.newaxis] & fits
    apart = ~np.eye(len(fits), dtype=np.bool_)
    too_long = (instance.ceil_ms[:, np.newaxis] + instance.ceil_ms > instance.high_ms) | (
        instance.near_ms[:, np.newaxis] + instance.near_ms > high_near
    )
    pairs &= ~(too_long & apart)
    while True:
        before = int(pairs.sum())
        held = pairs.astype(np.float64)
        # [i, j]: length of everything compatible with both, the two among them; [i, i]: with one.
        reach = ((held * instance.floor_ms) @ held >= instance.low_ms) & (
            (held * instance.near_ms) @ held >= low_near
        )
        pairs &= reach
        others = (pairs & apart).any(axis=1)
        alive = pairs.diagonal() & (lone | others)
        pairs &= alive[:, np.newaxis] & alive
        if int(pairs.sum()) == before:
            return pairs


class _Program:
    """Rows and columns of one program; clips that cannot be in are left out."""

    def __init__(
        self,
        instance: Instance,
        limits: Limits,
        objective: Objective,
        kept: npt.NDArray[np.intp],
        compatible: Pairs,
        beat: int | None,
    ) -> None:
        self._kept, self._objective = kept, objective
        num = len(kept)
        must = instance.required[kept]
        self._groups: list[tuple[tuple[int, ...], int]] = []
        self._said = 0
        if objective is Objective.VARIETY:
            self._groups, self._said = _open_groups(instance, kept, must)
        self._z = num + len(self._groups)
        self._rows: list[tuple[dict[int, float], float, float]] = []
        self._lower = np.concatenate([must.astype(np.float64), np.zeros(len(self._groups) + 1)])
        self._upper = np.ones(self._z + 1)
        self._cost = np.zeros(self._z + 1)
        self._integrality = np.ones(self._z + 1)
        self._integrality[num : self._z] = 0.0  # y is whole where x is
        self._rel_gap = 0.0

        self._clip_row(instance.floor_ms, instance.low_ms, np.inf)
        self._clip_row(instance.ceil_ms, -np.inf, instance.high_ms)
        if limits.deviation is not None:
            self._clip_row(instance.near_ms, *near_window(instance, limits))
        if limits.deficit is not None:
            self._clip_row(instance.deficits, -np.inf, (limits.deficit + 1) * instance.quality_step - 1)
        for clique in clique_cover(~compatible):
            self._rows.append((dict.fromkeys(clique, 1.0), -np.inf, 1.0))
        self._set_objective(instance, beat)

    def _set_objective(self, instance: Instance, beat: int | None) -> None:
        """Cost, the rows that tie it to the clips, and what there is to beat."""
        self._upper[self._z] = 0.0
        if self._objective is Objective.VARIETY:
            self._set_variety(instance.variety_step, beat)
        elif self._objective is not Objective.SCORE:
            self._cost[self._z] = 1.0
            self._upper[self._z] = float(1 << 30) if beat is None else beat - 1.0
            if self._objective is Objective.QUALITY:
                step = instance.quality_step
                self._clip_row(instance.deficits, -np.inf, step - 1, z=-step)
            else:
                step = instance.closeness_step_ms
                self._clip_row(instance.near_ms, -np.inf, instance.aim_ms + step - 1, z=-step)
                self._clip_row(instance.near_ms, instance.aim_ms - step + 1, np.inf, z=step)

    def _set_variety(self, step: int, beat: int | None) -> None:
        """Most n-grams, to less than a step: nothing comes after it that would need sets to be equal."""
        for column, (members, weight) in enumerate(self._groups, start=len(self._kept)):
            if len(members) == 1:  # the clip itself is the variable
                self._cost[members[0]] -= weight
                self._upper[column] = 0.0
                continue
            self._cost[column] = -weight
            self._rows.append(({column: 1.0, **dict.fromkeys(members, -1.0)}, -np.inf, 0.0))
        most = sum(weight for _, weight in self._groups)
        least = 0 if beat is None else beat + step - self._said
        if least > most:
            self._lower[self._z] = 1.0  # above its upper bound: nothing can beat it
        cover = {k: -float(c) for k, c in enumerate(self._cost) if c}
        self._rows.append((cover, float(least), np.inf))
        self._rel_gap = (step - 1) / max(1, most)

    def _clip_row(self, values: Ints, lower: float, upper: float, *, z: int = 0) -> None:
        row = {k: float(values[i]) for k, i in enumerate(self._kept) if values[i]}
        self._rows.append((row | ({self._z: float(z)} if z else {}), lower, upper))

    def exclude(self, chosen: tuple[int, ...]) -> None:
        """Rule out one set."""
        inside = set(chosen)
        row = {k: 1.0 if int(i) in inside else -1.0 for k, i in enumerate(self._kept)}
        self._rows.append((row, -np.inf, len(inside) - 1.0))

    def run(self, time_limit_s: float) -> tuple[Answer, tuple[int, ...] | None]:
        """The answer, and the set it holds."""
        if np.any(self._lower > self._upper):
            return Answer(None, None, is_final=True), None
        num_columns = self._z + 1
        data = [v for row, _, _ in self._rows for v in row.values()]
        columns = [k for row, _, _ in self._rows for k in row]
        starts = np.cumsum([0, *(len(row) for row, _, _ in self._rows)])
        matrix = csr_array((data, columns, starts), shape=(len(self._rows), num_columns))
        constraint = LinearConstraint(
            matrix, [low for _, low, _ in self._rows], [up for _, _, up in self._rows]
        )
        for presolve in (True, False):
            result = milp(
                self._cost,
                integrality=self._integrality,
                bounds=Bounds(self._lower, self._upper),
                constraints=constraint,
                options={
                    "presolve": presolve,
                    "time_limit": max(time_limit_s, 0.0),
                    "mip_rel_gap": self._rel_gap,
                },
            )
            # Where only one length in a thousandth fits, HiGHS's presolve can end in "Solve error"; without it there is an answer.
            if result.status in (_OPTIMAL, _LIMIT, _INFEASIBLE):
                break
        else:
            raise BackendError(
                f"the solver stopped without an answer: {result.message}",
                where="HiGHS",
                fix="Give fewer clips, or report this.",
            )
        if result.status == _INFEASIBLE:
            return Answer(None, None, is_final=True), None
        chosen = None
        if result.x is not None:
            chosen = tuple(int(i) for k, i in enumerate(self._kept) if result.x[k] > 0.5)
        return Answer(chosen, self._bound(result.mip_dual_bound), result.status == _OPTIMAL), chosen

    def _bound(self, dual: float | None) -> int | None:
        """The dual bound in whole numbers, as all objectives are."""
        if dual is None or not math.isfinite(dual):
            return None
        if self._objective is Objective.VARIETY:
            return math.floor(-dual + _TOLERANCE) + self._said
        return math.ceil(dual - _TOLERANCE)


def _open_groups(
    instance: Instance, kept: npt.NDArray[np.intp], must: Pairs
) -> tuple[list[tuple[tuple[int, ...], int]], int]:
    """N-gram groups that the choice can still change, by position in ``kept``; and the n-grams that are said anyway.

    What no clip left says is gone, what all of them or a required one say is certain, and groups that have become
    equal are one.
    """
    place = {int(i): k for k, i in enumerate(kept)}
    certain = {k for k in range(len(kept)) if must[k]}
    merged: dict[tuple[int, ...], int] = {}
    said = 0
    for clips, weight in instance.ngrams:
        members = tuple(place[i] for i in clips if i in place)
        if len(members) == len(kept) or not certain.isdisjoint(members):
            said += weight
        elif members:
            merged[members] = merged.get(members, 0) + weight
    return list(merged.items()), said


def clique_cover(conflicts: Pairs) -> list[tuple[int, ...]]:
    """Cover the pairs of a conflict graph with cliques, each found greedily.

    One row for a clique says more than a row for each of its pairs: with all clips at 1/2 every pair row holds.

    Args:
        conflicts: (n, n) symmetric; the diagonal is not read.

    Returns:
        Cliques of two clips and more; every conflicting pair is in one of them.
    """
    edges = conflicts.copy()
    np.fill_diagonal(edges, False)
    open_edges = edges.copy()
    cliques: list[tuple[int, ...]] = []
    for first in np.argsort(-edges.sum(axis=1), kind="stable"):
        while open_edges[first].any():
            clique = [int(first)]
            candidates = edges[first].copy()
            fresh = open_edges[first].astype(np.int64)  # pairs that a candidate would cover
            while candidates.any():
                best = int(np.argmax(np.where(candidates, fresh, -1)))
                clique.append(best)
                candidates &= edges[best]
                fresh += open_edges[best]
            open_edges[np.ix_(clique, clique)] = False
            cliques.append(tuple(sorted(clique)))
    return cliques
