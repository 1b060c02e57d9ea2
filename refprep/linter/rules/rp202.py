"""RP202 low-snr: the noise is close to the speech.

## What it checks
The level of the speech over the level of the noise: the median 20 ms frame of the pauses; the quietest 5 % of the
frames within the speech where pauses are digital silence or too short, which the message says.

## Why it matters
Codec language models copy the room and its noise into everything they say.

## Example
    noise_pink_0db.flac: RP202 warning: speech is only 4.7 dB above the noise (measured in the pauses; limit 12 dB)

## How to fix
Use a quieter clip. Denoisers leave artefacts that are cloned as well: listen before you trust one.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
12 dB. The measure reads 4.7 and 9.8 dB on the clips of the speech pack with pink noise at 0 dB and white noise at
10 dB. Of its 133 clean originals with speech 5 % lie under 16.1 dB and two (a reader's noisy room, 6.7 and 9.5 dB)
under 12. It does not see babble: other voices at 5 dB read as 28 dB, because the pauses of the babble coincide.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport, SnrMethod

MIN_SNR_DB = 12.0


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire when the noise is within a small distance of the speech."""
    if report.snr_db is not None and report.snr_db < MIN_SNR_DB:
        how = (
            "in the pauses"
            if report.snr_method is SnrMethod.PAUSES
            else "in the quietest frames, an estimate"
        )
        yield Hit(
            message=f"speech is only {report.snr_db:.1f} dB above the noise (measured {how}; limit {MIN_SNR_DB:.0f} dB)",
            remedy="use a quieter clip, or record closer to the microphone: half the distance gives about 6 dB",
            evidence={
                "snr_db": report.snr_db,
                "noise_dbfs": report.noise_level_dbfs,
                "method": report.snr_method.value,
            },
        )


RULE = Rule(
    code="RP202",
    name="low-snr",
    summary="noise is close to the speech",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
