"""RP204 narrow-bandwidth: the high frequencies are missing.

## What it checks
The highest frequency at which the loud frames of the speech are within 50 dB of the loudest band and 6 dB above the
pauses. The sample rate is not trusted: a 48 kHz file can hold telephone speech.

## Why it matters
The clone sounds like a telephone: models copy the band of the reference.

## Example
    narrowband_8k.wav: RP204 warning: the speech ends at 4000 Hz in a 8 kHz file (limit 5500 Hz)

## How to fix
Find the wideband original. Bandwidth extension invents fricatives that are not the speaker's.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
5500 Hz. Over the 133 clean originals of the speech pack with speech 98 % reach 7195 Hz and more; the one below 5500 is
a broadcast of 1961 (4750 Hz). The same clips cut to 8 kHz and resampled back never measure more than 4250 Hz.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

MIN_BANDWIDTH_HZ = 5500.0


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when the high frequencies are missing, whatever the rate of the file."""
    if report.speech_s <= 0.0:  # RP211 says so
        return
    if report.bandwidth_hz < MIN_BANDWIDTH_HZ:
        rate_khz = report.sample_rate_hz / 1000
        yield Hit(
            message=f"the speech ends at {report.bandwidth_hz:.0f} Hz in a {rate_khz:g} kHz file (limit {MIN_BANDWIDTH_HZ:.0f} Hz)",
            remedy="find the original before it went through a telephone or a low-rate file; resampling does not bring it back",
            evidence={"bandwidth_hz": report.bandwidth_hz, "sample_rate_hz": report.sample_rate_hz},
        )


RULE = Rule(
    code="RP204",
    name="narrow-bandwidth",
    summary="the speech is band-limited, as on a telephone",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
