"""RP902 unexplained-ignore.

## What it checks
That every `ignore` of a manifest row names a rule and says why.

## Why it matters
Whoever reads the manifest next year has to know whether the finding was looked at. An ignore of a misspelt code ignores
nothing.

## Example
    clips/ana_03.wav: RP902 warning: the ignore of RP205 gives no reason

## How to fix
Write `"ignore": {"RP205": "room tone is wanted"}`; in a CSV the cell `RP205: room tone is wanted`.

## Fix safety
There is no automatic fix: only you know the reason.

## Threshold and its source
None.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.waivers import WaiverUse


def check(use: WaiverUse) -> Iterator[Hit]:
    """A hit for each ignore without a reason, or of no rule there is."""
    for waiver in use.malformed:
        what = "names no rule" if waiver.reason else "gives no reason"
        yield Hit(
            message=f"the ignore of {waiver.code} {what}",
            remedy='Write "ignore": {"RP205": "why"}; `refprep explain --all` lists the rules.',
            evidence={"ignore": waiver.code, "reason": waiver.reason},
        )


RULE = Rule(
    code="RP902",
    name="unexplained-ignore",
    summary="an ignore in the manifest gives no reason, or names no rule",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=WaiverUse,
    check=check,
    page=__doc__,
)
