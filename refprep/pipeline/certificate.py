"""What was proven of a selection: a step for each objective, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refprep.pipeline.select_instance import (
    SCORE_UNITS,
    Instance,
    LengthWindow,
    Objective,
    SelectionResolution,
)

_UNITS = {
    Objective.SCORE: "score",
    Objective.CLOSENESS: "s",
    Objective.QUALITY: "point-seconds",
    Objective.VARIETY: "n-grams",
}


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """What was proven of one objective, among the sets that are equal in those before it.

    Attributes:
        objective: ``lowest_pair_score`` or ``variety``, where more is better; ``closeness`` (distance to the target) or
            ``quality`` (deficit), where less is.
        measured: Of the chosen set, in ``unit``.
        unit: ``score``, ``s``, ``point-seconds`` or ``n-grams``.
        resolution: Length of a step, in ``unit``: what differs by less may count as equal.
        bound: In ``unit``. Where more is better, no set reaches it; where less is, no set lies below it.
        is_optimal: No set is in a better step than the chosen one.
    """

    objective: str
    measured: float
    unit: str
    resolution: float
    bound: float
    is_optimal: bool

    @property
    def gap(self) -> float:
        """Distance of bound and set, in ``unit``: at most a step where it is optimal."""
        return round(abs(self.bound - self.measured), 4)


def certify(
    instance: Instance,
    resolution: SelectionResolution,
    chosen: Sequence[int],
    bounds: Mapping[Objective, int],
) -> tuple[SelectionStep, ...]:
    """The certificate of a set, one step for each objective, in order.

    Args:
        instance: What there was to choose from.
        resolution: The steps it was compared in.
        chosen: The set.
        bounds: Objective -> no set is better than this, in what ``Instance.value`` gives.
    """
    parts = (
        (Objective.SCORE, instance.score(chosen) / SCORE_UNITS, resolution.score),
        (Objective.CLOSENESS, instance.deviation_ms(chosen) / 1000, resolution.closeness_s),
        (Objective.QUALITY, instance.deficit(chosen) / 1000, resolution.quality),
        (Objective.VARIETY, float(instance.num_ngrams(chosen)), float(resolution.ngrams)),
    )
    steps = []
    for objective, measured, length in parts:
        bound, value = bounds[objective], instance.value(objective, chosen)
        is_optimal = bound == value
        match objective:
            case Objective.SCORE:
                edge = (bound + 1) * length
            case Objective.VARIETY:
                edge = bound + 1.0
                is_optimal = bound < value + length
            case _:
                edge = bound * length
        steps.append(
            SelectionStep(
                objective=objective.value,
                measured=measured,
                unit=_UNITS[objective],
                resolution=length,
                bound=round(edge, 4),
                is_optimal=is_optimal,
            )
        )
    return tuple(steps)


def proof_sentence(
    steps: Sequence[SelectionStep],
    window: LengthWindow,
    total_s: float,
    *,
    num_candidates: int,
    num_chosen: int,
    num_required: int,
) -> str:
    """The certificate as a sentence.

    Args:
        steps: The certificate.
        window: Admissible lengths.
        total_s: Length of the reference.
        num_candidates: Clips there were.
        num_chosen: Clips in the set.
        num_required: Clips that had to be in it.
    """
    lone = " of one clip with the others on average, 1 where there are none" if num_chosen == 1 else ""
    proven = [_proven(step, window, total_s, lone) for step in steps if step.is_optimal]
    given = f" with the {num_required} clips of the shorter reference" if num_required else ""
    claim = f"no admissible set of {window.min_s:g}-{window.max_s:g} s{given} " + (
        "; among those equal so far none ".join(proven)
    )
    setting = f"over {num_candidates} candidates by integer programming (HiGHS)"
    if len(proven) == len(steps):
        return f"Proven optimal {setting}: {claim}."
    missing = ", ".join(
        f"{s.objective.replace('_', ' ')} ({s.measured:g} {s.unit} found, at most {s.gap:g} better are possible)"
        for s in steps
        if not s.is_optimal
    )
    known = f"; proven is that {claim}" if proven else ""
    return f"Not proven optimal: the time limit ended the search {setting} for {missing}{known}."


def _proven(step: SelectionStep, window: LengthWindow, total_s: float, lone: str) -> str:
    """What no set does that is equal in the objectives before."""
    match step.objective:
        case Objective.SCORE:
            return f"has a lowest pair score of {step.bound:g} or more (it is {step.measured:.3f} here{lone})"
        case Objective.CLOSENESS:
            nearer = (
                f"comes within {step.bound:g} s of" if step.bound else f"is {step.resolution:g} s closer to"
            )
            return f"{nearer} {window.target_s:g} s ({total_s:.2f} s)"
        case Objective.QUALITY:
            less = f"below {step.bound:g}" if step.bound else f"{step.resolution:g} lower in"
            return f"has a quality deficit {less} {step.unit} ({step.measured:g})"
        case _:
            return f"says {step.bound:g} different n-grams ({step.measured:g})"
