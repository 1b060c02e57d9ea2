"""Where a clip may be cut, and the words that are left: in pauses of the voice, never within a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from refprep.dsp.silence import refine_edges
from refprep.pipeline.coverage import is_unspoken
from refprep.text.compare import compare
from refprep.text.words import join_words, split_words
from refprep.types import Clip, QualityReport, Span, TextCheck

EDGE_S = 0.2  # kept of a pause at most, as `refprep split` keeps it
MIN_PAUSE_S = 0.2  # closures of stops, which are inside words, last half of it
MIN_LEFT_S = 1.0  # of speech; less is no clip to clone from (``BuildConfig.min_clip_s``)
_SLACK_S = 0.35  # aligners and recognisers place the edges of words to about this
_MOST_CUTS = 3  # pauses that are tried, the one that keeps most first


def refined_voice(clip: Clip, speech: Sequence[Span], quality: QualityReport) -> tuple[Span, ...]:
    """Voice activity with the edges where its energy starts and stops, as the clip's quality was measured."""
    return refine_edges(
        clip.samples - np.float32(quality.dc_offset),
        clip.sample_rate_hz,
        speech,
        speech_level_dbfs=quality.speech_level_dbfs,
        noise_level_dbfs=quality.noise_level_dbfs,
    )


class WordTimes:
    """When each written word is spoken.

    Where the recogniser heard the word its time is taken: the aligner stretches the last word of a text over the speech
    that follows it.

    Args:
        check: Text against audio.
    """

    def __init__(self, check: TextCheck) -> None:
        self.words = split_words(check.given.text)
        placed = check.alignment.words
        self.is_known = bool(self.words) and len(placed) == len(self.words)
        heard = check.heard.words
        language = check.given.language or check.heard.language
        pairs = dict(compare(self.words, [w.text for w in heard], language).pairs) if self.is_known else {}
        spans = [heard[pairs[k]].span if k in pairs else w.span for k, w in enumerate(placed)]
        self._middles_s = [(s.start_s + s.end_s) / 2 for s in spans]
        self.end_s = max(
            (s.end_s for k, s in enumerate(spans) if k in pairs or not is_unspoken(placed[k])), default=0.0
        )

    def num_before(self, time_s: float) -> int:
        """How many words of the text are spoken before a time."""
        return next((k for k, m in enumerate(self._middles_s) if m >= time_s), len(self._middles_s))


def tail_cuts(
    voice: Sequence[Span], times: WordTimes | None, *, uncovered_from_s: float
) -> Iterator[tuple[Span, str | None]]:
    """Cuts that take away the end of a clip.

    Args:
        voice: Refined voice activity: sorted, disjoint.
        times: Of the text's words; None for a clip without text.
        uncovered_from_s: Where the speech begins that must go.

    Yields:
        (what stays of the audio, what stays of the text), the cut that keeps most first.
    """
    pauses = [p for p in _pauses(voice) if p.start_s <= uncovered_from_s + _SLACK_S]
    for pause in pauses[::-1][:_MOST_CUTS]:
        if sum(v.duration_s for v in voice if v.end_s <= pause.start_s) < MIN_LEFT_S:
            return
        keep = Span(0.0, pause.start_s + min(EDGE_S, pause.duration_s / 2))
        yield from _with_words(
            keep, times, slice(None, times.num_before(_middle_s(pause))) if times else None
        )


def head_cuts(
    voice: Sequence[Span], times: WordTimes | None, *, uncovered_to_s: float, duration_s: float
) -> Iterator[tuple[Span, str | None]]:
    """Cuts that take away the beginning of a clip; as ``tail_cuts``.

    Args:
        voice: Refined voice activity: sorted, disjoint.
        times: Of the text's words; None for a clip without text.
        uncovered_to_s: Where the speech ends that must go.
        duration_s: Of the clip.
    """
    pauses = [p for p in _pauses(voice) if p.end_s >= uncovered_to_s - _SLACK_S]
    for pause in pauses[:_MOST_CUTS]:
        if sum(v.duration_s for v in voice if v.start_s >= pause.end_s) < MIN_LEFT_S:
            return
        keep = Span(pause.end_s - min(EDGE_S, pause.duration_s / 2), duration_s)
        yield from _with_words(
            keep, times, slice(times.num_before(_middle_s(pause)), None) if times else None
        )


def _with_words(
    keep: Span, times: WordTimes | None, words: slice | None
) -> Iterator[tuple[Span, str | None]]:
    if times is None or words is None:
        yield keep, None
    elif text := join_words(times.words[words]):
        yield keep, text


def _pauses(voice: Sequence[Span]) -> list[Span]:
    return [Span(a.end_s, b.start_s) for a, b in pairwise(voice) if b.start_s - a.end_s >= MIN_PAUSE_S]


def _middle_s(span: Span) -> float:
    return (span.start_s + span.end_s) / 2
