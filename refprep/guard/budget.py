"""How long a text takes, by the pace of the reference, and when it has taken too long."""

from __future__ import annotations

import math
from dataclasses import dataclass

from refprep.dsp.pace import counts_characters, speech_units
from refprep.text.readings.word import readings
from refprep.text.words import split_words
from refprep.units import FRAME_RATE_HZ

MARGIN = 2.0
ALLOWANCE_S = 4.0
"""A text may take MARGIN times what the pace says, and ALLOWANCE_S more.

Measured on the speech pack: every clip of 30 speakers predicted from the pace of every other clip of the same speaker,
756 pairs. 99 % took at most twice the prediction and 0.1 s; the slowest (a reading that spells, predicted from a fluent
one) twice and 2.8 s. So no labelled clip would have been stopped.
"""

ORDINARY_PACE = 3.6
ORDINARY_CHARACTERS = 4.5
"""Syllables (characters for zh, ja, ko) a second, pauses counted, where no reference gives a pace: medians of the pack."""

SLOWEST_PACE, FASTEST_PACE = 1.2, 8.0
"""A reference outside of this says more about its text than about its speaker."""

_UNCOUNTED_LETTERS_PER_S = 10.0
"""Letters a second where syllables cannot be counted (Arabic, Hebrew, Thai)."""


@dataclass(frozen=True, slots=True)
class FrameBudget:
    """What a text may take.

    Attributes:
        expected_s: By the pace.
        max_s: Beyond it the synthesis is a runaway.
        pace_per_s: Units of speech a second that the expectation rests on.
        is_measured: Whether the pace is the reference's; otherwise it is the ordinary one.
    """

    expected_s: float
    max_s: float
    pace_per_s: float
    is_measured: bool

    @property
    def max_frames(self) -> int:
        """Frames in ``max_s``, rounded up."""
        return math.ceil(self.max_s * FRAME_RATE_HZ)


def reference_pace(text: str, duration_s: float, language: str) -> float | None:
    """Units of speech a second in a reference; None where its text cannot be counted.

    Args:
        text: Of the reference.
        duration_s: Of its clips, gaps and tail between and after them left out.
        language: BCP 47.
    """
    units = _most_units(text, language)
    if units is None or duration_s <= 0:
        return None
    return min(max(units / duration_s, SLOWEST_PACE), FASTEST_PACE)


def frame_budget(
    text: str, language: str, *, pace_per_s: float | None = None, margin: float = MARGIN
) -> FrameBudget:
    """What a text may take.

    Args:
        text: To be spoken; a number counts as its longest reading.
        language: BCP 47; empty when unknown.
        pace_per_s: Of the reference (``reference_pace``); None takes the ordinary pace.
        margin: Times the expectation; ``ALLOWANCE_S`` comes on top.
    """
    ordinary = ORDINARY_CHARACTERS if counts_characters(language) else ORDINARY_PACE
    units = _most_units(text, language)
    pace = ordinary if pace_per_s is None else pace_per_s
    if units is None:
        letters = sum(not c.isspace() for c in text)
        pace, units, pace_per_s = _UNCOUNTED_LETTERS_PER_S, max(1, letters), None
    expected = units / pace
    return FrameBudget(expected, margin * expected + ALLOWANCE_S, pace, pace_per_s is not None)


def _most_units(text: str, language: str) -> int | None:
    """Units of speech, words with digits counted at their longest reading."""
    spoken = [
        _longest(word, language) if any(c.isdigit() for c in word) else word for word in split_words(text)
    ]
    return speech_units(" ".join(spoken), language)


def _longest(word: str, language: str) -> str:
    return max((" ".join(r) for r in readings(word, language)), key=len, default=word)
