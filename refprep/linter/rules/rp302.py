"""RP302 thin-identity-margin.

## What it checks
That a clip of the target voice is clearly nearer to the voice's other clips than to any control speaker
(`--control`).

## Why it matters
A cosine alone proves nothing: a different woman scored 0.887 where the same speaker scored 0.967, so a threshold of 0.86
that is often copied accepts the wrong person.

## Example
    clips/ana_02.wav: RP302 warning: the margin is 0.321: score 4.312 to its own voice, 3.991 to the control eva (ge2e, as-norm)

## How to fix
Give more controls of the same sex and language, or decide with a second encoder.

## Fix safety
There is no automatic fix.

## Threshold and its source
1.0 on the as-norm scale, one standard deviation of the cohort, and 0.05 for plain cosines: scores of one voice vary by
about that much between sentences of 3 s and more.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import IdentityCase


def check(case: IdentityCase) -> Iterator[Hit]:
    """A hit when a target clip is hardly nearer to its own voice than to a control."""
    margin = case.identity.margin
    if not case.is_target or margin is None or margin >= case.min_margin:
        return
    nearest = max(case.identity.control_scores.items(), key=lambda item: item[1])
    yield Hit(
        message=(
            f"the margin is {margin:.3f}: {case.identity.unit} {case.identity.centroid_score:.3f} to its own "
            f"voice, {nearest[1]:.3f} to the control {nearest[0]} ({case.identity.judge})"
        ),
        remedy="Give more controls of the same sex and language, or decide with a second encoder (--encoder).",
        evidence={"margin": round(margin, 4), "nearest_control": nearest[0]},
    )


RULE = Rule(
    code="RP302",
    name="thin-identity-margin",
    summary="a control speaker sounds almost as much like the voice",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=IdentityCase,
    check=check,
    page=__doc__,
)
