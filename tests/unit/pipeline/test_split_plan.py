"""Where a recording is cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from spans_kit import disjoint_spans, is_sorted_and_disjoint

from refprep.pipeline.split import SplitLimits, plan_utterances
from refprep.types import Span, Word

SPEECH = disjoint_spans(min_spans=1, max_spans=25, max_length=60, max_gap=16)
ENDINGS = st.lists(st.sampled_from(["", "", ",", ".", "?"]), min_size=25, max_size=25)
LIMITS = SplitLimits()


def words_of(speech, endings) -> tuple[Word, ...]:
    """One word a stretch, punctuated as told."""
    return tuple(Word(f"word{e}", s, 0.9) for s, e in zip(speech, endings, strict=False))


def limits():
    return st.builds(
        lambda low, more, pause, edge: SplitLimits(low / 8, (low + more) / 8, pause / 8, edge / 8),
        st.integers(1, 24), st.integers(16, 120), st.integers(1, 6), st.integers(0, 4),
    )  # fmt: skip


@settings(max_examples=200)
@given(SPEECH, ENDINGS, limits(), st.integers(0, 16))
def test_utterances_are_sorted_disjoint_within_limits_and_cut_in_pauses(speech, endings, bounds, rest):
    duration_s = speech[-1].end_s + rest / 8
    spans = plan_utterances(speech, words_of(speech, endings), duration_s, bounds)
    assert is_sorted_and_disjoint(spans)
    for span in spans:
        assert bounds.min_s <= span.duration_s <= bounds.max_s
        assert 0.0 <= span.start_s
        assert span.end_s <= duration_s
        assert not any(s.start_s < t < s.end_s for s in speech for t in (span.start_s, span.end_s))
        inside = [s for s in speech if s.start_s >= span.start_s and s.end_s <= span.end_s]
        assert inside
        assert inside[0].start_s - span.start_s <= bounds.edge_s
        assert span.end_s - inside[-1].end_s <= bounds.edge_s
    # Cuts lie in pauses that are long enough.
    for a, b in pairwise(speech):
        if b.start_s - a.end_s < bounds.min_pause_s:
            assert all(
                (s.start_s <= a.start_s) == (s.start_s <= b.start_s) for s in spans if s.end_s > a.start_s
            )


def test_all_speech_is_kept_where_every_piece_fits():
    speech = [Span(4.0 * k, 4.0 * k + 3.0) for k in range(10)]
    spans = plan_utterances(speech, words_of(speech, ["."] * 10), 41.0, LIMITS)
    assert len(spans) == 10
    assert all(any(u.start_s <= s.start_s and s.end_s <= u.end_s for u in spans) for s in speech)


def test_a_sentence_end_beats_a_longer_pause():
    speech = [Span(0.0, 6.0), Span(6.5, 9.0), Span(10.5, 17.0)]
    spans = plan_utterances(speech, words_of(speech, [".", "", "."]), 17.0, LIMITS)
    assert [round(s.start_s, 3) for s in spans] == [0.0, 6.3]


def test_a_clause_end_beats_a_longer_pause_and_loses_to_a_sentence():
    speech = [Span(0.0, 6.0), Span(6.5, 9.0), Span(10.5, 17.0)]
    spans = plan_utterances(speech, words_of(speech, [",", "", ""]), 17.0, LIMITS)
    assert [round(s.start_s, 3) for s in spans] == [0.0, 6.3]
    spans = plan_utterances(speech, words_of(speech, [",", ".", ""]), 17.0, LIMITS)
    assert [round(s.start_s, 3) for s in spans] == [0.0, 10.3]


def test_among_equals_the_longer_pause_wins():
    speech = [Span(0.0, 6.0), Span(6.5, 9.0), Span(10.5, 17.0)]
    spans = plan_utterances(speech, words_of(speech, ["", "", ""]), 17.0, LIMITS)
    assert [round(s.start_s, 3) for s in spans] == [0.0, 10.3]


def test_a_short_recording_without_a_sentence_end_is_one_utterance():
    speech = [Span(0.5, 3.0), Span(3.5, 6.0)]
    assert plan_utterances(speech, words_of(speech, [",", "."]), 7.0, LIMITS) == [Span(0.3, 6.2)]


def test_a_pause_below_the_limit_is_no_place_to_cut():
    speech = [Span(0.0, 8.0), Span(8.2, 16.0)]
    assert plan_utterances(speech, words_of(speech, [".", "."]), 16.0, LIMITS) == []


def test_a_stretch_too_long_to_be_cut_is_left_out():
    speech = [Span(0.0, 3.0), Span(4.0, 30.0)]
    assert plan_utterances(speech, words_of(speech, [".", "."]), 30.0, LIMITS) == [Span(0.0, 3.2)]


def test_the_edges_of_a_narrow_pause_are_shared():
    speech = [Span(0.0, 3.0), Span(3.25, 6.0)]
    spans = plan_utterances(speech, words_of(speech, [".", "."]), 6.0, LIMITS)
    assert spans == [Span(0.0, 3.125), Span(3.125, 6.0)]
