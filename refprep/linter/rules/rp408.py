"""RP408 engine-ignores-text.

## What it checks
With `--profile ENGINE`: whether the engine reads the text of a reference at all.

## Why it matters
Work on the text changes nothing for such an engine, and a text that is right cannot save a clip that is not.

## Example
    clips/ana_03.wav: RP408 info: index-tts does not read the text of a reference

## How to fix
Nothing needs to be mended. Leave the text out, or keep it for another engine.

## Fix safety
There is no automatic fix.

## Threshold and its source
None: the engine's sources take no text (``refprep.linter.profiles``).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.profiles import ProfileCase, TextUse
from refprep.linter.rule import FixAvailability, Hit, Rule, Severity


def check(case: ProfileCase) -> Iterator[Hit]:
    """A hit when there is a text that nobody will read."""
    if case.has_text and case.profile.text is TextUse.IGNORED:
        yield Hit(
            message=f"{case.profile.name} does not read the text of a reference",
            remedy="Leave it out, or keep it for another engine.",
            evidence={"profile": case.profile.name},
        )


RULE = Rule(
    code="RP408",
    name="engine-ignores-text",
    summary="the engine of --profile does not read the text",
    severity=Severity.INFO,
    fix=FixAvailability.NONE,
    noun=ProfileCase,
    check=check,
    page=__doc__,
)
