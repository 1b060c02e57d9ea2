"""Where a stretch of words lies, by what the aligner and voice activity know of it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from fakes import spoken, voiced_clip
from hypothesis import given
from hypothesis import strategies as st

from refprep.pipeline.edges import speech_edges
from refprep.pipeline.place import place_words
from refprep.types import Span

SAID = [("It", 0.2, 0.5), ("was", 0.5, 1.0), ("then", 1.0, 2.4), ("again", 2.4, 3.0)]


@pytest.mark.parametrize(
    ("speech", "expected"),
    [
        ([(0.2, 3.0)], 1.0),  # no pause: where the aligner parts the words
        ([(0.2, 0.9), (1.9, 3.0)], 0.9),  # the aligner lets "was" last into the pause
        ([(0.2, 0.7), (0.75, 0.9), (1.6, 3.0)], 0.9),  # of two pauses the longer one
        ([(0.2, 0.6), (2.3, 3.0)], 0.6),  # the pause is longer than half of the word
        ([(0.2, 2.45), (2.9, 3.0)], 1.0),  # a pause behind it is another matter
    ],
)
def test_a_stretch_begins_where_the_word_before_it_ends(speech, expected):
    spans = [Span(a, b) for a, b in speech]
    assert place_words(spoken(SAID), 2, 4, spans) == Span(expected, 3.0)


def test_the_first_words_begin_with_the_speech_and_end_where_the_next_one_begins():
    speech = [Span(0.1, 0.9), Span(1.9, 3.0)]
    assert place_words(spoken(SAID), 0, 2, speech) == Span(0.1, 1.9)
    assert place_words(spoken(SAID), 1, 2, speech) == Span(0.5, 1.9)
    assert place_words(spoken(SAID), 0, 4, speech) == Span(0.1, 3.0)


@given(
    st.integers(0, 3), st.integers(1, 4), st.lists(st.integers(0, 35), min_size=2, max_size=8, unique=True)
)
def test_a_stretch_is_never_inside_out(first, last, cuts):
    edges = sorted(cuts)[: len(cuts) // 2 * 2]
    speech = [Span(a / 10, b / 10) for a, b in zip(edges[::2], edges[1::2], strict=True)]
    if first < last:
        span = place_words(spoken(SAID), first, last, speech)
        assert 0.0 <= span.start_s <= span.end_s


def test_edges_are_finer_than_voice_activity():
    """It hears one stretch, with edges off by 50 ms, where there are two."""
    clip = voiced_clip(3.0, [Span(0.5, 1.2), Span(1.35, 2.0)], sample_rate_hz=16_000)
    first, *_, last = found = speech_edges(clip, [Span(0.45, 2.05)])
    assert (first.start_s, last.end_s) == pytest.approx((0.5, 2.0), abs=0.011)
    assert any(
        a.end_s == pytest.approx(1.2, abs=0.011) and b.start_s == pytest.approx(1.35, abs=0.011)
        for a, b in pairwise(found)
    )
    assert speech_edges(clip, ()) == ()
