"""RP208 true-peak-over: the wave is over full scale between its samples.

## What it checks
The peak of the four times oversampled wave (ITU-R BS.1770-4 annex 2).

## Why it matters
An engine that resamples to its own rate and to 16 bits clips what lies between the samples.

## Example
    ana_03.wav: RP208 info: the true peak is +1.4 dBTP (limit +0.2 dBTP)
        help: apply a gain of -2.4 dB before any resampling to integers

## How to fix
Lower the level by the gain of the message, which brings the peak to -1 dBTP (EBU R 128).

## Fix safety
None: a gain changes every sample, and refprep keeps the samples of a reference bit-identical. Apply it to the source.

## Threshold and its source
+0.2 dBTP. Recordings normalised to full scale reach +0.12 dBTP (VCTK, the highest of the 133 clean originals of the
speech pack with speech); the clipped ones read +1.4 and +1.7 dBTP.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

MAX_TRUE_PEAK_DBTP = 0.2
TARGET_DBTP = -1.0


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when the reconstructed wave is over full scale."""
    if report.true_peak_dbtp > MAX_TRUE_PEAK_DBTP:
        yield Hit(
            message=f"the true peak is {report.true_peak_dbtp:+.1f} dBTP (limit {MAX_TRUE_PEAK_DBTP:+.1f} dBTP)",
            remedy=f"apply a gain of {TARGET_DBTP - report.true_peak_dbtp:+.1f} dB before any resampling to integers",
            evidence={
                "true_peak_dbtp": report.true_peak_dbtp,
                "gain_db": TARGET_DBTP - report.true_peak_dbtp,
            },
        )


RULE = Rule(
    code="RP208",
    name="true-peak-over",
    summary="the wave exceeds full scale between its samples",
    severity=Severity.INFO,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
