"""Clips of readers -> outputs of a voice with known faults, and outputs without any."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from refprep.bench.composites import SaidClip, clip_like, faded, joined
from refprep.types import Clip, Samples, Span

PLAIN = "plain"
EXPECTED = {
    PLAIN: "",
    **{f"head-{n}": "leaked-reference-words" for n in (1, 2, 3, 4)},
    **{f"tail-{n}": "leaked-reference-words" for n in (1, 2, 3, 4)},
    "twice": "repeated-text",
    "swapped": "reordered-text",
    "other-half": "voice-drift",
    "room-tone": "long-non-speech",
    "last-word": "missing-words",
}
"""Kind of a case -> the fault that it has to fail for; empty where it has to pass."""

LEAK_GAPS_S = (0.0, 0.06, 0.15, 0.3)
ROOM_TONE_S = 20.0
_MIN_SWAP_PAUSE_S = 0.08  # clauses are parted by one
_MIN_SWAP_WORDS = 3
_LEAST_WORD_S = 0.08
_MIN_HALF_S = 1.7  # of speech on both sides of a change of voice: a window each


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCase:
    """An output to score.

    Attributes:
        kind: A key of ``EXPECTED``.
        clip: The output.
        text: What it was to say.
        language: BCP 47.
        words: Leaked, or missing.
        join: Where leaked words and text meet, all of it without speech; where somebody else begins; None otherwise.
    """

    kind: str
    clip: Clip
    text: str
    language: str
    words: str = ""
    join: Span | None = None


def make_cases(
    said: SaidClip, reference: SaidClip, strangers: Sequence[Clip], kinds: Sequence[str], seed: int
) -> Iterator[ScoreCase]:
    """Every kind of case that a clip is good for.

    Args:
        said: What the voice said, without fault.
        reference: Of the same voice.
        strangers: Clips of others of the same sex.
        kinds: Of ``EXPECTED``.
        seed: Of the silence between leaked words and text, and of who takes over.

    Yields:
        No leaks of more words than the reference has; no swapped clauses where no pause parts two of them; no second half
        by another where no half has ``_MIN_HALF_S`` of speech; no missing word where the text has one only.
    """
    rng = random.Random(f"{seed} {said.clip.id}")  # draws, no secrets
    for kind in kinds:
        gap_s = rng.choice(LEAK_GAPS_S)  # drawn for every kind: a case is the same whatever else is asked for
        stranger = rng.choice(strangers) if strangers else None
        made = _make(kind, said, reference, stranger, gap_s)
        if made is not None:
            samples, words, join = made
            name = f"{kind}:{said.clip.source.path}"
            yield ScoreCase(kind, clip_like(said.clip, samples, name), said.text, said.language, words, join)


_Made = tuple[Samples, str, Span | None]


def _make(
    kind: str, said: SaidClip, reference: SaidClip, stranger: Clip | None, gap_s: float
) -> _Made | None:
    if kind == PLAIN:
        return said.clip.samples, "", None
    if kind.startswith(("head-", "tail-")):
        return _leak(said, reference, int(kind[5:]), gap_s, is_head=kind.startswith("head-"))
    if kind == "twice":
        return said.twice(), "", None
    if kind == "swapped":
        at = clause_boundary(said)
        return None if at is None else (said.swapped(at), "", None)
    if kind == "other-half":
        halves = [k for k in range(1, len(said.words)) if _has_two_halves(said, k)]
        if stranger is None or not halves:
            return None
        samples, at_s = said.half_by(stranger, halves[len(halves) // 2])
        return samples, "", Span(at_s, at_s)
    if kind == "room-tone":
        return said.with_room_tone(ROOM_TONE_S), "", None
    if kind == "last-word" and len(said.words) > 1:
        return said.without_last_word(), said.words[-1].text, None
    return None


def _leak(said: SaidClip, reference: SaidClip, count: int, gap_s: float, *, is_head: bool) -> _Made | None:
    """The last words of the reference in front of the text, or behind it."""
    if count >= len(reference.words):
        return None
    leak, body, gap = reference.last_words(count), faded(said.body(), said.rate_hz), said.silence(gap_s)
    if len(leak) < _LEAST_WORD_S * count * said.rate_hz:
        return None  # voice activity ends before the words that the aligner puts there: a whisper
    parts = (leak, gap, body) if is_head else (body, gap, leak)
    start_s = len(parts[0]) / said.rate_hz
    words = " ".join(w.text for w in reference.words[-count:])
    return joined(*parts), words, Span(start_s, start_s + len(gap) / said.rate_hz)


def clause_boundary(said: SaidClip) -> int | None:
    """Number of the word that begins the second clause: behind the longest pause with three words on both sides."""
    inner = range(_MIN_SWAP_WORDS, len(said.words) - _MIN_SWAP_WORDS + 1)
    pauses = {k: said.pause_before(k) for k in inner}
    best = max(pauses, key=lambda k: pauses[k], default=None)
    return best if best is not None and pauses[best] >= _MIN_SWAP_PAUSE_S else None


def _has_two_halves(said: SaidClip, index: int) -> bool:
    at_s = said.boundary(index) / said.rate_hz
    before_s = sum(s.overlap_s(Span(0.0, at_s)) for s in said.edged)
    return before_s >= _MIN_HALF_S and said.speech_s - before_s >= _MIN_HALF_S
