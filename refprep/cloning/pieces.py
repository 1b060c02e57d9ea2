"""A long text in pieces that a talker speaks in one breath."""

from __future__ import annotations

from collections.abc import Callable

from refprep.guard.budget import frame_budget
from refprep.text.sentences import split_clauses, split_sentences
from refprep.text.words import join_texts

PIECE_S = 15.0
"""A piece may be expected to take this long: models drift and run away more often in longer ones."""


def split_pieces(
    text: str, language: str, *, pace_per_s: float | None = None, piece_s: float = PIECE_S
) -> tuple[str, ...]:
    """Cut a text at sentences, a sentence that is too long at its clauses, a clause at its words.

    Args:
        text: Any length.
        language: BCP 47; empty when unknown.
        pace_per_s: Of the reference; None takes the ordinary pace.
        piece_s: Longest expected duration of a piece.

    Returns:
        Pieces in order; each is as long as fits.
    """

    def fits(piece: str) -> bool:
        return frame_budget(piece, language, pace_per_s=pace_per_s).expected_s <= piece_s

    atoms = [atom for sentence in split_sentences(text, language) for atom in _atoms(sentence, fits)]
    return tuple(_pack(atoms, fits))


def _atoms(sentence: str, fits: Callable[[str], bool]) -> list[str]:
    if fits(sentence):
        return [sentence]
    clauses = split_clauses(sentence)
    if len(clauses) > 1:
        packed = _pack(clauses, fits)
        return [atom for clause in packed for atom in ([clause] if fits(clause) else _by_words(clause, fits))]
    return _by_words(sentence, fits)


def _by_words(clause: str, fits: Callable[[str], bool]) -> list[str]:
    words = clause.split()
    if len(words) == 1:  # scripts without spaces, and words without end
        half = len(clause) // 2
        return (
            [clause]
            if half == 0 or fits(clause)
            else [*_by_words(clause[:half], fits), *_by_words(clause[half:], fits)]
        )
    return _pack(words, fits)


def _pack(atoms: list[str], fits: Callable[[str], bool]) -> list[str]:
    """Join neighbours while they fit."""
    pieces: list[str] = []
    for atom in atoms:
        if pieces and fits(joined := join_texts([pieces[-1], atom])):
            pieces[-1] = joined
        else:
            pieces.append(atom)
    return pieces
