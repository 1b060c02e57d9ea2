"""RP506 codes-out-of-range.

## What it checks
That every code is one of its codebook's (0 to 2047 for Qwen3-TTS's codec, 0 to 1023 for MOSS-TTS's), and that a frame has as many as the key says.

## Why it matters
A code that is not there reads another row of a table, or none: the engine fails, or speaks with noise in its context.
It means that the codes are of another codec.

## Example
    voices/ana/reference.wav: RP506 error: codes/5be2a0c1: codes from 0 to 2050 in frames of 16, the codec has 16 codebooks of 2048

## How to fix
Encode the voice with the checkpoint that will speak.

## Fix safety
There is no automatic fix: the checkpoint is needed.

## Threshold and its source
None: the sizes stand in the codec's config.json.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import CodesCase


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for codes or frames of another codec."""
    codes, key = case.entry.codes, case.entry.key
    least, most = int(codes.min(initial=0)), int(codes.max(initial=0))
    if codes.shape[1] != key.num_codebooks or least < 0 or most >= key.codebook_size:
        yield Hit(
            message=f"{case.name}: codes from {least} to {most} in frames of {codes.shape[1]}, "
            f"the codec has {key.num_codebooks} codebooks of {key.codebook_size}",
            remedy="Encode it with the checkpoint that will speak: `refprep encode VOICE --model M`.",
            evidence={"least": least, "most": most, "codebooks": int(codes.shape[1])},
        )


RULE = Rule(
    code="RP506",
    name="codes-out-of-range",
    summary="codes that the codec does not have",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
