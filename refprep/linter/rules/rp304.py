"""RP304 another-voice.

## What it checks
That the clip belongs to the target voice: the largest group of clips that agree with each other, or the group of
`--anchor`.

## Why it matters
The identity of the reference decides whose voice comes out; one clip of somebody else blends two people.

## Example
    intruder.wav: RP304 error: another voice: mean score -1.073 to its clips, lowest -1.498, 2.800 needed (ge2e, as-norm)

## How to fix
Take the clip out, or name a clip of the right voice with --anchor.

## Fix safety
There is no automatic fix.

## Threshold and its source
The threshold of the calibration in use (else the encoder's own) on the mean score of two groups, average linkage. A second
encoder groups the clips of the first one's target voice by its own scores; what falls out of the largest group is refused.
`refprep calibrate` measures thresholds; the encoder's module states what those that come along were measured on.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import IdentityCase


def check(case: IdentityCase) -> Iterator[Hit]:
    """A hit for a clip that fell into another group."""
    if case.is_target:
        return
    mean, lowest = case.identity.mean_pairwise_score, case.identity.min_pairwise_score
    numbers = ""
    if mean is not None and lowest is not None:
        numbers = f": mean {case.identity.unit} {mean:.3f} to its clips, lowest {lowest:.3f}, {case.threshold:.3f} needed"
    yield Hit(
        message=f"another voice{numbers} ({case.identity.judge})",
        remedy="Take the clip out, or name a clip of the right voice with --anchor.",
        evidence={"mean_pairwise_score": mean, "min_pairwise_score": lowest, "threshold": case.threshold},
    )


RULE = Rule(
    code="RP304",
    name="another-voice",
    summary="the clip is another person",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=IdentityCase,
    check=check,
    page=__doc__,
)
