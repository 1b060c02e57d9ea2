"""RP610 pace-off-reference.

## What it checks
Syllables (characters) for each second of speech, over those of the reference, for outputs with 1.5 s of speech and more.

## Why it matters
Clones inherit the pace of the reference; one that does not has lost words or drags.

## Example
    out.wav: RP610 warning: 2.1 times as fast as the reference (limits 0.55 to 1.8)

## How to fix
Listen; synthesise again, or take a reference of the pace you want.

## Fix safety
There is no automatic fix.

## Threshold and its source
0.55 to 1.8. Of 97 clips of the speech pack against others of their reader one lies outside, at 0.5, three words in loud noise; the
others lie within 0.57 to 1.5. The estimate of syllables errs by some 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import OutputScore

_LOW, _HIGH = 0.55, 1.8
_MIN_SPEECH_S = 1.5


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for a pace far from the reference."""
    ratio = score.pace_ratio
    if ratio is None or score.quality.speech_s < _MIN_SPEECH_S or _LOW <= ratio <= _HIGH:
        return
    yield Hit(
        message=f"{ratio:.2f} times as fast as the reference (limits {_LOW} to {_HIGH})",
        remedy="Listen; if words are whole, take a reference of the pace you want.",
        evidence={"pace_ratio": round(ratio, 3), "pace_per_s": score.quality.pace_per_s},
    )


RULE = Rule(
    code="RP610",
    name="pace-off-reference",
    summary="the output is much slower or faster than the reference",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
