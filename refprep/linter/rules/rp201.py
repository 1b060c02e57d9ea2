"""RP201 clipped-samples: the recording ran out of range.

## What it checks
The share of samples in runs of three and more equal samples at the clip's own maximum or minimum, and of samples
beyond full scale. Clipping that was attenuated afterwards is found as well.

## Why it matters
The distortion is cloned with the voice: a reference is the only example the model has.

## Example
    clipped_mild.wav: RP201 warning: 0.89 % of the samples are clipped (limit 0.01 %)

## How to fix
Record again with less gain. De-clipping tools guess the missing tops; the guess is cloned too.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
0.01 %. Over the 133 clean originals of the speech pack with speech, those normalised to full scale among them, the
largest ratio is 0; `clipped_mild.wav` has 0.89 %, `clipped_heavy.wav` 1.26 %. A lossy codec after the clipping hides it.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

MAX_CLIPPED_RATIO = 1e-4


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when more than a chance run is flat."""
    if report.clipped_ratio > MAX_CLIPPED_RATIO:
        yield Hit(
            message=f"{report.clipped_ratio * 100:.2f} % of the samples are clipped (limit {MAX_CLIPPED_RATIO * 100:.2f} %)",
            remedy="record again with 6 to 12 dB less gain, or use a clip without clipping; lowering the level now does not help",
            evidence={"clipped_ratio": report.clipped_ratio, "true_peak_dbtp": report.true_peak_dbtp},
        )


RULE = Rule(
    code="RP201",
    name="clipped-samples",
    summary="the tops of the wave are cut off",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
