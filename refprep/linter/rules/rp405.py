"""RP405 engine-refuses.

## What it checks
With `--profile ENGINE`: whether the engine takes a reference of this length, and whether it gets the text it needs.

## Why it matters
Such a reference raises an error at the first sentence, or is cloned in another, poorer mode without a word.

## Example
    clips/ana_03.wav: RP405 error: gpt-sovits refuses audio over 10.0 s; this is 12.4 s

## How to fix
Take a clip of a length that the engine takes (`refprep split` cuts at pauses), or write down what it says.

## Fix safety
There is no automatic fix.

## Threshold and its source
The engine's own limits, as its sources state them: ``refprep.linter.profiles``.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.profiles import EngineProfile, ProfileCase, TextUse
from refprep.linter.rule import FixAvailability, Hit, Rule, Severity


def check(case: ProfileCase) -> Iterator[Hit]:
    """A hit for a wrong length, and one for a missing text."""
    profile = case.profile
    limit = _broken_limit(profile, case)
    if limit:
        yield Hit(
            message=f"{profile.name} refuses audio {limit}; this is {case.duration_s:.1f} s",
            remedy="Take a clip of a length that it takes; `refprep split` cuts at pauses.",
            evidence={
                "profile": profile.name,
                "duration_s": round(case.duration_s, 3),
                "limit": limit,
            },
        )
    if profile.text is TextUse.NEEDED and not case.has_text:
        yield Hit(
            message=f"{profile.name} needs to be told what the audio says, and there is no text",
            remedy="Write it down: `refprep transcribe` drafts it.",
            evidence={"profile": profile.name},
        )


def _broken_limit(profile: EngineProfile, case: ProfileCase) -> str:
    """The limit that the clip breaks, in words; empty where it keeps all."""
    if profile.longer_than_s is not None and case.duration_s <= profile.longer_than_s:
        return f"of {profile.longer_than_s:.1f} s and less"
    if profile.min_s is not None and case.duration_s < profile.min_s:
        return f"under {profile.min_s:.1f} s"
    if profile.max_s is not None and case.duration_s > profile.max_s:
        return f"over {profile.max_s:.1f} s"
    if profile.max_with_text_s is not None and case.has_text and case.duration_s > profile.max_with_text_s:
        return f"over {profile.max_with_text_s:.1f} s that comes with a text"
    return ""


RULE = Rule(
    code="RP405",
    name="engine-refuses",
    summary="the engine of --profile refuses the clip, or lacks its text",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=ProfileCase,
    check=check,
    page=__doc__,
)
