"""RP608 long-non-speech.

## What it checks
How long nobody speaks: before the first speech, after the last, and in the longest pause.

## Why it matters
A model that misses its end goes on with room tone to the limit of its budget; delivered as success it is minutes long.

## Example
    out.wav:4.10s: RP608 error: 20.0 s without speech after the text (limit 2.5 s)

## How to fix
Cut there, and set a limit on frames (`refprep clone` stops by itself).

## Fix safety
There is no automatic fix.

## Threshold and its source
2.5 s at an edge, 3.5 s inside. Of 97 clips of the speech pack none has more than 1.22 s before, 0.64 s behind and 1.62 s inside
its speech. 20 s of room tone behind clips of three readers is found each time, and alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import OutputScore, Span

_EDGE_LIMIT_S = 2.5
_INNER_LIMIT_S = 3.5


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every long stretch without speech."""
    if not score.speech:
        return
    quality, end_s = score.quality, score.duration_s
    stretches = [
        ("before the text", Span(0.0, quality.leading_silence_s), _EDGE_LIMIT_S),
        ("after the text", Span(end_s - quality.trailing_silence_s, end_s), _EDGE_LIMIT_S),
    ]
    if quality.longest_inner_silence is not None:
        stretches.append(("inside", quality.longest_inner_silence, _INNER_LIMIT_S))
    for place, span, limit_s in stretches:
        if span.duration_s > limit_s:
            yield Hit(
                message=f"{span.duration_s:.1f} s without speech {place} (limit {limit_s:.1f} s)",
                remedy="Cut it out, or synthesise it again with a limit on frames.",
                span=span,
                evidence={"place": place, "seconds": round(span.duration_s, 3), "limit_s": limit_s},
            )


RULE = Rule(
    code="RP608",
    name="long-non-speech",
    summary="long sound or silence without speech before, inside or after the text",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
