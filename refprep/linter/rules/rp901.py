"""RP901 stale-ignore.

## What it checks
That every `ignore` of a manifest row takes out a finding. Rules that did not run are not asked about.

## Why it matters
An ignore that outlives its reason hides the next fault of that kind.

## Example
    clips/ana_03.wav: RP901 warning: the ignore of RP205 ("room tone is wanted") takes out nothing

## How to fix
Take it out of the manifest.

## Fix safety
There is no automatic fix: manifests are yours.

## Threshold and its source
None.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.waivers import WaiverUse


def check(use: WaiverUse) -> Iterator[Hit]:
    """A hit for each ignore of a rule that ran and found nothing."""
    for waiver in use.stale:
        reason = f' ("{waiver.reason}")' if waiver.reason else ""
        yield Hit(
            message=f"the ignore of {waiver.code}{reason} takes out nothing",
            remedy="Take it out of the manifest.",
            evidence={"ignore": waiver.code, "reason": waiver.reason},
        )


RULE = Rule(
    code="RP901",
    name="stale-ignore",
    summary="an ignore in the manifest takes out nothing",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=WaiverUse,
    check=check,
    page=__doc__,
)
