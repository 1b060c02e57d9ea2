"""What a text says, as units whose number tells how varied it is."""

from __future__ import annotations

from refprep.text.normalise import fold
from refprep.text.words import is_spaceless, split_words

_EDGE = " "


def text_ngrams(text: str) -> frozenset[str]:
    """The distinct letter pairs of a text; for scripts without spaces, its distinct characters.

    Letter pairs, those with the edge of a word among them, stand in for the transitions between sounds that a voice is
    put together from (diphones); a character of Chinese or kana is a syllable or a mora of its own. Single letters run
    out within 12 s (24 of 26), and letter triples count little but the letters: hardly two clips share one.
    """
    units: set[str] = set()
    for written in split_words(text):
        word = fold(written)
        if word and is_spaceless(word[0]):
            units.update(word)
        elif word:
            edged = f"{_EDGE}{word}{_EDGE}"
            units.update(edged[k : k + 2] for k in range(len(edged) - 1))
    return frozenset(units)
