"""Outputs made of real clips: what a clone must not do, built from recordings of people who did none of it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from refprep.dsp.resample import resample
from refprep.pipeline.align import align_text
from refprep.pipeline.decode import decode_file
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.listen import Listener
from refprep.text.words import split_words
from refprep.types import Clip, Samples, Span, Word, freeze

_MARGIN_S = 0.02


@dataclass(frozen=True, eq=False)
class Said:
    """A clip with what is said in it, and where."""

    clip: Clip
    text: str
    language: str
    words: tuple[Word, ...]
    edged: tuple[Span, ...]

    @property
    def rate_hz(self) -> int:
        return self.clip.sample_rate_hz

    def boundary(self, index: int) -> int:
        """The quietest sample between a word and the one before it."""
        before, after = self.words[index - 1].span, self.words[index].span
        low_s = max((before.start_s + before.end_s) / 2, before.end_s - 0.12)
        size = round(0.02 * self.rate_hz)
        first, last = round(low_s * self.rate_hz), round((after.start_s + 0.1) * self.rate_hz) - size
        starts = range(first, max(first + 1, last), size // 4)
        return min(starts, key=lambda s: float(np.mean(self.clip.samples[s : s + size] ** 2))) + size // 2

    def body(self) -> Samples:
        """From its first to its last speech."""
        start = max(0, round((self.edged[0].start_s - _MARGIN_S) * self.rate_hz))
        return self.clip.samples[start : round((self.edged[-1].end_s + _MARGIN_S) * self.rate_hz)]

    def last_words(self, count: int) -> Samples:
        """The speech of the last words."""
        end = round((self.edged[-1].end_s + _MARGIN_S) * self.rate_hz)
        return self.clip.samples[self.boundary(len(self.words) - count) : end]

    def without_last_word(self) -> Samples:
        """Cut before the last word."""
        return self.clip.samples[: self.boundary(len(self.words) - 1)]

    def twice(self) -> Samples:
        """The text two times."""
        return joined(self.body(), self.silence(0.25), self.body())

    def swapped(self, at: int) -> Samples:
        """The words from ``at`` on first, the ones before them behind."""
        cut = self.boundary(at)
        return joined(self.clip.samples[cut:], self.silence(0.1), self.clip.samples[:cut])

    def half_by(self, other: Clip, at: int) -> tuple[Samples, float]:
        """From a word on somebody else speaks, and when that is."""
        cut = self.boundary(at)
        stranger = resample(other.samples, other.sample_rate_hz, self.rate_hz)
        size = self.clip.num_samples - cut
        again = np.tile(stranger, size // len(stranger) + 1)[:size]
        return joined(self.clip.samples[:cut], again), cut / self.rate_hz

    def with_room_tone(self, seconds: float) -> Samples:
        """Its own longest pause behind it, there and back again."""
        edges = [0.0, *(t for s in self.edged for t in (s.start_s, s.end_s)), self.clip.duration_s]
        pauses = [Span(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]
        longest = max(pauses, key=lambda p: p.duration_s)
        inset_s = 0.2 * longest.duration_s
        tone = self.clip.samples[
            round((longest.start_s + inset_s) * self.rate_hz) : round(
                (longest.end_s - inset_s) * self.rate_hz
            )
        ]
        both = np.concatenate([tone, tone[::-1]])
        size = round(seconds * self.rate_hz)
        return joined(self.clip.samples, np.tile(both, size // len(both) + 1)[:size])

    def silence(self, seconds: float) -> Samples:
        """Zeros."""
        return np.zeros(round(seconds * self.rate_hz), dtype=np.float32)


def joined(*parts: Samples) -> Samples:
    """One behind the other."""
    return freeze(np.concatenate(parts).astype(np.float32))


def listen_to(path: Path, text: str, language: str, listener: Listener) -> Said:
    """Find the words of a clip."""
    clip = decode_file(path)
    speech = listener.speech(clip)
    heard = listener.transcribe(clip, language=language)
    placed = align_text(clip, text, speech, listener.aligner, heard=heard, language=language)
    assert len(placed.words) == len(split_words(text))
    return Said(clip, text, language, placed.words, speech_edges(clip, speech))


def rows_of(pack: Path, speaker: str) -> list[dict[str, str]]:
    """A speaker's clips with a text, as the pack's manifest has them."""
    with (pack / "manifest.csv").open(encoding="utf-8", newline="") as file:
        return [
            row
            for row in csv.DictReader(file)
            if row["speaker_id"] == speaker
            and row["kind"] == "original"
            and row["transcript_status"] in ("official", "verified")
        ]


def write(path: Path, samples: Samples, rate_hz: int) -> Path:
    """A WAV file of 16 bits."""
    soundfile.write(path, np.clip(samples, -1.0, 1.0), rate_hz, subtype="PCM_16")
    return path


def some(rows: Sequence[dict[str, str]], *names: str) -> list[dict[str, str]]:
    """Rows whose file is called so, in the order of the names."""
    return [next(r for r in rows if Path(r["path"]).stem == name) for name in names]
