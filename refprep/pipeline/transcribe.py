"""Clip -> Transcript: one explicit interval for every decode, cut at pauses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from refprep.protocols import Transcriber
from refprep.text.words import join_words
from refprep.types import Clip, Origin, Span, Transcript, Word

MAX_INTERVAL_S = 30.0  # Whisper's window
_TARGET_INTERVAL_S = 24.0  # leaves room to look for a pause before the window is full
_PASSED_OVER_S = 1.0  # of speech without words; breaths, laughs and hesitations stay below it
_EDGE_S = 0.2  # silence kept around a cut, so that no consonant is lost


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
    if not speech:
        return Transcript("", language or "", 1.0 if language else 0.0, (), Origin.ASR, transcriber.name)
    heard = transcriber.transcribe(clip, plan_intervals(clip.duration_s, speech), language=language)
    for stretch in _passed_over(heard.words, speech, clip.duration_s):
        again = transcriber.transcribe(clip, [stretch], language=heard.language or None)
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
        inside = [s for s in speech if s.end_s > start_s and s.start_s < end_s]
        begin_s = max(start_s, inside[0].start_s - _EDGE_S)
        finish_s = min(end_s, inside[-1].end_s + _EDGE_S)
        found.append(Span(begin_s, min(finish_s, begin_s + MAX_INTERVAL_S)))
    return found


def _speech_within(span: Span, speech: Sequence[Span]) -> float:
    return sum(s.overlap_s(span) for s in speech)


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
