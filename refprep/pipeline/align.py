"""Clip, text -> Alignment, in windows where the clip is longer than the model's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.transcribe import MAX_INTERVAL_S, plan_intervals
from refprep.protocols import Aligner
from refprep.text.compare import compare
from refprep.text.words import join_words, split_words
from refprep.types import Alignment, Clip, Span, Transcript, Word, freeze
from refprep.units import seconds_to_samples


def align_text(
    clip: Clip, text: str, speech: Sequence[Span], aligner: Aligner, *, heard: Transcript, language: str
) -> Alignment:
    """Force a text onto a clip of any length.

    A clip of up to 30 s is aligned at once. A longer one is cut at pauses as it was for the transcription, and every
    written word goes to the window where the recogniser heard its partner; words without one go with their neighbours.

    Args:
        clip: Any length.
        text: What it is said to say; may be empty.
        speech: Voice activity: sorted, disjoint.
        aligner: The model.
        heard: Free transcription of the same clip.
        language: BCP 47.

    Returns:
        One word for every written word, on the clip's clock.
    """
    words = split_words(text)
    if not words:
        return Alignment((), aligner.name)
    begins_before, goes_on = _heard_beyond(words, heard, language)
    if clip.duration_s <= MAX_INTERVAL_S or not speech:
        return replace(
            aligner.align(clip, text, language=language),
            start_share=aligner.start_share(clip, text, language=language) if begins_before else None,
            end_probability=aligner.end_probability(clip, text, language=language) if goes_on else None,
        )
    intervals = plan_intervals(clip.duration_s, speech)
    placed: list[Word] = []
    start: float | None = None
    end: float | None = None
    for interval, (first, last) in zip(intervals, _share(words, heard, intervals, language), strict=True):
        if first == last:
            continue
        piece, part = cut_clip(clip, interval), join_words(words[first:last])
        aligned = aligner.align(piece, part, language=language)
        if first == 0 and begins_before:
            start = aligner.start_share(piece, part, language=language)
        if last == len(words) and goes_on:
            end = aligner.end_probability(piece, part, language=language)
        offset_s = interval.start_s
        placed += [
            Word(w.text, Span(w.span.start_s + offset_s, w.span.end_s + offset_s), w.probability)
            for w in aligned.words
        ]
    # The text begins and ends within the first and the last window that have words of it.
    return Alignment(tuple(placed), aligner.name, end_probability=end, start_share=start)


def _heard_beyond(words: Sequence[str], heard: Transcript, language: str) -> tuple[bool, bool]:
    """Whether words are heard before the first one that recogniser and text share, and after the last one.

    Where not, the model need not be asked what it expects there.
    """
    shared = [h for _, h in compare(words, [w.text for w in heard.words], language).pairs]
    return min(shared, default=len(heard.words)) > 0, max(shared, default=-1) + 1 < len(heard.words)


def cut_clip(clip: Clip, span: Span) -> Clip:
    """The samples of a span as a clip of its own; its id is that of the cut samples."""
    start = seconds_to_samples(span.start_s, clip.sample_rate_hz)
    samples = freeze(clip.samples[start : seconds_to_samples(span.end_s, clip.sample_rate_hz)])
    return replace(clip, id=pcm_sha256(samples, clip.sample_rate_hz), samples=samples)


def _share(
    words: Sequence[str], heard: Transcript, intervals: Sequence[Span], language: str
) -> list[tuple[int, int]]:
    """Half-open word range of every interval; the ranges follow each other and hold all words."""
    pairs = compare(words, [w.text for w in heard.words], language).pairs
    ends: list[int] = []
    for interval in intervals[:-1]:
        before = [g for g, h in pairs if heard.words[h].span.start_s < interval.end_s]
        ends.append(max([*(b + 1 for b in before), ends[-1] if ends else 0]))
    ends.append(len(words))
    return list(zip([0, *ends[:-1]], ends, strict=True))
