"""RP609 level-off-reference.

## What it checks
The integrated loudness of the output less that of the reference.

## Why it matters
Outputs of one voice should not jump in level; a codec that lost the level often lost the voice.

## Example
    out.wav: RP609 warning: 14.2 dB quieter than the reference (limit 9 dB)

## How to fix
Change the level by so many dB, or synthesise again.

## Fix safety
There is no automatic fix.

## Threshold and its source
9 dB. Clips of one reader and session in the speech pack differ by 5.5 dB at most; acted ones (drunk, whispered) by 14 and more:
two of 97 clips are reported for that.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import OutputScore

_LIMIT_DB = 9.0


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for a level far from the reference."""
    offset_db = score.level_offset_db
    if offset_db is None or not score.speech or abs(offset_db) <= _LIMIT_DB:
        return
    yield Hit(
        message=f"{abs(offset_db):.1f} dB {'louder' if offset_db > 0 else 'quieter'} than the reference (limit {_LIMIT_DB:.0f} dB)",
        remedy=f"Change its level by {-offset_db:+.1f} dB.",
        evidence={"level_offset_db": round(offset_db, 2), "limit_db": _LIMIT_DB},
    )


RULE = Rule(
    code="RP609",
    name="level-off-reference",
    summary="the output is much louder or quieter than the reference",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
