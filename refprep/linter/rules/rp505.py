"""RP505 constant-frames.

## What it checks
That no frame repeats, all of its codes, for a second or more while the samples are louder than a pause (-50 dBFS).

## Why it matters
Speech does not stand still for a second: an encoder that gives one frame over and over has lost the signal, to NaN or
damaged weights, and the engine hears a drone there.

## Example
    voices/ana/reference.wav:3.20s: RP505 error: codes/5be2a0c1: one and the same frame from 3.20 to 4.64 s, where the reference is loud

## How to fix
Encode again on the CPU. Where it stays so, look at the reference there: `refprep lint VOICE`.

## Fix safety
There is no automatic fix.

## Threshold and its source
13 frames, 1.04 s. Over speech the longest run in loud frames was 2 frames (random weights of the published shapes, 10
clips, and of a tiny shape, 60 clips of the speech pack); real weights were not available where this was written. Through
digital silence runs of 23 were seen: pauses are let pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import CodesCase, Span
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME

MIN_FRAMES = 13  # 1.04 s
FRAME_S = SAMPLES_PER_FRAME / CODE_RATE_HZ


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for every stretch that stands still."""
    codes = case.entry.codes
    loud = case.is_loud[: len(codes)]
    start = 0
    for end in range(1, len(loud) + 1):
        goes_on = end < len(loud) and loud[end] and loud[start] and bool((codes[end] == codes[start]).all())
        if goes_on:
            continue
        if end - start >= MIN_FRAMES and loud[start]:
            span = Span(start * FRAME_S, end * FRAME_S)
            yield Hit(
                message=f"{case.name}: one and the same frame from {span.start_s:.2f} to {span.end_s:.2f} s, where the reference is loud",
                remedy="Encode it again on the CPU: `refprep encode VOICE --model M --device cpu`.",
                span=span,
                evidence={"frames": end - start},
            )
        start = end


RULE = Rule(
    code="RP505",
    name="constant-frames",
    summary="all codes stand still for a second while the reference goes on",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
