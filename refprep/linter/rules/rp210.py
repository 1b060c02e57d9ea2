"""RP210 dc-offset: the wave has a DC offset.

## What it checks
The mean of all samples.

## Why it matters
Joins click where the offset meets silence, there is less room before clipping, and energy-based silence detection sees
a sound that is none.

## Example
    dc_offset.wav: RP210 warning: the mean sample is +0.200 of full scale (limit 0.015)

## How to fix
Subtract the offset, or filter the recording with a high-pass at 20 Hz.

## Fix safety
None: it changes every sample, and refprep keeps the samples of a reference bit-identical. Apply it to the source.

## Threshold and its source
0.015 (-36 dBFS). Over the 133 clean originals of the speech pack with speech 95 % are under 0.0004, the largest is
0.0087; `dc_offset.wav` has 0.200.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

MAX_OFFSET = 0.015


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when the mean sample is far from zero."""
    if abs(report.dc_offset) > MAX_OFFSET:
        yield Hit(
            message=f"the mean sample is {report.dc_offset:+.3f} of full scale (limit {MAX_OFFSET:.3f})",
            remedy=f"subtract {report.dc_offset:+.4f} from every sample (a high-pass at 20 Hz does it)",
            evidence={"dc_offset": report.dc_offset},
        )


RULE = Rule(
    code="RP210",
    name="dc-offset",
    summary="the wave is not centred on zero",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
