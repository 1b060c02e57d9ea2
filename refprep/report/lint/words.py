"""A checked text as pieces: the words as written, what nobody says struck out, what is missing put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from refprep.text.words import join_words, split_words
from refprep.types import FaultKind, Span, TextCheck, TextFault


@dataclass(frozen=True, slots=True)
class Piece:
    """A word as written, or a run of words that the text lacks.

    Attributes:
        text: To be shown.
        mark: ``kept``; ``struck``: written, not said; ``put``: said, not written.
        span: What to play; None where it has no place in the audio.
        index: Of a written word, among the text's words; None for what is put in.
        has_space: A space stands before it.
    """

    text: str
    mark: Literal["kept", "struck", "put"]
    span: Span | None
    index: int | None
    has_space: bool


def text_pieces(check: TextCheck) -> list[list[Piece]]:
    """The text with its faults marked, in runs of one mark.

    Args:
        check: Its faults say which words are struck out and where the missing ones belong; as in
            ``suggested_text``, a misheard word beside missing ones stays as the user wrote it.
    """
    words = split_words(check.given.text)
    struck: set[int] = set()
    put: dict[int, list[tuple[str, Span]]] = {}
    for fault in check.faults:
        first, last = fault.word_range
        said = _said_instead(fault)
        if fault.instead or fault.kind in (FaultKind.UNSPOKEN, FaultKind.OTHER_WORD, FaultKind.WRONG_TEXT):
            struck.update(range(first, last))
        if said:
            put.setdefault(last, []).append((said, fault.span))
    places = word_places(check, len(words))
    runs: list[list[Piece]] = []
    before = ""

    def add(text: str, mark: Literal["kept", "struck", "put"], span: Span | None, index: int | None) -> None:
        nonlocal before
        has_space = bool(before) and join_words((before, text)) != before + text
        before = text
        piece = Piece(text, mark, span, index, has_space)
        if runs and mark != "put" and runs[-1][-1].mark == mark:
            runs[-1].append(piece)
        else:
            runs.append([piece])

    for index in range(len(words) + 1):
        for text, span in put.get(index, ()):
            add(text, "put", span, None)
        if index < len(words):
            add(words[index], "struck" if index in struck else "kept", places.get(index), index)
    return runs


def word_places(check: TextCheck, num_words: int) -> Mapping[int, Span]:
    """Index -> where the word lies, for the words that have a place in the audio."""
    aligned = check.alignment.words
    if len(aligned) != num_words:
        return {}
    unspoken = set(check.coverage.unspoken)
    return {k: w.span for k, w in enumerate(aligned) if k not in unspoken and w.span.duration_s > 0.0}


def words_without_place(check: TextCheck) -> Sequence[str]:
    """Words that the aligner found no place for, in the order of the text."""
    aligned = check.alignment.words
    placed = word_places(check, len(aligned))
    return [w.text for k, w in enumerate(aligned) if k not in placed]


def _said_instead(fault: TextFault) -> str:
    """What is heard at the fault's place and not written there."""
    return fault.instead if fault.kind is FaultKind.UNSPOKEN else fault.instead or fault.words
