"""RP503 frame-count-mismatch.

## What it checks
That there is one frame for every 1920 samples at 24 kHz, the last one begun: `ceil(samples / 1920)`.

## Why it matters
In context the engine lays text and frames side by side; frames that are missing are words without sound, the fault of
RP104, and frames too many are sound without words, the fault of RP101.

## Example
    voices/ana/reference.wav: RP503 error: codes/5be2a0c1: 148 frames of codes, 287040 samples at 24 kHz make 150

## How to fix
Encode the voice again, the whole of it.

## Fix safety
There is no automatic fix: the checkpoint is needed.

## Threshold and its source
None: the number is equal or not. Stale codes are left to RP502.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import CodesCase
from refprep.units import samples_to_frames


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for another number of frames than the reference makes."""
    if case.entry.key.audio_sha256 != case.audio_sha256:  # RP502 says so
        return
    expected, found = samples_to_frames(case.num_samples), case.entry.num_frames
    if found != expected or case.entry.num_samples != case.num_samples:
        yield Hit(
            message=f"{case.name}: {found} frames of codes, {case.num_samples} samples at 24 kHz make {expected}",
            remedy="Encode it again: `refprep encode VOICE --model M`.",
            evidence={"frames": found, "expected_frames": expected, "num_samples": case.num_samples},
        )


RULE = Rule(
    code="RP503",
    name="frame-count-mismatch",
    summary="there are more or fewer frames of codes than the audio has",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
