"""How a clip is cut for the recogniser, and when it is not asked at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fakes import FakeAsr, noise_clip
from hypothesis import given
from spans_kit import disjoint_spans, is_sorted_and_disjoint

from refprep.pipeline.transcribe import MAX_INTERVAL_S, plan_intervals, transcribe_clip
from refprep.types import Origin, Span

LONG = disjoint_spans(min_spans=1, max_spans=40, max_length=120, max_gap=400)  # up to 15 s of speech a piece


@dataclass
class RecordingAsr(FakeAsr):
    """Remembers the intervals and the language it was given."""

    intervals: list[tuple[Span, ...]] = field(default_factory=list)
    languages: list[str | None] = field(default_factory=list)

    def transcribe(self, clip, intervals, *, language=None):
        self.intervals.append(tuple(intervals))
        self.languages.append(language)
        return super().transcribe(clip, intervals, language=language)


def holes(speech, intervals):
    """Seconds of speech in no interval."""
    return sum(s.duration_s - sum(s.overlap_s(i) for i in intervals) for s in speech)


@given(LONG)
def test_intervals_are_short_sorted_disjoint_and_hold_all_speech(speech):
    duration_s = speech[-1].end_s + 0.5
    intervals = plan_intervals(duration_s, speech)
    assert is_sorted_and_disjoint(intervals)
    assert all(0.0 < i.duration_s <= MAX_INTERVAL_S + 1e-9 for i in intervals)
    assert intervals[0].start_s >= 0.0
    assert intervals[-1].end_s <= duration_s
    assert holes(speech, intervals) < 1e-9
    assert all(any(i.overlap_s(s) > 0.0 for s in speech) for i in intervals)  # silence alone is not sent


@given(disjoint_spans(min_spans=1, max_spans=60, max_length=60, max_gap=160, min_gap=8))
def test_cuts_lie_in_pauses_where_there_are_any(speech):
    """Stretches of at most 7.5 s with pauses of a second and more: no cut may hit a word."""
    intervals = plan_intervals(speech[-1].end_s, speech)
    for cut_s in (t for i in intervals for t in (i.start_s, i.end_s)):
        assert not any(s.start_s < cut_s < s.end_s for s in speech)


def test_up_to_thirty_seconds_are_one_interval():
    assert plan_intervals(30.0, [Span(1.0, 2.0), Span(28.0, 29.0)]) == (Span(0.0, 30.0),)
    assert plan_intervals(30.001, [Span(1.0, 2.0), Span(28.0, 29.0)]) != (Span(0.0, 30.001),)


def test_long_silence_is_left_out():
    intervals = plan_intervals(100.0, [Span(10.0, 12.0), Span(80.0, 81.0)])
    assert intervals[0].start_s == 9.8
    assert sum(i.duration_s for i in intervals) < 40.0
    assert intervals[-1] == Span(79.8, 81.2)


def test_the_longest_late_pause_wins():
    speech = [Span(0.0, 5.0), Span(8.0, 20.0), Span(20.3, 24.0), Span(25.0, 40.0)]
    assert plan_intervals(40.0, speech)[0] == Span(0.0, 24.5)


def test_a_longer_late_pause_beats_a_later_one():
    speech = [Span(0.0, 20.0), Span(22.0, 26.0), Span(26.2, 40.0)]
    assert plan_intervals(40.0, speech)[0] == Span(0.0, 21.0)


def test_without_a_late_pause_the_last_one_is_taken():
    speech = [Span(0.0, 5.0), Span(8.0, 10.0), Span(10.5, 36.0)]
    assert plan_intervals(36.0, speech)[0] == Span(0.0, 10.25)


def test_speech_without_a_pause_is_cut_at_thirty_seconds_and_none_is_lost():
    intervals = plan_intervals(70.0, [Span(0.0, 70.0)])
    assert intervals == (Span(0.0, 30.0), Span(30.0, 60.0), Span(60.0, 70.0))


def test_silence_is_not_sent_to_the_recogniser():
    asr, clip = RecordingAsr(), noise_clip(2.0)
    transcript = transcribe_clip(clip, (), asr)
    assert asr.calls == []
    assert (transcript.text, transcript.words, transcript.language) == ("", (), "")
    assert transcript.language_probability == 0.0
    assert (transcript.origin, transcript.model) == (Origin.ASR, "fake-asr")
    named = transcribe_clip(clip, (), asr, language="de")
    assert (named.language, named.language_probability) == ("de", 1.0)


def test_speech_is_sent_in_the_planned_intervals():
    speech = (Span(0.5, 10.0), Span(40.0, 50.0))
    clip = noise_clip(60.0, sample_rate_hz=1000)
    said = [(f"w{k}", 1.0 + k, 2.0 + k) for k in range(9)]
    asr = RecordingAsr(
        {clip.id: [*said, ("dream", 25.0, 26.0), *[(f"x{k}", 40.0 + k, 41.0 + k) for k in range(10)]]}
    )
    transcript = transcribe_clip(clip, speech, asr, language="es-AR")
    assert asr.intervals == [plan_intervals(60.0, speech)]
    assert asr.languages == ["es-AR"]
    heard = [w.text for w in transcript.words]
    assert (heard[0], heard[-1], len(heard)) == (
        "w0",
        "x9",
        19,
    )  # what would be dreamt in silence is not heard


@dataclass
class SkippingAsr(RecordingAsr):
    """Asked about more than 5 s it passes over what is said from 2 to 6 s, and stretches the word before it."""

    def transcribe(self, clip, intervals, *, language=None):
        heard = super().transcribe(clip, intervals, language=language)
        if sum(i.duration_s for i in intervals) <= 5.0:
            return heard
        words = tuple(
            replace(w, span=Span(w.span.start_s, 6.0)) if w.span.end_s == 2.0 else w
            for w in heard.words
            if not 2.0 <= w.span.start_s < 6.0
        )
        return replace(heard, words=words, text=" ".join(w.text for w in words))


SAID = [
    (word, 0.5 * k, 0.5 * k + 0.5)
    for k, word in enumerate("a b c d e f g h i j k l m n o p q r s t".split(), start=1)
]


def test_speech_that_was_passed_over_is_asked_about_again():
    """Whisper passes over whole sentences that a pause sets apart, and a text without them looked complete."""
    speech = (Span(0.5, 10.5),)
    clip = noise_clip(11.0, sample_rate_hz=1000)
    asr = SkippingAsr({clip.id: SAID}, language="de")
    transcript = transcribe_clip(clip, speech, asr)
    assert transcript.text == "a b c d e f g h i j k l m n o p q r s t"
    assert [w.span for w in transcript.words] == sorted(w.span for w in transcript.words)
    assert asr.languages == [None, "de"]  # the second time it is not left to guess the language
    assert (len(asr.intervals), len(asr.intervals[1])) == (2, 1)
    assert asr.intervals[1][0].start_s <= 2.0
    assert asr.intervals[1][0].end_s >= 6.0


def test_nothing_is_asked_twice_where_words_fill_the_speech():
    clip = noise_clip(11.0, sample_rate_hz=1000)
    for said in (SAID, [("1984", 0.5, 3.3), ("looooooong", 3.4, 5.2), *SAID[9:]]):
        asr = RecordingAsr({clip.id: said})
        transcribe_clip(clip, (Span(0.5, 10.5),), asr)
        assert len(asr.intervals) == 1


def test_a_stretch_that_stays_silent_changes_nothing():
    """A laugh, or music: there is voice, and the recogniser has no words for it, asked twice."""
    clip = noise_clip(11.0, sample_rate_hz=1000)
    asr = RecordingAsr({clip.id: SAID[:8]})
    transcript = transcribe_clip(clip, (Span(0.5, 10.5),), asr)
    assert len(asr.intervals) == 2
    assert transcript.text == "a b c d e f g h"


def test_a_short_first_word_before_a_long_pause_does_not_move_the_cut_into_speech():
    """The pause begins within a second of the window's start, and is the only one there is."""
    speech = [Span(0.0, 0.5), Span(29.0, 34.0)]
    intervals = plan_intervals(35.0, speech)
    assert not any(s.start_s < i.end_s < s.end_s for i in intervals for s in speech)
