"""RP211 no-speech: there is no speech.

## What it checks
Whether the voice-activity model finds any speech.

## Why it matters
A reference without a voice gives a clone in the voice of nobody: engines accept it without a word.

## Example
    room.wav: RP211 error: no speech was found (-44.5 LUFS of other sound) in 4.00 s

## How to fix
Choose another file. If there is speech to the ear, raise its level and lint again.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
No threshold beyond those of the voice-activity model. In the speech pack it fires on the clip without speech and on a
meeting recorded from afar (-51.5 LUFS).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when there is no speech."""
    if report.speech_s <= 0.0 or not math.isfinite(report.speech_level_dbfs):
        is_silent = not math.isfinite(report.loudness_lufs)
        what = (
            "the file is silent"
            if is_silent
            else f"no speech was found ({report.loudness_lufs:.1f} LUFS of other sound)"
        )
        yield Hit(
            message=f"{what} in {report.duration_s:.2f} s",
            remedy="check that this is the right file; very quiet or distant speech needs more level to be found",
            evidence={
                "loudness_lufs": report.loudness_lufs if not is_silent else None,
                "duration_s": report.duration_s,
            },
        )


RULE = Rule(
    code="RP211",
    name="no-speech",
    summary="nobody speaks",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
