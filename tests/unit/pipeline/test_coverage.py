"""Speech against aligned words: checked cell by cell against a set model."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spans_kit import GRID_S, aligned, cells, disjoint_spans, is_sorted_and_disjoint

from refprep.pipeline.coverage import IGNORED_S, is_unspoken, measure_coverage
from refprep.types import Alignment, Span, Word

COARSE_S = 1.0  # longer than IGNORED_S: nothing is left out
BRIDGES = st.integers(0, 6)


def spans_of(max_spans: int = 6):
    return disjoint_spans(max_spans=max_spans, max_length=5, max_gap=5, grid_s=COARSE_S)


@given(speech=disjoint_spans(), words=disjoint_spans(), bridge=st.integers(0, 20))
def test_more_words_never_cover_less(speech, words, bridge):
    bridge_s = bridge * GRID_S
    fewer = measure_coverage(speech, aligned(words[::2]), bridge_s=bridge_s)
    more = measure_coverage(speech, aligned(words), bridge_s=bridge_s)
    assert more.ratio >= fewer.ratio - 1e-9
    assert cells(more.uncovered) <= cells(fewer.uncovered)


@given(speech=disjoint_spans(), words=disjoint_spans(), short=st.integers(0, 20), longer=st.integers(0, 20))
def test_a_longer_bridge_never_covers_less(speech, words, short, longer):
    low, high = sorted((short * GRID_S, longer * GRID_S))
    one = measure_coverage(speech, aligned(words), bridge_s=low)
    other = measure_coverage(speech, aligned(words), bridge_s=high)
    assert other.ratio >= one.ratio - 1e-9


@given(speech=disjoint_spans(), words=disjoint_spans(), missing=disjoint_spans(max_spans=3))
def test_uncovered_is_sorted_disjoint_and_speech(speech, words, missing):
    found = measure_coverage(speech, aligned(words), bridge_s=0.25, missing=missing)
    assert is_sorted_and_disjoint(found.uncovered)
    assert cells(found.uncovered) <= cells(speech)
    assert 0.0 <= found.ratio <= 1.0
    assert 0.0 <= found.head_gap_s <= found.speech_s
    assert 0.0 <= found.tail_gap_s <= found.speech_s
    assert found.speech == tuple(speech)
    assert all(
        u.duration_s >= IGNORED_S or any(u.overlap_s(m) > 0.0 for m in missing) for u in found.uncovered
    )


@given(speech=spans_of(), words=spans_of(), missing=spans_of(3), bridge=BRIDGES)
def test_every_second_is_judged_as_the_set_model_says(speech, words, missing, bridge):
    covered = cells(words, COARSE_S)
    for a, b in pairwise(words):
        if b.start_s - a.end_s <= bridge:
            covered |= cells([Span(a.end_s, b.start_s)], COARSE_S)
    covered -= cells(missing, COARSE_S)
    spoken = cells(speech, COARSE_S)
    found = measure_coverage(speech, aligned(words), bridge_s=float(bridge), missing=missing)
    assert cells(found.uncovered, COARSE_S) == spoken - covered
    assert found.head_gap_s == (sum(k < min(covered) for k in spoken) if covered else 0)
    assert found.tail_gap_s == (sum(k > max(covered) for k in spoken) if covered else len(spoken))
    assert found.ratio == pytest.approx(
        1.0 - len(spoken - covered) / len(spoken) if spoken else 1.0, abs=1e-12
    )


@given(speech=disjoint_spans(min_spans=1), words=disjoint_spans(), missing=disjoint_spans(max_spans=3))
def test_missing_spans_stay_uncovered(speech, words, missing):
    found = measure_coverage(speech, aligned(words), bridge_s=10.0, missing=missing)
    assert cells(missing) & cells(speech) <= cells(found.uncovered)


def test_a_word_stretched_over_a_missing_tail_does_not_cover_it():
    speech, stretched = [Span(0.0, 6.0)], aligned([Span(0.0, 2.0), Span(2.0, 6.0)])
    assert measure_coverage(speech, stretched, bridge_s=0.5).ratio == 1.0
    found = measure_coverage(speech, stretched, bridge_s=0.5, missing=[Span(3.0, 6.0)])
    assert found.uncovered == (Span(3.0, 6.0),)
    assert found.ratio == 0.5
    assert found.tail_gap_s == 3.0


def test_a_short_missing_word_counts_and_a_short_breath_does_not():
    speech, words = [Span(0.0, 2.25)], aligned([Span(0.0, 2.0)])
    assert measure_coverage(speech, words, bridge_s=0.5).uncovered == ()
    found = measure_coverage(speech, words, bridge_s=0.5, missing=[Span(2.0, 2.25)])
    assert found.uncovered == (Span(2.0, 2.25),)


@pytest.mark.parametrize(("end_s", "is_kept"), [(2.59, False), (2.61, True)])
def test_uncovered_stretches_count_from_the_ignored_length_on(end_s, is_kept):
    found = measure_coverage([Span(0.0, end_s)], aligned([Span(0.0, 2.0)]), bridge_s=0.5)
    assert bool(found.uncovered) == is_kept
    assert found.tail_gap_s == pytest.approx(end_s - 2.0)  # the gap is whole either way


def test_unspoken_words_are_named_and_cover_nothing():
    squeezed = Word("never", Span(3.0, 3.02), 0.05)
    words = (Word("said", Span(0.0, 1.0), 0.9), squeezed, Word("too", Span(1.0, 2.0), 0.9))
    found = measure_coverage([Span(0.0, 4.0)], Alignment(words, "fake"), bridge_s=5.0)
    assert found.unspoken == (1,)
    assert found.uncovered == (Span(2.0, 4.0),)


@pytest.mark.parametrize(
    ("probability", "length_s", "expected"),
    [
        (0.05, 0.0, True),
        (0.05, 0.02, True),
        (0.05, 0.5, False),
        (0.9, 0.0, False),
        (0.1, 0.0, False),
        (0.05, 0.03, False),
    ],
)
def test_unspoken_needs_neither_time_nor_probability(probability, length_s, expected):
    assert is_unspoken(Word("x", Span(0.0, length_s), probability)) is expected


def test_a_probable_word_of_no_length_covers_nothing_and_is_not_unspoken():
    found = measure_coverage([Span(0.0, 2.0)], aligned([Span(1.0, 1.0)]), bridge_s=0.0)
    assert found.unspoken == ()
    assert found.uncovered == (Span(0.0, 2.0),)
    assert found.tail_gap_s == 2.0


@pytest.mark.parametrize(("bridge_s", "uncovered"), [(0.5, ()), (0.4375, (Span(1.0, 1.5),))])
def test_pauses_up_to_the_bridge_are_covered(bridge_s, uncovered):
    words = aligned([Span(0.0, 1.0), Span(1.5, 2.0)])
    assert measure_coverage([Span(0.0, 2.0)], words, bridge_s=bridge_s, ignore_s=0.0).uncovered == uncovered


def test_overlapping_words_cover_their_union():
    words = aligned([Span(0.0, 3.0), Span(0.5, 1.0), Span(2.5, 4.0)])
    assert measure_coverage([Span(0.0, 5.0)], words, bridge_s=0.0).uncovered == (Span(4.0, 5.0),)


def test_head_and_tail_gaps_count_speech_alone():
    speech = [Span(1.0, 2.0), Span(3.0, 6.0), Span(8.0, 9.0)]
    found = measure_coverage(speech, aligned([Span(4.0, 5.0)]), bridge_s=0.0)
    assert (found.head_gap_s, found.tail_gap_s) == (2.0, 2.0)


def test_no_speech_is_covered_whatever_the_text():
    assert measure_coverage([], aligned([Span(0.0, 1.0)]), bridge_s=0.0).ratio == 1.0
    assert measure_coverage([], aligned([]), bridge_s=0.0).tail_gap_s == 0.0


def test_no_words_leave_all_speech_uncovered():
    found = measure_coverage([Span(0.0, 2.0)], aligned([]), bridge_s=0.0)
    assert (found.ratio, found.tail_gap_s, found.head_gap_s) == (0.0, 2.0, 0.0)
