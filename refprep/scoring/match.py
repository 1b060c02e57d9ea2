"""Heard words -> the stretch of a text that they are, if they are one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from refprep.text.normalise import fold
from refprep.text.readings import readings

SAME_WORDS = 0.75
"""Letters alike of a stretch that a recogniser writes its own way: "mouse" for "mouth" reaches 0.67, "been a shopboy" for
"a shop boy" 0.82."""


@dataclass(frozen=True, slots=True)
class Match:
    """A stretch of words, half-open, and how alike its letters are, 0-1."""

    first: int
    last: int
    similarity: float


def letters(words: Sequence[str], language: str) -> str:
    """Words as the letters that are spoken, numbers in their plainest reading."""
    return "".join(fold(token) for word in words for token in readings(word, language)[0])


def best_match(heard: Sequence[str], text: Sequence[str], language: str) -> Match | None:
    """The stretch of a text that is most like some heard words; of equals the last one.

    Args:
        heard: Words of a recogniser.
        text: Written words.
        language: BCP 47, of both.

    Returns:
        None where one side has no letters.
    """
    said = letters(heard, language)
    written = [letters([w], language) for w in text]
    if not said or not any(written):
        return None
    best: Match | None = None
    spread = max(1, len(heard) // 3)
    for size in range(max(1, len(heard) - spread), len(heard) + spread + 1):
        for first in range(len(text) - size + 1):
            there = "".join(written[first : first + size])
            similarity = float(Indel.normalized_similarity(said, there))
            if (
                best is None
                or similarity > best.similarity
                or (similarity == best.similarity and first > best.first)
            ):
                best = Match(first, first + size, similarity)
    return best


def is_beginning(words: Sequence[str], text: Sequence[str], language: str) -> bool:
    """A text begins with these words."""
    said, there = letters(words, language), letters(text[: len(words)], language)
    return bool(said) and float(Indel.normalized_similarity(said, there)) >= SAME_WORDS


def is_ending(words: Sequence[str], text: Sequence[str], language: str) -> bool:
    """A text ends with these words."""
    said, there = letters(words, language), letters(text[-len(words) :], language)
    return bool(said) and float(Indel.normalized_similarity(said, there)) >= SAME_WORDS
