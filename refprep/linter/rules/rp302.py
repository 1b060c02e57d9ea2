"""RP302 thin-identity-margin.

## What it checks
That a clip of the target voice is clearly nearer to the voice's other clips than to any control speaker
(`--control`).

## Why it matters
A cosine alone proves nothing: a different woman scored 0.887 where the same speaker scored 0.967, so a threshold of 0.86
that is often copied accepts the wrong person.

## Example
    clips/ana_02.wav: RP302 warning: the margin is 0.021: cosine 0.861 to its own voice, 0.840 to the control eva (ge2e)

## How to fix
Give more controls of the same sex and language, or decide with a second encoder.

## Fix safety
There is no automatic fix.

## Threshold and its source
0.05: within the labelled pairs of clips of 3 s and more, cosines of one voice vary by about that much between
sentences.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import IdentityCase

MIN_MARGIN = 0.05


def check(case: IdentityCase) -> Iterator[Hit]:
    """A hit when a target clip is hardly nearer to its own voice than to a control."""
    margin = case.identity.margin
    if not case.is_target or margin is None or margin >= MIN_MARGIN:
        return
    nearest = max(case.identity.control_cosines.items(), key=lambda item: item[1])
    yield Hit(
        message=(
            f"the margin is {margin:.3f}: cosine {case.identity.centroid_cosine:.3f} to its own voice, "
            f"{nearest[1]:.3f} to the control {nearest[0]} ({case.identity.model})"
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
