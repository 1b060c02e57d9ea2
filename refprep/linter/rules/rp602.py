"""RP602 leaked-reference-words.

## What it checks
That the output does not begin or end with words of the reference that its text does not have there. Three witnesses: the
recogniser hears them, the model finds them likelier with the text than the text alone, and they sound like the reference
frame by frame. A text that itself begins (ends) with those words explains them, unless they are said twice.

## Why it matters
Engines that continue the reference's codes sometimes speak its end once more before the text (Qwen3-TTS issue 341). Overlap
ratios do not see it.

## Example
    out.wav:0.00s: RP602 error: it begins with "the lime" of the reference; the text begins at 0.71 s

## How to fix
Cut there: `refprep score --trim-leak FILE` writes the rest. Or synthesise again, and give the reference a tail of silence
(`refprep build --tail zeros-160ms`).

## Fix safety
There is no automatic fix.

## Threshold and its source
The sound is a copy (cepstral distance under 0.5, or under 0.8 and long: 0.4 s and more); or the recogniser hears the words, or the
sound is alike (under 0.8), and the model (whisper-base) loses no more than 6 nats by them; or something is heard there that the
text lacks, and the model gains 1.5 nats by the words and gives them 0.3 and more.

Measured as `refprep bench scores` does, on the speech pack with whisper-base. 97 clips of 14 readers (82 English, 12 German, 3
Swedish), each scored with its text against other clips of its reader: no leak is reported (which leaves up to 3.7 % possible, at
95 %). The last 1 to 4 words of the reference before or behind clips of 9 English readers, 0 to 0.3 s of silence between: 77 of 77
are found, 39 in front and 38 behind; 4 of them had been missed, for which the second kind of copy was added. Cuts lie within 20 ms
of the silence in all but two cases, within 100 ms in all. One and two words before a clip of a German reader: found. No leak
within whispered or acted speech was measured, none made by an engine, and no language beyond these.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import quote
from refprep.types import OutputEdge, OutputScore


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every edge with words of the reference."""
    for leak in score.leaks:
        if leak.edge is OutputEdge.HEAD:
            message = (
                f"it begins with {quote(leak.words)} of the reference; the text begins at {leak.cut_s:.2f} s"
            )
        else:
            message = (
                f"it ends with {quote(leak.words)} of the reference; the text ends at {leak.cut_s:.2f} s"
            )
        yield Hit(
            message=message,
            remedy=f"Cut at {leak.cut_s:.2f} s with --trim-leak, or synthesise it again.",
            span=leak.span,
            evidence={
                **leak.evidence,
                "words": leak.words,
                "edge": leak.edge.value,
                "cut_s": round(leak.cut_s, 3),
            },
        )


RULE = Rule(
    code="RP602",
    name="leaked-reference-words",
    summary="words of the reference stand at an edge of the output",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
