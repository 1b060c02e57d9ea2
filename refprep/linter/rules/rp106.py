"""RP106 other-word.

## What it checks
That the word spoken in the place of a written word is that word.
The given text is forced onto the audio, the audio is transcribed freely, and voice activity is measured; the finding
shows all three.

## Why it matters
One wrong word bends the pronunciation the engine learns for it; a wrong number is read out wrong.

## Example
    clips/ana_03.wav:4.40s: RP106 warning: "1465" is written, "1455" is spoken

## How to fix
Correct the word, or listen: recognisers err on names.

## Fix safety
Unsafe: the word is replaced by the recogniser's, which errs on names.

## Threshold and its source
Words of at least 4 letters and less than 60 % alike, the written one with a probability below 0.05, or two
different numbers. ``refprep.pipeline.check_thresholds`` has all numbers and what they were measured on (``refprep bench lint`` measures them
again).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import other_word_hits
from refprep.types import FaultKind, TextCheck


def check(check: TextCheck) -> Iterator[Hit]:
    """One hit for every fault of this kind."""
    return other_word_hits(check, FaultKind.OTHER_WORD)


RULE = Rule(
    code="RP106",
    name="other-word",
    summary="a written word is not the one that is spoken",
    severity=Severity.WARNING,
    fix=FixAvailability.UNSAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
