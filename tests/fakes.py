"""Collaborators for unit tests: they satisfy the protocols and do what a script says.

What is under test is never one of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from refprep.pipeline.decode import pcm_sha256
from refprep.text.words import join_words, split_words
from refprep.types import (
    Alignment,
    AudioSource,
    Clip,
    Downmix,
    Origin,
    SampleFormat,
    Span,
    Transcript,
    Voiceprint,
    Word,
    freeze,
)

Said = Sequence[tuple[str, float, float]]
"""(word, start_s, end_s): what a scripted clip says."""


def make_clip(
    samples: np.ndarray[tuple[int], np.dtype[np.float32]],
    sample_rate_hz: int = 16_000,
    *,
    path: str = "clip.wav",
    sample_format: SampleFormat = SampleFormat.PCM_16,
) -> Clip:
    """A clip of given samples, as if decoded from a mono file."""
    frozen = freeze(samples)
    return Clip(
        id=pcm_sha256(frozen, sample_rate_hz),
        source=AudioSource(
            path=path,
            file_sha256="0" * 64,
            container="wav",
            codec="pcm_s16le",
            sample_format=sample_format,
            num_channels=1,
            declared_duration_s=len(frozen) / sample_rate_hz,
            decoded_duration_s=len(frozen) / sample_rate_hz,
            downmix=Downmix.NONE,
            channel_peaks=(float(np.max(np.abs(frozen), initial=0.0)),),
        ),
        samples=frozen,
        sample_rate_hz=sample_rate_hz,
    )


def noise_clip(
    duration_s: float, *, seed: int = 0, sample_rate_hz: int = 16_000, path: str = "clip.wav"
) -> Clip:
    """Quiet noise whose samples are 16-bit values."""
    rng = np.random.default_rng(seed)
    integers = rng.integers(-3000, 3000, round(duration_s * sample_rate_hz))
    return make_clip((integers / 2**15).astype(np.float32), sample_rate_hz, path=path)


def voiced_clip(
    duration_s: float,
    speech: Sequence[Span],
    *,
    seed: int = 0,
    sample_rate_hz: int = 16_000,
    path: str = "clip.wav",
) -> Clip:
    """Syllables of noise where somebody speaks, digital silence elsewhere."""
    noise = noise_clip(duration_s, seed=seed, sample_rate_hz=sample_rate_hz).samples
    is_speech = np.zeros(len(noise), dtype=bool)
    for span in speech:
        start, end = round(span.start_s * sample_rate_hz), round(span.end_s * sample_rate_hz)
        is_speech[start:end] = True
        # Real speech has quiet moments; without any, its level would be taken for that of the noise.
        for closure_s in np.arange(span.start_s + 0.2, span.end_s - 0.2, 0.2):
            is_speech[round(closure_s * sample_rate_hz) : round((closure_s + 0.04) * sample_rate_hz)] = False
    return make_clip(np.where(is_speech, noise, np.float32(0.0)), sample_rate_hz, path=path)


def spoken(said: Said, probability: float = 0.9) -> tuple[Word, ...]:
    """Words of a script."""
    return tuple(Word(text, Span(start_s, end_s), probability) for text, start_s, end_s in said)


def evenly(text: str, start_s: float = 0.5, word_s: float = 0.4) -> list[tuple[str, float, float]]:
    """A script that says a text at an even pace."""
    words = split_words(text)
    return [(w, start_s + k * word_s, start_s + (k + 1) * word_s) for k, w in enumerate(words)]


@dataclass
class FakeVoiceActivity:
    """Speech where the script says so."""

    spans: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    default: Sequence[Span] = ()
    name: str = "fake-vad"

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        """The clip's scripted spans."""
        return tuple(self.spans.get(clip.id, self.default))


@dataclass
class FakeAsr:
    """Hears what each clip's script says; aligns by giving unheard words no length and no probability."""

    scripts: Mapping[str, Said] = field(default_factory=dict)
    language: str = "en"
    name: str = "fake-asr"
    calls: list[tuple[str, int]] = field(default_factory=list)

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        """The words of the script that begin within the intervals."""
        self.calls.append((clip.id, len(intervals)))
        words = tuple(
            w
            for w in spoken(self.scripts.get(clip.id, ()))
            if any(i.start_s <= w.span.start_s < i.end_s for i in intervals)
        )
        return Transcript(
            join_words(w.text for w in words), language or self.language, 1.0, words, Origin.ASR, self.name
        )

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        """The language it was made for."""
        del clip, interval
        return self.language, 0.99

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        """Each written word at the next place where it is said."""
        heard = list(spoken(self.scripts.get(clip.id, ())))
        placed: list[Word] = []
        at = 0
        for written in split_words(text):
            match = next(
                (k for k in range(at, len(heard)) if _bare(heard[k].text) == _bare(written)),
                None,
            )
            if match is None:
                end_s = placed[-1].span.end_s if placed else 0.0
                placed.append(Word(written, Span(end_s, end_s), 0.01))
            else:
                placed.append(Word(written, heard[match].span, 0.9))
                at = match + 1
        return Alignment(tuple(placed), self.name)

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Sure of the end where the script ends with the text's last word, sure of more words elsewhere."""
        heard, written = self.scripts.get(clip.id, ()), split_words(text)
        if not heard or not written:
            return None
        return 0.95 if _bare(heard[-1][0]) == _bare(written[-1]) else 0.01

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Sure of the beginning where the script begins with the text's first word."""
        heard, written = self.scripts.get(clip.id, ()), split_words(text)
        if not heard or not written:
            return None
        return 1.0 if _bare(heard[0][0]) == _bare(written[0]) else 0.001


@dataclass
class FakeEncoder:
    """Directions given by clip id."""

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    windows: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    name: str = "fake-encoder"
    dim: int = 4
    default_threshold: float | None = 0.7
    window_threshold: float | None = 0.5

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """The clip's scripted vector; its windows are of one second each."""
        vector = unit(self.vectors[clip.id])
        rows = [unit(v) for v in self.windows.get(clip.id, [self.vectors[clip.id]])]
        return Voiceprint(
            clip_id=clip.id,
            model=self.name,
            vector=vector,
            window_vectors=np.stack(rows),
            windows=tuple(Span(float(k), float(k + 1)) for k in range(len(rows))),
            speech_s=sum(s.duration_s for s in speech),
        )


def unit(vector: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """float32 of unit norm, read-only."""
    array = np.asarray(vector, dtype=np.float64)
    return freeze((array / np.linalg.norm(array)).astype(np.float32))


def _bare(text: str) -> str:
    return "".join(ch for ch in text.casefold() if ch.isalnum())
