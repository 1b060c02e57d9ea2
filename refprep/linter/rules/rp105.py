"""RP105 wrong-text.

## What it checks
That the text is of this clip at all.
The given text is forced onto the audio, the audio is transcribed freely, and voice activity is measured; the finding
shows all three.

## Why it matters
Rows of a manifest that slipped by one give every clip its neighbour's text; nothing made from them can be right.

## Example
    clips/ana_03.wav: RP105 error: this is another text (4 % of the letters agree): the audio says "Printing, in the..."

## How to fix
Find the clip's own text; the audio's transcription is in the finding.

## Fix safety
Unsafe: the text is replaced by the recogniser's, and nothing of yours is left of it.

## Threshold and its source
Less than 40 % of the letters agree and the mean forced probability is below 0.15 (or below 0.3 with a median below 0.1):
other clips' texts measure at most 33 % and 0.13, good pairs that the recogniser understands at least 46 % and 0.32.
``refprep.pipeline.check_thresholds`` has all numbers and what they were measured on (``refprep bench lint`` measures them
again).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import wrong_hits
from refprep.types import FaultKind, TextCheck


def check(check: TextCheck) -> Iterator[Hit]:
    """One hit for every fault of this kind."""
    return wrong_hits(check, FaultKind.WRONG_TEXT)


RULE = Rule(
    code="RP105",
    name="wrong-text",
    summary="the text belongs to other audio",
    severity=Severity.ERROR,
    fix=FixAvailability.UNSAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
