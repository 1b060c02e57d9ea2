"""RP605 missing-words.

## What it checks
That every stretch of the text is said: by forced alignment (no time, no probability) and the recogniser, and for the first
and the last word by what the model expects without them.

## Why it matters
A model that stops early drops the last word; one that starts late swallows the first.

## Example
    out.wav:4.86s: RP605 error: nobody says "river" (tail, 1 word)

## How to fix
Synthesise again; a final mark after the last word helps.

## Fix safety
There is no automatic fix.

## Threshold and its source
As RP104 for stretches. For a first or last word: forced probability under 0.4, and the model, made to say the rest, ends
(begins) there with 0.5 and more. For a last word that the recogniser does not hear either, it is enough that the end has 0.05
and more, and is 5 times as likely as the word. Of 16 clips whose last word was cut off 14 are reported, 3 of them as wrong
words; without the second way there are 9. Where the same clips say their last word the end has 0.013 at most, and none is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import quote
from refprep.text.words import split_words
from refprep.types import OutputScore, WordsFault


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every stretch that nobody says."""
    for fault in score.text.of(WordsFault.MISSING) if score.text is not None else ():
        count = len(split_words(fault.words))
        noun = "word" if count == 1 else "words"
        yield Hit(
            message=f"nobody says {quote(fault.words)} ({fault.place}, {count} {noun})",
            remedy="Synthesise it again.",
            span=fault.span,
            evidence={**fault.evidence, "words": fault.words, "place": fault.place},
        )


RULE = Rule(
    code="RP605",
    name="missing-words",
    summary="words of the text are not said",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
