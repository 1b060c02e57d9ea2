"""RP606 wrong-words.

## What it checks
That nothing is said which neither text nor reference has, and that no words stand in the place of others.

## Why it matters
A clone that invents words, or says others, does not say the text.

## Example
    out.wav:1.02s: RP606 error: not in the text (middle): "you know"

## How to fix
Listen there, then synthesise again. Names that the recogniser spells its own way are rarely reported; a larger model
(`--asr`) decides better.

## Fix safety
There is no automatic fix.

## Threshold and its source
Those of RP101-RP106, measured on the labelled pairs of text and audio. None of 97 clips that say their text is reported, names
and misheard words among them (RP602 says of what readers).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import quote
from refprep.types import OutputScore, WordsFault


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every stretch that the text does not have."""
    for fault in score.text.faults if score.text is not None else ():
        if fault.fault is WordsFault.INSERTED:
            message = f"not in the text ({fault.place}): {quote(fault.words)}"
        elif fault.fault is WordsFault.REPLACED:
            message = f"{quote(fault.words)} is in the text, {quote(fault.instead)} is said ({fault.place})"
        else:
            continue
        yield Hit(
            message=message,
            remedy="Listen there, then synthesise it again.",
            span=fault.span,
            evidence={**fault.evidence, "words": fault.words, "place": fault.place},
        )


RULE = Rule(
    code="RP606",
    name="wrong-words",
    summary="other words are said than the text has",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
