"""What decides at an edge: a last word that nobody says, a sound that is a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from fakes import FakeAsr, noise_clip, spoken
from score_values import CHECK

from refprep.scoring.echo import Echo
from refprep.scoring.leak import is_copy
from refprep.scoring.words import score_text
from refprep.types import Clip, Span, TextCheck, Word, WordsFault

CLIP = noise_clip(3.4)


@dataclass
class Expecting(FakeAsr):
    """Ends with the text less its last word, so probably."""

    end: float = 0.0

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        del clip, text, language
        return self.end

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        del clip, text, language
        return 0.0


def check(probability: float, *, heard: bool) -> TextCheck:
    words = CHECK.alignment.words
    last = replace(words[-1], probability=probability)
    said: tuple[Word, ...] = words if heard else words[:-1]
    return replace(
        CHECK,
        alignment=replace(CHECK.alignment, words=(*words[:-1], last)),
        heard=replace(CHECK.heard, words=spoken([(w.text, w.span.start_s, w.span.end_s) for w in said])),
    )


@pytest.mark.parametrize(
    ("probability", "end", "heard", "lost"),
    [
        (0.3, 0.9, False, True),  # the speech surely ends
        (0.002, 0.21, False, True),  # "you thought me so": it might go on, but not with "silly"
        (0.03, 0.2, False, True),  # "said to him, What": not with "thee"
        (0.3, 0.2, False, False),  # a word that the recogniser wrote its own way
        (0.002, 0.004, False, False),  # nothing is expected: neither end nor word
        (0.002, 0.21, True, False),  # heard, with a length
        (0.9, 0.2, False, False),
    ],
)
def test_a_last_word_is_lost_where_the_end_is_likelier_than_it(probability, end, heard, lost):
    score = score_text(check(probability, heard=heard), CLIP, Expecting(end=end), language="en")
    found = [f.words for f in score.of(WordsFault.MISSING)]
    assert found == (["river"] if lost else [])


@pytest.mark.parametrize(
    ("distance", "gain", "copied"),
    [
        (0.0, 6.5, True),
        (0.576, 104.3, True),  # "for her brother Bob", half a frame off: the recogniser heard nothing
        (0.578, 54.9, True),  # "Bob", likewise
        (0.56, 9.6, False),  # the nearest edge of a clip that copies nothing
        (0.916, 13.4, False),  # the longest such edge
        (0.9, 60.0, False),
    ],
)
def test_a_copy_is_near_or_long(distance, gain, copied):
    assert is_copy(Echo(gain, distance, Span(0.0, 1.0), Span(0.0, 1.0))) is copied
