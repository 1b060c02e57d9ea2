"""RP603 repeated-text.

## What it checks
That no stretch of the text is heard a second time where the text does not have it.

## Why it matters
A model that missed its end begins again; the listener hears a sentence twice.

## Example
    out.wav:3.42s: RP603 error: said once more (tail): "the moon rose over the river"

## How to fix
Synthesise again. If it comes back, shorten the text or give it a final mark.

## Fix safety
There is no automatic fix.

## Threshold and its source
Heard words beyond the text whose letters agree with a stretch of it to 70 %, of 5 letters and more (2 characters): a
recogniser writes a second reading a little otherwise. The text said twice by three readers (English woman and man, German
man) is found each time, and alone; none of 97 clips that say their text once is reported (RP602 says of what readers).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import quote
from refprep.types import OutputScore, WordsFault


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every stretch that is said once more."""
    for fault in score.text.of(WordsFault.REPEATED) if score.text is not None else ():
        yield Hit(
            message=f"said once more ({fault.place}): {quote(fault.words)}",
            remedy="Synthesise it again.",
            span=fault.span,
            evidence={**fault.evidence, "words": fault.words, "place": fault.place},
        )


RULE = Rule(
    code="RP603",
    name="repeated-text",
    summary="words of the text are said once more than it has them",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
