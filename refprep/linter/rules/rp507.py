"""RP507 degenerate-embedding.

## What it checks
That the speaker embedding is finite, not zero, and not one number over and over. Codes of an engine without one
(MOSS-TTS) have nothing to check.

## Why it matters
It is added to the prompt as the voice. NaN spoils everything after it; zero, or a constant, is nobody's voice.

## Example
    voices/ana/reference.wav: RP507 error: codes/5be2a0c1: the speaker embedding holds 1024 values that are no numbers

## How to fix
Hold the checkpoint against its record (`refprep models verify`), then encode again.

## Fix safety
There is no automatic fix.

## Threshold and its source
A norm, or a deviation from the mean, below 1e-6. Of random weights of a tiny shape, 40 clips of the speech pack gave norms of 9 to
25; real weights were not available where this was written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import CodesCase

MIN_NORM = 1e-6


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for an embedding without a direction."""
    if case.entry.speaker_embedding is None:  # of an engine that takes codes alone
        return
    vector = case.entry.speaker_embedding.astype("float64")
    broken = int(vector.size - sum(map(math.isfinite, vector.tolist())))
    if broken:
        what = f"holds {broken} value{'s' * (broken > 1)} that are no numbers"
    elif not vector.size or math.hypot(*vector.tolist()) < MIN_NORM:
        what = "is zero"
    elif math.hypot(*(vector - vector.mean()).tolist()) < MIN_NORM:
        what = "is one number over and over"
    else:
        return
    yield Hit(
        message=f"{case.name}: the speaker embedding {what}",
        remedy="Hold the checkpoint against its record with `refprep models verify`, and encode again.",
        evidence={"not_finite": broken, "length": int(vector.size)},
    )


RULE = Rule(
    code="RP507",
    name="degenerate-embedding",
    summary="the speaker embedding is no number, or says nothing",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
