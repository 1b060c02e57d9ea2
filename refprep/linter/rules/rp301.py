"""RP301 mixed-speakers.

## What it checks
That every window of the clip (a few seconds of speech) points in the direction of the target voice. The mean direction
is taken over the voice's other clips.

## Why it matters
A second person inside one clip is cloned along; the mean of the whole clip hides a short one.

## Example
    clips/ana_07.wav:4.80s: RP301 error: a stretch of it sounds like somebody else: score -0.612 to the voice, 0.800 needed (ge2e, as-norm)

## How to fix
Use a clip in which one person speaks, or cut this one with `refprep split`.

## Fix safety
There is no automatic fix.

## Threshold and its source
The window threshold of the calibration in use, else the encoder's own; its module states the clips of one and of two
speakers it was measured on.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import IdentityCase


def check(case: IdentityCase) -> Iterator[Hit]:
    """A hit when a window of a target clip is far from the target's mean direction."""
    identity = case.identity
    if not case.is_target or identity.min_window_score is None or case.window_threshold is None:
        return
    if identity.min_window_score < case.window_threshold:
        yield Hit(
            message=(
                f"a stretch of it sounds like somebody else: {identity.unit} {identity.min_window_score:.3f} to the voice, "
                f"{case.window_threshold:.3f} needed ({identity.judge})"
            ),
            remedy="Listen there; use a clip in which one person speaks.",
            span=identity.worst_window,
            evidence={
                "min_window_score": round(identity.min_window_score, 4),
                "threshold": case.window_threshold,
            },
        )


RULE = Rule(
    code="RP301",
    name="mixed-speakers",
    summary="a stretch of the clip sounds like somebody else",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=IdentityCase,
    check=check,
    page=__doc__,
)
