"""RP501 quantized-reference-encoder.

## What it checks
That the codes were made by an encoder whose weights are stored in float32. `refprep encode` refuses any other, by this code;
`refprep audit` may make such codes, for comparison alone.

## Why it matters
A codec chooses the nearest of 2048 vectors, level after level. Weights rounded to 8 or 16 bits move the choice, and every
later level repeats the fault: of an INT8 encoder 7.7 % of the codes agreed with those of FP32, on random weights in
bfloat16 48 %. Another choice is another voice. The decoder may be rounded: it adds vectors and chooses nothing.

## Example
    voices/ana/reference.wav: RP501 error: codes/5be2a0c1: the codec encoder's weights were stored as int8, not as float32

## How to fix
Encode the voice with the publisher's checkpoint, whose `speech_tokenizer` is in float32: `refprep encode VOICE --model M`.
A rounded checkpoint may then speak with these codes.

## Fix safety
There is no automatic fix: it needs another checkpoint.

## Threshold and its source
None: any narrower type. Weights that were rounded and stored as float32 again cannot be told from others.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import CodesCase


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for codes of a rounded encoder."""
    stored = case.entry.key.encoder_dtype
    if stored != "float32":
        yield Hit(
            message=f"{case.name}: the codec encoder's weights were stored as {stored}, not as float32",
            remedy="Encode it with the publisher's checkpoint: `refprep encode VOICE --model M`.",
            evidence={"encoder_dtype": stored},
        )


RULE = Rule(
    code="RP501",
    name="quantized-reference-encoder",
    summary="the reference was encoded with rounded weights",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
