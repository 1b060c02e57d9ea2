"""RP403 duplicate-clip.

## What it checks
That no two clips hold the same samples, whatever their names and containers.

## Why it matters
A sentence heard twice teaches nothing new, and its perfect score with itself would win every comparison.

## Example
    copy.flac: RP403 error: the same samples as clips/ana_01.wav

## How to fix
Give it once.

## Fix safety
There is no automatic fix.

## Threshold and its source
Equal SHA-256 of the decoded samples.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import Admission


def check(admission: Admission) -> Iterator[Hit]:
    """A hit for the second of two equal clips."""
    if admission.duplicate_of:
        yield Hit(
            message=f"the same samples as {admission.duplicate_of}",
            remedy="Give it once.",
            evidence={"duplicate_of": admission.duplicate_of},
        )


RULE = Rule(
    code="RP403",
    name="duplicate-clip",
    summary="the same samples as another clip",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=Admission,
    check=check,
    page=__doc__,
)
