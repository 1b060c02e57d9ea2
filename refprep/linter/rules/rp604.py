"""RP604 reordered-text.

## What it checks
That the words come in the order of the text: a stretch that is missing at its place and heard at another was moved.

## Why it matters
Similarity of bags of words calls shuffled clauses perfect.

## Example
    out.wav:2.10s: RP604 error: said at another place (tail): "and the tide went out"

## How to fix
Synthesise again; split the text at the clause if it comes back.

## Fix safety
There is no automatic fix.

## Threshold and its source
65 % of the letters agree between what is missing and what is heard, of 8 letters and more (2 characters). Swapped clauses of
three readers (English woman and man, German man) are found each time, and alone; none of 97 clips in order is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import quote
from refprep.types import OutputScore, WordsFault


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every stretch that was moved."""
    for fault in score.text.of(WordsFault.REORDERED) if score.text is not None else ():
        yield Hit(
            message=f"said at another place ({fault.place}): {quote(fault.words)}",
            remedy="Synthesise it again.",
            span=fault.span,
            evidence={**fault.evidence, "words": fault.words, "place": fault.place},
        )


RULE = Rule(
    code="RP604",
    name="reordered-text",
    summary="words of the text are said at another place",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
