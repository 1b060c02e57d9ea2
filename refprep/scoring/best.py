"""Several outputs of one text -> the one to keep, by a stated order."""

from __future__ import annotations

import math
from collections.abc import Sequence

from refprep.errors import UsageError
from refprep.linter.rule import Severity
from refprep.scoring.output import ScoredOutput

ORDER = (
    "passes",
    "fewest errors",
    "lowest error rate",
    "fewest warnings",
    "highest lowest voice window",
    "pace nearest to the reference's",
    "first given",
)
"""What decides, in this order: the next is asked only where all before are equal."""


def rank(output: ScoredOutput) -> tuple[float, ...]:
    """Sort key of an output; the smallest is the best. One number for each of ``ORDER`` but the last."""
    score = output.score
    errors = sum(f.severity is Severity.ERROR for f in output.findings)
    lowest = score.lowest_window
    return (
        float(not output.passed),
        float(errors),
        # Two renderings whose rates differ by less than a word in a hundred say the same.
        round(score.text.error_rate, 2) if score.text is not None else 0.0,
        float(sum(f.severity is Severity.WARNING for f in output.findings)),
        -round(lowest.score - lowest.threshold, 2) if lowest is not None else math.inf,
        round(abs(math.log(score.pace_ratio)), 2) if score.pace_ratio else math.inf,
    )


def best_of(outputs: Sequence[ScoredOutput]) -> int:
    """Index of the output to keep; of equals the first. It may not pass: ask ``passed``.

    Raises:
        UsageError: There is none.
    """
    if not outputs:
        raise UsageError("no outputs", where="best", fix="Give one output at least.")
    return min(range(len(outputs)), key=lambda k: (rank(outputs[k]), k))


def reason(outputs: Sequence[ScoredOutput], index: int) -> str:
    """What of ``ORDER`` put an output before all others; empty for the only one."""
    others = [rank(o) for k, o in enumerate(outputs) if k != index]
    own = rank(outputs[index])
    if not others:
        return ""
    at = max(
        next((k for k, (a, b) in enumerate(zip(own, r, strict=True)) if a != b), len(own)) for r in others
    )
    return ORDER[at]
