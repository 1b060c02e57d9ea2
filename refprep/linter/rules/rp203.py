"""RP203 low-level: the speech is quiet.

## What it checks
The RMS level of the active speech.

## Why it matters
Engines that do not normalise clone a quiet voice quietly, and their own noise floor stands closer to it.

## Example
    quiet.wav: RP203 warning: the speech is at -38.6 dBFS (limit -36 dBFS)
        help: raise the level by +15.6 dB

## How to fix
Apply the gain of the message: it brings the speech to -23 dBFS, or as far as the peak allows.

## Fix safety
None: a gain changes every sample, and refprep keeps the samples of a reference bit-identical. Apply it to the source.

## Threshold and its source
-36 dBFS. Over the 133 clean originals of the speech pack with speech the median is -22.5 dBFS, 5 % lie under -30.6, and
three fire: a whisper, a mumble and one very quiet reading. `quiet.wav` reads -38.6 dBFS. The target of -23 is EBU R 128's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

MIN_LEVEL_DBFS = -36.0
TARGET_DBFS = -23.0
MAX_PEAK_DBTP = -1.0  # EBU R 128: maximum true peak


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when the speech is quiet, and say the gain."""
    level_dbfs = report.speech_level_dbfs
    if math.isfinite(level_dbfs) and level_dbfs < MIN_LEVEL_DBFS:
        wanted_db = TARGET_DBFS - level_dbfs
        room_db = MAX_PEAK_DBTP - report.true_peak_dbtp
        gain_db = max(0.0, min(wanted_db, room_db))
        limited = f" (more would lift the peak over {MAX_PEAK_DBTP:.0f} dBTP)" if room_db < wanted_db else ""
        yield Hit(
            message=f"the speech is at {level_dbfs:.1f} dBFS (limit {MIN_LEVEL_DBFS:.0f} dBFS)",
            remedy=f"raise the level by {gain_db:+.1f} dB{limited}",
            evidence={
                "speech_level_dbfs": level_dbfs,
                "gain_db": gain_db,
                "loudness_lufs": report.loudness_lufs if math.isfinite(report.loudness_lufs) else None,
            },
        )


RULE = Rule(
    code="RP203",
    name="low-level",
    summary="the speech is quiet",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
