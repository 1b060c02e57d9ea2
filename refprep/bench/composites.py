"""Outputs made of real clips: what a clone must not do, built from recordings of people who did none of it.

Clips are cut between words: where forced alignment parts two of them, moved to the quietest 20 ms around that moment, with
fades of 5 ms. What is joined keeps 20 ms of its own sound around its speech.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from refprep.dsp.resample import resample
from refprep.pipeline.align import align_text
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.listen import Listener
from refprep.text.words import split_words
from refprep.types import Clip, Samples, Span, Word, freeze
from refprep.units import seconds_to_samples

_MARGIN_S = 0.02
_FADE_S = 0.005
_BEFORE_S, _AFTER_S = 0.12, 0.1  # around the end of the word before and the start of the word after
_QUIET_S = 0.02
_TWICE_GAP_S, _SWAP_GAP_S = 0.25, 0.1
_TONE_INSET = 0.2  # of a pause, at both ends: what voice activity calls a pause begins in a fading word


@dataclass(frozen=True, slots=True, eq=False)
class SaidClip:
    """A clip with what is said in it, and where.

    Attributes:
        clip: The audio.
        text: What it says.
        language: BCP 47.
        words: One for every written word, placed by forced alignment.
        edged: Its speech, cut at short pauses (``refprep.pipeline.edges``).
    """

    clip: Clip
    text: str
    language: str
    words: tuple[Word, ...]
    edged: tuple[Span, ...]

    @property
    def rate_hz(self) -> int:
        """Of its samples, and of all that is made of it."""
        return self.clip.sample_rate_hz

    @property
    def speech_s(self) -> float:
        """Seconds of speech."""
        return sum(s.duration_s for s in self.edged)

    def boundary(self, index: int) -> int:
        """The quietest sample between a word and the one before it."""
        before, after = self.words[index - 1].span, self.words[index].span
        low_s = max((before.start_s + before.end_s) / 2, before.end_s - _BEFORE_S)
        size = seconds_to_samples(_QUIET_S, self.rate_hz)
        first = seconds_to_samples(low_s, self.rate_hz)
        last = seconds_to_samples(after.start_s + _AFTER_S, self.rate_hz) - size
        starts = range(first, max(first + 1, last), size // 4)
        return min(starts, key=lambda s: self._energy(s, size)) + size // 2

    def _energy(self, start: int, size: int) -> float:
        piece = self.clip.samples[start : start + size]
        return float(np.mean(np.square(piece, dtype=np.float64))) if piece.size else np.inf

    def body(self) -> Samples:
        """From its first to its last speech."""
        start, end = self._edges()
        return self.clip.samples[start:end]

    def _edges(self) -> tuple[int, int]:
        start_s, end_s = self.edged[0].start_s - _MARGIN_S, self.edged[-1].end_s + _MARGIN_S
        rate_hz = self.rate_hz
        return seconds_to_samples(max(0.0, start_s), rate_hz), seconds_to_samples(end_s, rate_hz)

    def last_words(self, count: int) -> Samples:
        """The speech of the last words."""
        return faded(
            self.clip.samples[self.boundary(len(self.words) - count) : self._edges()[1]], self.rate_hz
        )

    def first_words(self, count: int) -> Samples:
        """The speech of the first words."""
        return faded(self.clip.samples[self._edges()[0] : self.boundary(count)], self.rate_hz)

    def without_last_word(self) -> Samples:
        """Cut before the last word."""
        return faded(self.clip.samples[: self.boundary(len(self.words) - 1)], self.rate_hz)

    def twice(self) -> Samples:
        """The text two times."""
        return joined(self.body(), self.silence(_TWICE_GAP_S), self.body())

    def swapped(self, at: int) -> Samples:
        """The words from ``at`` on first, the ones before them behind."""
        cut, (start, end) = self.boundary(at), self._edges()
        first, last = self.clip.samples[cut:end], self.clip.samples[start:cut]
        return joined(faded(first, self.rate_hz), self.silence(_SWAP_GAP_S), faded(last, self.rate_hz))

    def half_by(self, other: Clip, at: int) -> tuple[Samples, float]:
        """From a word on somebody else speaks, and when that is."""
        cut = self.boundary(at)
        stranger = resample(other.samples, other.sample_rate_hz, self.rate_hz)
        size = self.clip.num_samples - cut
        again = np.tile(stranger, size // len(stranger) + 1)[:size]
        return joined(faded(self.clip.samples[:cut], self.rate_hz), again), cut / self.rate_hz

    def with_room_tone(self, seconds: float) -> Samples:
        """Its own longest pause behind it, there and back again."""
        edges = [0.0, *(t for s in self.edged for t in (s.start_s, s.end_s)), self.clip.duration_s]
        pauses = [Span(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
        longest = max(pauses, key=lambda p: p.duration_s)
        inset_s = _TONE_INSET * longest.duration_s
        tone = self.clip.samples[
            seconds_to_samples(longest.start_s + inset_s, self.rate_hz) : seconds_to_samples(
                longest.end_s - inset_s, self.rate_hz
            )
        ]
        both = np.concatenate([tone, tone[::-1]])
        size = seconds_to_samples(seconds, self.rate_hz)
        return joined(self.clip.samples, np.tile(both, size // len(both) + 1)[:size])

    def silence(self, seconds: float) -> Samples:
        """Zeros."""
        return np.zeros(seconds_to_samples(seconds, self.rate_hz), dtype=np.float32)

    def pause_before(self, index: int) -> float:
        """Seconds without speech between a word and the one before it; 0.0 where speech goes on."""
        at_s = self.boundary(index) / self.rate_hz
        ends = [s.end_s for s in self.edged if s.end_s <= at_s + _QUIET_S]
        starts = [s.start_s for s in self.edged if s.start_s >= at_s - _QUIET_S]
        return max(0.0, starts[0] - ends[-1]) if starts and ends else 0.0


def joined(*parts: Samples) -> Samples:
    """One behind the other."""
    return freeze(np.concatenate(parts).astype(np.float32))


def faded(samples: Samples, rate_hz: int) -> Samples:
    """The same with 5 ms of fade at both ends, so that a cut does not click."""
    size = min(seconds_to_samples(_FADE_S, rate_hz), len(samples) // 2)
    found = samples.copy()
    ramp = np.linspace(0.0, 1.0, size, endpoint=False, dtype=np.float32)
    found[:size] *= ramp
    found[len(found) - size :] *= ramp[::-1]
    return found


def clip_like(clip: Clip, samples: Samples, name: str) -> Clip:
    """Samples as a clip of the same rate under another name."""
    frozen = freeze(samples)
    return replace(
        clip,
        id=pcm_sha256(frozen, clip.sample_rate_hz),
        samples=frozen,
        source=replace(clip.source, path=name),
    )


def place_words_of(clip: Clip, text: str, language: str, listener: Listener) -> SaidClip | None:
    """Find the words of a clip; None where nobody speaks, or the text has no words."""
    speech = listener.speech(clip)
    if not speech or not split_words(text):
        return None
    heard = listener.transcribe(clip, language=language)
    placed = align_text(clip, text, speech, listener.aligner, heard=heard, language=language)
    return SaidClip(clip, text, language, placed.words, _edged(clip, speech))


def _edged(clip: Clip, speech: Sequence[Span]) -> tuple[Span, ...]:
    return speech_edges(clip, speech)
