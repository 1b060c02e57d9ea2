"""Clip -> Transcript: one explicit interval for every decode, cut at pauses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from refprep.pipeline.recording import Recording
from refprep.protocols import Transcriber
from refprep.text.words import join_words
from refprep.types import Clip, Origin, Span, Transcript, Word

MAX_INTERVAL_S = 30.0  # Whisper's window
_TARGET_INTERVAL_S = 24.0  # leaves room to look for a pause before the window is full
_PASSED_OVER_S = 1.0  # of speech without words; breaths, laughs and hesitations stay below it
_EDGE_S = 0.2  # silence kept around a cut, so that no consonant is lost

_Hear = Callable[[Sequence[Span], str | None], Transcript]


def transcribe_clip(
    clip: Clip, speech: Sequence[Span], transcriber: Transcriber, *, language: str | None = None
) -> Transcript:
    """Write down everything that is said in a clip.

    Args:
        clip: Any length, any rate.
        speech: Voice activity of the clip: sorted, disjoint.
        transcriber: The recogniser.
        language: BCP 47; None detects it on the first interval.

    Returns:
        Words on the clip's clock. A clip without speech gives an empty transcript, and the recogniser, which would
        invent words for silence, is not asked. Where it passed over speech, which Whisper does with whole sentences that
        a pause sets apart, it is asked again about that stretch alone.
    """

    def hear(intervals: Sequence[Span], code: str | None) -> Transcript:
        return transcriber.transcribe(clip, intervals, language=code)

    return _write_down(hear, speech, clip.duration_s, transcriber.name, language)


def transcribe_recording(
    recording: Recording,
    speech: Sequence[Span],
    transcriber: Transcriber,
    *,
    language: str | None = None,
    on_time: Callable[[float], None] = lambda _: None,
) -> Transcript:
    """Write down everything that is said in a recording of hours, as ``transcribe_clip`` does.

    The recogniser is given one interval at a time, with a second around it: no more of the recording is in memory.

    Args:
        recording: Any length, any rate.
        speech: Voice activity of the recording: sorted, disjoint.
        transcriber: The recogniser.
        language: BCP 47; None detects it on the first interval.
        on_time: Told up to where it is written down, seconds.
    """
    hear = partial(_hear_piecewise, recording, transcriber, on_time)
    return _write_down(hear, speech, recording.duration_s, transcriber.name, language)


def _hear_piecewise(
    recording: Recording,
    transcriber: Transcriber,
    on_time: Callable[[float], None],
    intervals: Sequence[Span],
    language: str | None,
) -> Transcript:
    words: list[Word] = []
    code, probability = language or "", 1.0 if language else 0.0
    for interval in intervals:
        clip, offset_s = recording.around(interval)
        near = Span(max(0.0, interval.start_s - offset_s), min(interval.end_s - offset_s, clip.duration_s))
        heard = transcriber.transcribe(clip, [near], language=code or None)
        if not code:
            code, probability = heard.language, heard.language_probability
        words += [
            replace(w, span=Span(w.span.start_s + offset_s, w.span.end_s + offset_s)) for w in heard.words
        ]
        on_time(interval.end_s)
    text = join_words(w.text for w in words)
    return Transcript(text, code, probability, tuple(words), Origin.ASR, transcriber.name)


def _write_down(
    hear: _Hear, speech: Sequence[Span], duration_s: float, model: str, language: str | None
) -> Transcript:
    if not speech:
        return Transcript("", language or "", 1.0 if language else 0.0, (), Origin.ASR, model)
    heard = hear(plan_intervals(duration_s, speech), language)
    for stretch in _passed_over(heard.words, speech, duration_s):
        again = hear([stretch], heard.language or None)
        within = [w for w in heard.words if stretch.start_s <= _middle_s(w.span) < stretch.end_s]
        if len(again.words) > len(within):
            words = [w for w in heard.words if w not in within]
            words += again.words
            words.sort(key=lambda w: w.span)
            heard = replace(heard, words=tuple(words), text=join_words(w.text for w in words))
    return heard


def _passed_over(words: Sequence[Word], speech: Sequence[Span], duration_s: float) -> list[Span]:
    """Stretches with speech that the words between them cannot fill, from one well-placed word to the next.

    A word that is placed over more speech than it takes to say it is no witness of that speech.
    """
    placed = [w for w in words if _speech_within(w.span, speech) <= _longest_s(w.text)]
    edges = [0.0, *(t for w in placed for t in (w.span.start_s, w.span.end_s)), duration_s]
    found: list[Span] = []
    for start_s, end_s in zip(edges[::2], edges[1::2], strict=True):
        if end_s <= start_s or _speech_within(Span(start_s, end_s), speech) < _PASSED_OVER_S:
            continue
        inside = _overlapping(Span(start_s, end_s), speech)
        begin_s = max(start_s, inside[0].start_s - _EDGE_S)
        finish_s = min(end_s, inside[-1].end_s + _EDGE_S)
        found.append(Span(begin_s, min(finish_s, begin_s + MAX_INTERVAL_S)))
    return found


def _speech_within(span: Span, speech: Sequence[Span]) -> float:
    return sum(s.overlap_s(span) for s in _overlapping(span, speech))


def _overlapping(span: Span, speech: Sequence[Span]) -> Sequence[Span]:
    """The stretches of speech that a span reaches into: found by bisection, as hours have thousands."""
    first = bisect_right(speech, span.start_s, key=lambda s: s.end_s)
    stop = first
    while stop < len(speech) and speech[stop].start_s < span.end_s:
        stop += 1
    return speech[first:stop]


def _longest_s(word: str) -> float:
    """Longest time that a word plausibly takes: a slow, drawn out one; a number may be read digit by digit."""
    digits = sum(ch.isdigit() for ch in word)
    return 1.0 + 0.1 * (len(word) - digits) + 0.6 * digits


def plan_intervals(duration_s: float, speech: Sequence[Span]) -> tuple[Span, ...]:
    """Cut a clip into intervals of at most 30 s that together hold all its speech.

    A clip of up to 30 s is one interval. A longer one is cut in the middle of pauses: of those that begin within the
    window, the longest in its last quarter, else the last one; speech without a pause for 30 s is cut at 30 s.

    Args:
        duration_s: Of the clip.
        speech: Voice activity: sorted, disjoint, not empty.

    Returns:
        Sorted, disjoint intervals.
    """
    if duration_s <= MAX_INTERVAL_S:
        return (Span(0.0, duration_s),)
    pauses = [Span(a.end_s, b.start_s) for a, b in pairwise(speech)]
    intervals: list[Span] = []
    start_s = max(0.0, speech[0].start_s - _EDGE_S)
    end_s = min(duration_s, speech[-1].end_s + _EDGE_S)
    while end_s - start_s > MAX_INTERVAL_S:
        within = [p for p in pauses if start_s < _middle_s(p) and _middle_s(p) <= start_s + MAX_INTERVAL_S]
        late = [p for p in within if p.start_s >= start_s + _TARGET_INTERVAL_S * 0.75]
        if late:
            cut_s = _middle_s(max(late, key=lambda p: p.duration_s))
        elif within:
            cut_s = _middle_s(within[-1])
        else:
            cut_s = start_s + MAX_INTERVAL_S
        intervals.append(Span(start_s, cut_s))
        # Leave long silence out: the recogniser would fill it with words.
        following = [s.start_s for s in speech if s.end_s > cut_s]
        start_s = max(cut_s, following[0] - _EDGE_S) if following else end_s
    if end_s > start_s:
        intervals.append(Span(start_s, end_s))
    return tuple(intervals)


def _middle_s(span: Span) -> float:
    return (span.start_s + span.end_s) / 2
