"""RP206 long-inner-silence: there is a long pause within the speech.

## What it checks
The longest pause between two stretches of speech.

## Why it matters
The model learns that this speaker stops for seconds: clones pause within sentences, and some end there.

## Example
    long_inner_pause.flac: RP206 warning: a pause of 3.34 s inside the speech (limit 2.0 s)

## How to fix
Split the clip at the pause and use the parts as clips of their own.

## Fix safety
None: where a pause may be shortened is for the ear.

## Threshold and its source
2.0 s. Over the 133 clean originals of the speech pack with speech 95 % stay under 1.12 s; two readings fire, with true
pauses of 2.2 and 3.3 s. `long_inner_pause.flac` (2.5 s added between two clips) reads 3.34 s.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

MAX_INNER_S = 2.0


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire for the longest pause."""
    if report.longest_inner_silence_s > MAX_INNER_S:
        yield Hit(
            message=f"a pause of {report.longest_inner_silence_s:.2f} s inside the speech (limit {MAX_INNER_S:.1f} s)",
            remedy="split the clip there (`refprep split`), or use clips without the pause",
            span=report.longest_inner_silence,
            evidence={"longest_inner_silence_s": report.longest_inner_silence_s},
        )


RULE = Rule(
    code="RP206",
    name="long-inner-silence",
    summary="a long pause inside the clip",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
