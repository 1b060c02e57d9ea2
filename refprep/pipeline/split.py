"""A long recording -> complete utterances, cut in the middle of real pauses, each with its text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from refprep.pipeline.listen import Listener
from refprep.pipeline.recording import Recording, as_recording
from refprep.pipeline.speech import find_speech
from refprep.pipeline.transcribe import transcribe_recording
from refprep.text.words import join_words
from refprep.types import Clip, Span, TextCheck, Verdict, Word
from refprep.units import seconds_to_samples

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
        start_sample: Where it begins in the recording.
        text: What it says; the check's suggestion where the words of the whole recording did not fit it.
        check: Text against audio.
        speech: Voice activity: sorted, disjoint, seconds from the utterance's own start.
    """

    clip: Clip
    start_sample: int
    text: str
    check: TextCheck
    speech: tuple[Span, ...] = ()

    @property
    def end_sample(self) -> int:
        """One past its last sample in the recording."""
        return self.start_sample + self.clip.num_samples

    @property
    def span(self) -> Span:
        """Where it is, seconds from the recording's start."""
        rate_hz = self.clip.sample_rate_hz
        return Span(self.start_sample / rate_hz, self.end_sample / rate_hz)


def split_recording(
    clip: Clip,
    listener: Listener,
    *,
    language: str = "",
    limits: SplitLimits | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> list[Utterance]:
    """Cut a clip that is in memory into utterances: ``iter_utterances`` of it, at once."""
    return list(
        iter_utterances(as_recording(clip), listener, language=language, limits=limits, on_step=on_step)
    )


def iter_utterances(
    recording: Recording,
    listener: Listener,
    *,
    language: str = "",
    limits: SplitLimits | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Iterator[Utterance]:
    """Cut a recording into utterances, one after the other.

    Pauses after a sentence are preferred to pauses after a clause, those to others, and longer pauses to shorter ones.
    Every piece is transcribed in the context of the whole, then held against its own audio.

    Speech and words of the whole recording are known before the first cut: of hours they are a few megabytes, and no
    cut depends on how the audio was read. Of the audio itself a minute is in memory at most.

    Args:
        recording: Any length.
        listener: Voice activity, recogniser, aligner.
        language: BCP 47; empty detects it.
        limits: Lengths; defaults when None.
        on_step: Told what is being done, and how far it is.

    Yields:
        Utterances in the order of time whose text covers them; pieces that fail that are left out.
    """
    bounds = limits or SplitLimits()
    whole = clock(recording.duration_s)

    def tell(doing: str) -> Callable[[float], None]:
        return lambda at_s: on_step(f"{doing} {clock(at_s)} of {whole}")

    speech = find_speech(recording, listener.voice_activity, on_time=tell("find speech"))
    if not speech:
        return
    heard = transcribe_recording(
        recording, speech, listener.transcriber, language=language or None, on_time=tell("transcribe")
    )
    spoken = language or heard.language
    words = _WordsByTime(heard.words)
    for span in plan_utterances(speech, heard.words, recording.duration_s, bounds):
        tell("check")(span.start_s)
        piece = recording.cut_span(span)
        check = listener.check(piece, words.text_within(span), language=spoken)
        text = check.given.text
        if check.verdict is Verdict.FAIL:
            text = check.suggested_text
            check = listener.check(piece, text, language=spoken)
        if check.verdict is Verdict.PASS and text:
            start = seconds_to_samples(span.start_s, recording.sample_rate_hz)
            yield Utterance(piece, start, text, check, listener.speech(piece))


def clock(seconds: float) -> str:
    """Minutes and seconds, ``mm:ss``; hours are minutes, too."""
    return f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"


class _WordsByTime:
    """Words by the middle of their time."""

    def __init__(self, words: Sequence[Word]) -> None:
        middles = sorted(((w.span.start_s + w.span.end_s) / 2, k) for k, w in enumerate(words))
        self._words = words
        self._times = [t for t, _ in middles]
        self._indices = [k for _, k in middles]

    def text_within(self, span: Span) -> str:
        """The words within a span, in the order in which they were heard."""
        first, stop = bisect_left(self._times, span.start_s), bisect_left(self._times, span.end_s)
        return join_words(self._words[k].text for k in sorted(self._indices[first:stop]))


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
    blocks = _cut(speech, _ranked_pauses(speech, words, limits), limits)
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


@dataclass(frozen=True, slots=True)
class _Pause:
    """A place to cut; the rank is 2 after a sentence, 1 after a clause, 0 elsewhere, then the pause's length."""

    span: Span
    rank: tuple[int, float]


def _ranked_pauses(speech: Sequence[Span], words: Sequence[Word], limits: SplitLimits) -> list[_Pause]:
    by_start = sorted(words, key=lambda w: w.span.start_s)
    starts = [w.span.start_s for w in by_start]
    found = []
    for one, other in pairwise(speech):
        if other.start_s - one.end_s >= limits.min_pause_s:
            before = bisect_left(starts, one.end_s)
            last = by_start[before - 1].text if before else ""
            kind = 2 if last.endswith(_SENTENCE_ENDS) else 1 if last.endswith(_CLAUSE_ENDS) else 0
            pause = Span(one.end_s, other.start_s)
            found.append(_Pause(pause, (kind, pause.duration_s)))
    return found


def _cut(speech: Sequence[Span], pauses: Sequence[_Pause], limits: SplitLimits) -> list[Span]:
    """Cut the speech at its best pause, and the parts again, until they are sentences or cannot be cut."""
    done: list[Span] = []
    # Not by recursion: a reading of hours whose pauses grow shorter would go too deep.
    pending = [(Span(speech[0].start_s, speech[-1].end_s), pauses)]
    while pending:
        block, within = pending.pop()
        inside = [
            k
            for k, p in enumerate(within)
            if p.span.start_s - block.start_s >= limits.min_s and block.end_s - p.span.end_s >= limits.min_s
        ]
        best = max(inside, key=lambda k: within[k].rank, default=None)
        if best is None or (
            block.duration_s <= limits.max_s - 2 * limits.edge_s and within[best].rank[0] < 2
        ):
            done.append(block)
            continue
        at = within[best].span
        pending.append((Span(at.end_s, block.end_s), within[best + 1 :]))
        pending.append((Span(block.start_s, at.start_s), within[:best]))
    return done
