"""A long recording of noise with pauses, and models that know what is said in any piece of it, and by whom.

A piece is recognised by its samples, so nothing has to tell the models where it was cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from build_kit import noise_with_pauses
from fakes import FakeAsr, Said, unit

from refprep.pipeline.listen import Listener
from refprep.text.words import split_words
from refprep.types import Alignment, Clip, Span, Transcript, Voiceprint

RATE_HZ = 8000
SENTENCES = (
    "It was the best of times.",
    "She walked down to the mill.",
    "He never liked the long winter, or the rain.",
    "We saw ships upon the water.",
    "They had some bread and salt.",
)


@dataclass
class Tape:
    """Samples, what is said in them, and whose voice it is.

    Attributes:
        samples: (T,) float32, as decoded.
        said: (word, start_s, end_s) of the whole.
        turns: (second from which on, direction in degrees), rising.
    """

    samples: np.ndarray[tuple[int], np.dtype[np.float32]]
    said: Said
    turns: Sequence[tuple[float, float]] = ((0.0, 0.0),)
    rate_hz: int = RATE_HZ
    name: str = "tape"
    dim: int = 2
    default_threshold: float | None = 0.7
    window_threshold: float | None = 0.5
    longest_s: float = 0.0
    asked: list[str] = field(default_factory=list)

    def listener(self) -> Listener:
        return Listener(self, self, self)

    def offset_s(self, clip: Clip) -> float:
        whole, piece = self.samples.tobytes(), clip.samples.tobytes()
        at = whole.find(piece)
        while at % 4:
            at = whole.find(piece, at + 1)
        assert at >= 0, "no piece of the tape"
        self.longest_s = max(self.longest_s, clip.duration_s)
        return at / 4 / self.rate_hz

    def script(self, clip: Clip) -> list[tuple[str, float, float]]:
        at_s = self.offset_s(clip)
        return [
            (w, a - at_s, b - at_s)
            for w, a, b in self.said
            if a >= at_s - 1e-6 and b <= at_s + clip.duration_s + 1e-6
        ]

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        self.asked.append("speech")
        spans: list[Span] = []
        for _, start_s, end_s in self.script(clip):
            if spans and start_s - spans[-1].end_s < 0.1:
                spans[-1] = Span(spans[-1].start_s, end_s)
            else:
                spans.append(Span(max(0.0, start_s), end_s))
        return tuple(spans)

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        self.asked.append("transcribe")
        return FakeAsr({clip.id: self.script(clip)}, name=self.name).transcribe(
            clip, intervals, language=language
        )

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        return FakeAsr().detect_language(clip, interval)

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        return FakeAsr({clip.id: self.script(clip)}, name=self.name).align(clip, text, language=language)

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        return FakeAsr({clip.id: self.script(clip)}).end_probability(clip, text, language=language)

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        return FakeAsr({clip.id: self.script(clip)}).start_share(clip, text, language=language)

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """The mean of what its seconds are; every second is a window."""
        at_s = self.offset_s(clip)
        windows = [Span(float(k), float(k + 1)) for k in range(max(1, int(clip.duration_s)))]
        rows = np.stack([unit(self.direction(at_s + w.start_s + 0.5)) for w in windows])
        return Voiceprint(
            clip_id=clip.id,
            model=self.name,
            vector=unit(rows.sum(axis=0).tolist()),
            window_vectors=rows,
            windows=tuple(windows),
            speech_s=sum(s.duration_s for s in speech),
        )

    def direction(self, at_s: float) -> tuple[float, float]:
        degrees = [d for t, d in self.turns if t <= at_s][-1]
        return math.cos(math.radians(degrees)), math.sin(math.radians(degrees))


def read_aloud(
    num_sentences: int, *, pauses_s: Sequence[float] = (0.6, 0.9, 1.3), word_s: float = 0.4
) -> list[tuple[str, float, float]]:
    """A script of sentences with pauses between them; a comma has a pause of 0.3 s behind it."""
    said: list[tuple[str, float, float]] = []
    at_s = 0.5
    for k in range(num_sentences):
        for word in split_words(SENTENCES[k % len(SENTENCES)]):
            said.append((word, at_s, at_s + word_s))
            at_s += word_s + (0.3 if word.endswith(",") else 0.0)
        at_s += pauses_s[k % len(pauses_s)]
    return said


def tape_samples(
    said: Said, *, seed: int = 0, rate_hz: int = RATE_HZ, subtype: str = "PCM_16"
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Noise that is loud where somebody speaks, on the grid of the format."""
    return noise_with_pauses(said[-1][2] + 0.7, [(a, b) for _, a, b in said], seed, rate_hz, subtype)
