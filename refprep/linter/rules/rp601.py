"""RP601 no-eos.

## What it checks
That a synthesis ended because the talker said so, with its end mark. It does not where its budget of frames ran out, where
one code came over and over, or where its tail became silence, hum or noise.

## Why it matters
A talker that misses its end goes on until something stops it: minutes of room tone or of one syllable, delivered as if it
were speech. It happens with perfect references, too: 0.34 % of 60,424 requests in one count.

## Example
    out.wav: RP601 error: it did not end by itself (repeating, after 9.1 s)

## How to fix
Try another seed; `refprep clone` does so by itself up to `--attempts` times. Where every seed fails, lint the reference: a
text that does not cover its audio does this always.

## Fix safety
There is no automatic fix.

## Threshold and its source
None: the end mark was drawn or it was not. When a synthesis is stopped is in `refprep/guard`.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import StopReason, SynthesisResult


def check(result: SynthesisResult) -> Iterator[Hit]:
    """Fire at any end but EOS."""
    stop = result.generated.stop
    if stop is not StopReason.EOS:
        yield Hit(
            message=f"it did not end by itself ({stop.value}, after {result.duration_s:.1f} s)",
            remedy="try another seed; if all of them fail, lint the reference",
            evidence={
                "stop": stop.value,
                "seed": result.generated.seed,
                "frames": result.generated.num_frames,
                "duration_s": result.duration_s,
            },
        )


RULE = Rule(
    code="RP601",
    name="no-eos",
    summary="a synthesis that did not end by itself",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=SynthesisResult,
    check=check,
    page=__doc__ or "",
)
