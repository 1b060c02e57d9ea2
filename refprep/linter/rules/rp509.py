"""RP509 low-code-entropy.

## What it checks
How much the codes say where the reference is loud (frames above -50 dBFS, at least 5 s of them): the entropy of every
codebook's codes, summed.

## Why it matters
Codes that hardly vary cannot hold what was said, let alone by whom: the encoder has lost the signal.

## Example
    voices/ana/reference.wav: RP509 warning: codes/5be2a0c1: 9.1 bits a frame over 140 loud frames (limit 16)

## How to fix
Look at the reference (`refprep lint VOICE`) and hold the checkpoint against its record (`refprep models verify`); encode again.

## Fix safety
There is no automatic fix.

## Threshold and its source
16 bits a frame: one for each of Qwen3-TTS's 16 codebooks, half a one for each of MOSS-TTS's 32. Phonemes alone need about 4 (12 to 15 a second of about 5 bits). Over the speech
pack the least was 46.6 bits for random weights of the published shapes (10 clips) and 51.6 for a tiny shape (60 clips), of
at most 96 that 63 frames can show; a constant voltage still gave 32. Real weights were not available where this was written.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.loud_codes import loud_codes
from refprep.types import CodesCase

MIN_BITS = 16.0
MIN_LOUD_FRAMES = 63  # 5 s


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for codes that hardly vary."""
    codes = loud_codes(case)
    if len(codes) < MIN_LOUD_FRAMES:
        return
    bits = sum(_entropy(column.tolist()) for column in codes.T)
    if bits < MIN_BITS:
        yield Hit(
            message=f"{case.name}: {bits:.1f} bits a frame over {len(codes)} loud frames (limit {MIN_BITS:.0f})",
            remedy="Look at the reference there, and hold the checkpoint against its record with `refprep models verify`.",
            evidence={"bits": round(bits, 3), "loud_frames": len(codes)},
        )


def _entropy(values: list[int]) -> float:
    """Shannon's, in bits, of the values' own frequencies."""
    shares = [count / len(values) for count in Counter(values).values()]
    return -sum(p * math.log2(p) for p in shares)


RULE = Rule(
    code="RP509",
    name="low-code-entropy",
    summary="the codes say too little to be speech",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
