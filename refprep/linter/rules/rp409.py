"""RP409 outside-engine-advice.

## What it checks
With `--profile ENGINE`: the length that the engine's makers advise, and the sample rate below which it warns.

## Why it matters
The engine takes such a reference, and it sounds worse than it could.

## Example
    clips/ana_03.wav: RP409 warning: fish-speech advises 10-30 s; this is 6.2 s

## How to fix
Take a longer (shorter) clip, or `refprep build` one; use the recording at its own rate.

## Fix safety
There is no automatic fix.

## Threshold and its source
The makers' own advice: ``refprep.linter.profiles``.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.profiles import ProfileCase
from refprep.linter.rule import FixAvailability, Hit, Rule, Severity


def check(case: ProfileCase) -> Iterator[Hit]:
    """A hit for a length, and one for a sample rate that is not advised."""
    profile = case.profile
    if profile.advised_s is not None:
        low_s, high_s = profile.advised_s
        if not low_s <= case.duration_s <= high_s:
            yield Hit(
                message=f"{profile.name} advises {low_s:.0f}-{high_s:.0f} s; this is {case.duration_s:.1f} s",
                remedy="Take a clip of that length, or join some with `refprep build`.",
                evidence={"profile": profile.name, "duration_s": round(case.duration_s, 3)},
            )
    if profile.min_rate_hz is not None and case.sample_rate_hz < profile.min_rate_hz:
        yield Hit(
            message=f"{profile.name} warns below {profile.min_rate_hz} Hz; this is {case.sample_rate_hz} Hz",
            remedy="Use the recording at its own rate; a conversion brings nothing back.",
            evidence={"profile": profile.name, "sample_rate_hz": case.sample_rate_hz},
        )


RULE = Rule(
    code="RP409",
    name="outside-engine-advice",
    summary="the engine of --profile takes the clip, and advises another",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=ProfileCase,
    check=check,
    page=__doc__,
)
