"""What the rules of text against audio (RP101-RP106) say of a fault."""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import Hit
from refprep.types import FaultKind, TextCheck, TextFault

_PLACES = {
    FaultKind.TAIL: ("the last", "", "Complete the text, or cut the audio at {start:.2f} s"),
    FaultKind.HEAD: ("the first", "", "Complete the text, or cut the audio before {end:.2f} s"),
    FaultKind.GAP: ("", " inside", "Insert the missing words"),
}
_SHOWN_LETTERS = 120


def quote(text: str) -> str:
    """A text in quotes, its middle left out where it is long."""
    if len(text) <= _SHOWN_LETTERS:
        return f'"{text}"'
    half = _SHOWN_LETTERS // 2
    return f'"{text[:half].rstrip()} ... {text[-half:].lstrip()}"'


def missing_hits(check: TextCheck, kind: FaultKind) -> Iterator[Hit]:
    """Words that are spoken and not written."""
    before, after, remedy = _PLACES[kind]
    for fault in _faults(check, kind):
        spoken_s = sum(s.overlap_s(fault.span) for s in check.coverage.speech)
        place = f"{before} {spoken_s:.2f} s of speech{after}".strip()
        yield Hit(
            message=f"{place} have no text: {quote(fault.words)} (coverage {check.coverage.ratio:.0%})",
            remedy=remedy.format(start=fault.span.start_s, end=fault.span.end_s) + ".",
            span=fault.span,
            evidence={
                **fault.evidence,
                "coverage": round(check.coverage.ratio, 4),
                "missing_text": fault.words,
            },
            suggested_text=check.suggested_text,
        )


def unspoken_hits(check: TextCheck, kind: FaultKind) -> Iterator[Hit]:
    """Words that are written and not spoken."""
    for fault in _faults(check, kind):
        count = fault.word_range[1] - fault.word_range[0]
        noun = "word" if count == 1 else "words"
        yield Hit(
            message=f"nobody says {quote(fault.words)} ({count} {noun})",
            remedy="Take the words out of the text, or use the whole recording.",
            span=fault.span,
            evidence={**fault.evidence, "unspoken_text": fault.words},
            suggested_text=check.suggested_text,
        )


def wrong_hits(check: TextCheck, kind: FaultKind) -> Iterator[Hit]:
    """Another clip's text."""
    for fault in _faults(check, kind):
        alike = float(fault.evidence["letter_similarity"])
        yield Hit(
            message=f"this is another text ({alike:.0%} of the letters agree): the audio says {quote(fault.words)}",
            remedy="Find the clip's own text.",
            span=fault.span,
            evidence=fault.evidence,
            suggested_text=check.suggested_text,
        )


def other_word_hits(check: TextCheck, kind: FaultKind) -> Iterator[Hit]:
    """One word in another's place."""
    for fault in _faults(check, kind):
        yield Hit(
            message=f'"{fault.evidence["written"]}" is written, "{fault.words}" is spoken',
            remedy="Correct the word, or listen: recognisers err on names.",
            span=fault.span,
            evidence=fault.evidence,
            suggested_text=check.suggested_text,
        )


def _faults(check: TextCheck, kind: FaultKind) -> Iterator[TextFault]:
    return (f for f in check.faults if f.kind is kind)
