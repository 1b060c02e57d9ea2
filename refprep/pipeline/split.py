"""A long recording -> complete utterances, cut in the middle of real pauses, each with its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from refprep.pipeline.align import cut_clip
from refprep.pipeline.listen import Listener
from refprep.text.words import join_words
from refprep.types import Clip, Span, TextCheck, Verdict, Word

_SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
_CLAUSE_ENDS = (",", ";", ":", "、", "，", "；")


@dataclass(frozen=True, slots=True)
class SplitLimits:
    """How long an utterance may be and where it may be cut.

    Attributes:
        min_s, max_s: Length of an utterance; one without a pause may be longer than ``max_s`` and is left out.
        min_pause_s: Shorter pauses are inside a phrase.
        edge_s: Silence kept at both ends at most; the rest of a pause belongs to no utterance.
    """

    min_s: float = 1.5
    max_s: float = 15.0
    min_pause_s: float = 0.25
    edge_s: float = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Utterance:
    """A complete piece of a recording.

    Attributes:
        clip: Its samples, as they were.
        span: Where it was, seconds from the recording's start.
        text: What it says; the check's suggestion where the words of the whole recording did not fit it.
        check: Text against audio.
    """

    clip: Clip
    span: Span
    text: str
    check: TextCheck


def split_recording(
    clip: Clip,
    listener: Listener,
    *,
    language: str = "",
    limits: SplitLimits | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> list[Utterance]:
    """Cut a recording into utterances.

    Pauses after a sentence are preferred to pauses after a clause, those to others, and longer pauses to shorter ones.
    Every piece is transcribed in the context of the whole, then held against its own audio.

    Args:
        clip: The recording.
        listener: Voice activity, recogniser, aligner.
        language: BCP 47; empty detects it.
        limits: Lengths; defaults when None.
        on_step: Told what is being done.

    Returns:
        Utterances in the order of time whose text covers them; pieces that fail that are left out.
    """
    bounds = limits or SplitLimits()
    on_step("transcribe")
    speech = listener.speech(clip)
    if not speech:
        return []
    heard = listener.transcribe(clip, language=language)
    found: list[Utterance] = []
    for span in plan_utterances(speech, heard.words, clip.duration_s, bounds):
        words = [
            w.text for w in heard.words if span.start_s <= (w.span.start_s + w.span.end_s) / 2 < span.end_s
        ]
        piece = cut_clip(clip, span)
        on_step(f"check {span.start_s:.1f}-{span.end_s:.1f} s")
        check = listener.check(piece, join_words(words), language=language or heard.language)
        text = check.given.text
        if check.verdict is Verdict.FAIL:
            text = check.suggested_text
            check = listener.check(piece, text, language=language or heard.language)
        if check.verdict is Verdict.PASS and text:
            found.append(Utterance(piece, span, text, check))
    return found


def plan_utterances(
    speech: Sequence[Span], words: Sequence[Word], duration_s: float, limits: SplitLimits
) -> list[Span]:
    """Where to cut: sorted, disjoint spans of ``limits.min_s`` to ``limits.max_s``.

    Args:
        speech: Voice activity: sorted, disjoint.
        words: Words with times; only their punctuation is read.
        duration_s: Of the recording.
        limits: Lengths.
    """
    pauses = [
        Span(a.end_s, b.start_s) for a, b in pairwise(speech) if b.start_s - a.end_s >= limits.min_pause_s
    ]
    blocks = _cut(Span(speech[0].start_s, speech[-1].end_s), pauses, words, limits)
    spans = []
    for index, block in enumerate(blocks):
        before_s = blocks[index - 1].end_s if index else 0.0
        after_s = blocks[index + 1].start_s if index + 1 < len(blocks) else duration_s
        start_s = max(block.start_s - limits.edge_s, (before_s + block.start_s) / 2 if index else 0.0)
        end_s = min(
            block.end_s + limits.edge_s,
            (block.end_s + after_s) / 2 if index + 1 < len(blocks) else duration_s,
        )
        if limits.min_s <= end_s - start_s <= limits.max_s:
            spans.append(Span(start_s, end_s))
    return spans


def _cut(block: Span, pauses: Sequence[Span], words: Sequence[Word], limits: SplitLimits) -> list[Span]:
    """Cut a block at its best pause, and the parts again, until they are sentences or cannot be cut."""
    inside = [
        p
        for p in pauses
        if p.start_s - block.start_s >= limits.min_s and block.end_s - p.end_s >= limits.min_s
    ]
    if not inside:
        return [block]
    best = max(inside, key=lambda p: _rank(p, words))
    if block.duration_s <= limits.max_s - 2 * limits.edge_s and _rank(best, words)[0] < 2:
        return [block]
    left, right = Span(block.start_s, best.start_s), Span(best.end_s, block.end_s)
    return [*_cut(left, pauses, words, limits), *_cut(right, pauses, words, limits)]


def _rank(pause: Span, words: Sequence[Word]) -> tuple[int, float]:
    """2 after a sentence, 1 after a clause, 0 elsewhere; then the pause's length."""
    before = [w for w in words if w.span.start_s < pause.start_s]
    last = before[-1].text if before else ""
    kind = 2 if last.endswith(_SENTENCE_ENDS) else 1 if last.endswith(_CLAUSE_ENDS) else 0
    return kind, pause.duration_s
