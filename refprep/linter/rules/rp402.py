"""RP402 format-mismatch.

## What it checks
That the clip has the sample rate and the sample format of the reference: those of most of the speech given. The
format is the narrowest one that holds the clip's samples exactly.

## Why it matters
The joined samples are the source samples, bit for bit; a conversion in silence would end that, and two recordings at two
rates are rarely one take.

## Example
    clips/ana_09.mp3: RP402 error: 44100 Hz FLOAT, the reference is 48000 Hz PCM_16

## How to fix
Use clips of one format, or convert them with --resample.

## Fix safety
There is no automatic fix.

## Threshold and its source
None: equal or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import Admission


def check(admission: Admission) -> Iterator[Hit]:
    """A hit for a clip that would have to be converted."""
    own = f"{admission.sample_rate_hz} Hz {admission.sample_format.value}"
    wanted = f"{admission.reference_rate_hz} Hz {admission.reference_format.value}"
    if own != wanted:
        yield Hit(
            message=f"{own}, the reference is {wanted}",
            remedy="Use clips of one format, or convert them with --resample (which is written down).",
            evidence={
                "sample_rate_hz": admission.sample_rate_hz,
                "sample_format": admission.sample_format.value,
            },
        )


RULE = Rule(
    code="RP402",
    name="format-mismatch",
    summary="the clip has another sample rate or sample format than the reference",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=Admission,
    check=check,
    page=__doc__,
)
