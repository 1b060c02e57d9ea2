"""RP102 uncovered-audio-head.

## What it checks
That no words are spoken before the first word of the text.
The given text is forced onto the audio, the audio is transcribed freely, and voice activity is measured; the finding
shows all three.

## Why it matters
The first words of the output come out as the unwritten words of the reference, or are swallowed.

## Example
    clips/ana_03.wav:0.12s: RP102 error: the first 1.40 s have no text: "She said that" (coverage 86 %)

## How to fix
Complete the text, or cut the audio at the pause before its first written word.

## Fix safety
Safe: the words that are heard go into the text, which keeps its own; no sample changes, and the copy is checked again.
The words are a recogniser's: read them. Where that copy is not clean, `--unsafe-fixes` cuts the audio at the first
pause after the missing words, and text with it.

## Threshold and its source
As RP101, at the other end: heard words count where the model gives the text's beginning less than a tenth of what it
gives to the likeliest one: texts without their first word measure 0.05 at most in 66 of 71, full texts 0.16 and more.
``refprep.pipeline.check_thresholds`` has all numbers and what they were measured on (``refprep bench lint`` measures them
again).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import missing_hits
from refprep.types import FaultKind, TextCheck


def check(check: TextCheck) -> Iterator[Hit]:
    """One hit for every fault of this kind."""
    return missing_hits(check, FaultKind.HEAD)


RULE = Rule(
    code="RP102",
    name="uncovered-audio-head",
    summary="the head of the audio is not covered by the text",
    severity=Severity.ERROR,
    fix=FixAvailability.SAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
