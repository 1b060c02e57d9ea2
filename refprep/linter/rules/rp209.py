"""RP209 loud-tail: the clip does not end in quiet.

## What it checks
The level of the last 50 ms against the level of the speech.

## Why it matters
What stands at the end of the reference bleeds into the start of the clone: a tail at -19 dBFS gave hiss, one at
-83 dBFS did not. A loud end is often a cut word as well.

## Example
    ana_03.wav: RP209 warning: the last 50 ms are at -19.3 dBFS, 3.4 dB below the speech (limit 10 dB): ...

## How to fix
Export the clip with its own decay, or cut it at the last pause and shorten the text.

## Fix safety
Unsafe: the clip is cut at its last pause, and speech and words after it are lost. Without a pause there is no cut.

## Threshold and its source
10 dB. Over the 133 clean originals of the speech pack with speech the median tail is 30 dB below the speech and 5 % are
within 9.5 dB; the eight that fire end within a word, its breath or loud noise.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport, Span

MIN_BELOW_SPEECH_DB = 10.0
TAIL_S = 0.05


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when the last 50 ms are nearly as loud as the speech."""
    if report.speech_s <= 0.0:  # RP211 says so
        return
    below_db = report.speech_level_dbfs - report.tail_level_dbfs
    if below_db < MIN_BELOW_SPEECH_DB:
        yield Hit(
            message=f"the last 50 ms are at {report.tail_level_dbfs:.1f} dBFS, {below_db:.1f} dB below the speech "
            f"(limit {MIN_BELOW_SPEECH_DB:.0f} dB): the clip ends within sound",
            remedy="export it with 0.2 s more of the recording, or cut at the pause before; a declared silence tail helps as well",
            span=Span(max(0.0, report.duration_s - TAIL_S), report.duration_s),
            evidence={
                "tail_level_dbfs": report.tail_level_dbfs,
                "speech_level_dbfs": report.speech_level_dbfs,
            },
        )


RULE = Rule(
    code="RP209",
    name="loud-tail",
    summary="the clip ends within sound",
    severity=Severity.WARNING,
    fix=FixAvailability.UNSAFE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
