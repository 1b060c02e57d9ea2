"""RP611 undecided-output.

## What it checks
That text and speech agree enough to be sure, where no fault was found.

## Why it matters
Not finding a fault is no proof where the recogniser does not understand the speech.

## Example
    out.wav: RP611 warning: undecided: the recogniser does not understand the audio (mean probability 0.21)

## How to fix
Listen, or decide with a larger recogniser (`--asr`).

## Fix safety
There is no automatic fix.

## Threshold and its source
Those of RP107. Three of 97 clips that say their text are undecided: two in loud noise, one of rare words.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import OutputScore, Verdict


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit where the witnesses found no fault and no agreement."""
    text = score.text
    if text is None or text.faults or text.check.verdict is not Verdict.UNDECIDED:
        return
    yield Hit(
        message=f"undecided: {text.check.reason}",
        remedy="Listen, or decide with a larger recogniser (--asr).",
        evidence={"error_rate": round(text.error_rate, 4)},
    )


RULE = Rule(
    code="RP611",
    name="undecided-output",
    summary="the models cannot tell whether the output says its text",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
