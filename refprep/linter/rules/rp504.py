"""RP504 dead-codebook.

## What it checks
That every codebook uses more than one of its codes where the reference is loud (frames above -50 dBFS, at least 5 s of them).

## Why it matters
A codebook that always says the same says nothing: a level of the codec is dead, by damaged weights or another
config than they were trained with.

## Example
    voices/ana/reference.wav: RP504 warning: codes/5be2a0c1: codebook 3 uses one code in 140 loud frames

## How to fix
Pull the checkpoint again and hold it against its record (`refprep models verify`), then encode again.

## Fix safety
There is no automatic fix.

## Threshold and its source
A single code. Of encoders of random weights (real ones were not available where this was written) the poorest codebook
used 2 codes in the loud frames of a clip: published shapes, 10 clips of the speech pack; a tiny shape, 60 clips, used 8 or
more. Trained codebooks are far richer.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.loud_codes import loud_codes
from refprep.types import CodesCase

MIN_LOUD_FRAMES = 63  # 5 s


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for the codebooks that stand still."""
    codes = loud_codes(case)
    if len(codes) < MIN_LOUD_FRAMES:
        return
    dead = [number for number, column in enumerate(codes.T) if len(set(column.tolist())) == 1]
    if dead:
        numbers = ", ".join(map(str, dead))
        one = len(dead) == 1
        yield Hit(
            message=f"{case.name}: codebook{'' if one else 's'} {numbers} use{'s' if one else ''} one code "
            f"in {len(codes)} loud frames",
            remedy="Hold the checkpoint against its record with `refprep models verify`, and encode again.",
            evidence={"codebooks": numbers, "loud_frames": len(codes)},
        )


RULE = Rule(
    code="RP504",
    name="dead-codebook",
    summary="a codebook uses one code only",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
