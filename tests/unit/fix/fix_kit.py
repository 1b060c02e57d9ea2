"""A small world for fixes: clips on disk whose words stand where a script says, also after they were cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fakes import FakeAsr, Said, spoken

from refprep.api import lint_utterances, open_fixer
from refprep.cli.lint_output import free_name
from refprep.config import Config, LintConfig
from refprep.fix.correction import Correction
from refprep.linter.run import FileReport
from refprep.manifest import Utterance
from refprep.pipeline.listen import Listener
from refprep.pipeline.wav import write_wav
from refprep.types import Alignment, Clip, Origin, SampleFormat, Span, Transcript, freeze

RATE_HZ = 16_000
WORDS = "Before winter came they carried dry wood from every forest".split()
CONFIG = Config(lint=LintConfig(select=("RP1", "RP205", "RP209"), cache=False))


def phrases(
    *texts: str, start_s: float = 0.4, word_s: float = 0.4, pause_s: float = 0.5
) -> list[tuple[str, float, float]]:
    """A script: the words of each text without a gap, a pause between two texts."""
    said: list[tuple[str, float, float]] = []
    at_s = start_s
    for text in texts:
        for word in text.split():
            said.append((word, round(at_s, 3), round(at_s + word_s, 3)))
            at_s += word_s
        at_s += pause_s
    return said


def samples_of(said: Said, duration_s: float, *, seed: int = 0):
    """Noise where words are, hiss of two steps of 16 bits elsewhere: any stretch of it is found again."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, round(duration_s * RATE_HZ))
    for _, start_s, end_s in said:
        a, b = round(start_s * RATE_HZ), round(end_s * RATE_HZ)
        values[a:b] = rng.integers(-6000, 6000, len(values[a:b]))
    return freeze((values / 2**15).astype(np.float32))


@dataclass
class World(FakeAsr):
    """Hears a clip, or any stretch of one, as its script says; finds speech where words are."""

    clips: list[tuple[bytes, Said]] = field(default_factory=list)
    voice: dict[int, list[Span]] = field(default_factory=dict)
    name: str = "world"

    def add(
        self,
        folder: Path,
        name: str,
        said: Said,
        *,
        duration_s: float | None = None,
        voice: Sequence[Span] = (),
    ) -> Path:
        """Write a clip and remember what it says; ``voice`` is heard as voice without words."""
        end_s = duration_s if duration_s is not None else said[-1][2] + 0.4
        samples = samples_of([*said, *(("", v.start_s, v.end_s) for v in voice)], end_s, seed=len(self.clips))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        write_wav(path, samples, RATE_HZ, SampleFormat.PCM_16)
        self.voice[len(self.clips)] = list(voice)
        self.clips.append((samples.tobytes(), said))
        return path

    def _find(self, clip: Clip) -> tuple[int, float]:
        start = clip.samples.tobytes()
        for number, (whole, _) in enumerate(self.clips):
            at = whole.find(start)
            if at >= 0:
                return number, at / 4 / clip.sample_rate_hz
        raise AssertionError("samples that were in no clip")

    def script(self, clip: Clip) -> Said:
        """Its words on its own clock."""
        number, offset_s = self._find(clip)
        moved = [(w, a - offset_s, b - offset_s) for w, a, b in self.clips[number][1]]
        return [
            (w, max(0.0, a), min(b, clip.duration_s))
            for w, a, b in moved
            if a < clip.duration_s - 0.05 and b > 0.05
        ]

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        """Where the words are, and the voice without words."""
        number, offset_s = self._find(clip)
        spans = [Span(a, b) for _, a, b in self.script(clip)]
        for v in self.voice[number]:
            start_s, end_s = v.start_s - offset_s, min(v.end_s - offset_s, clip.duration_s)
            if end_s > max(0.0, start_s):
                spans.append(Span(max(0.0, start_s), end_s))
        merged: list[Span] = []
        for span in sorted(spans):
            if merged and span.start_s - merged[-1].end_s < 0.1:
                merged[-1] = Span(merged[-1].start_s, span.end_s)
            else:
                merged.append(span)
        return tuple(merged)

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        """The words of the script that begin within the intervals."""
        words = tuple(
            w
            for w in spoken(self.script(clip))
            if any(i.start_s <= w.span.start_s < i.end_s for i in intervals)
        )
        text = " ".join(w.text for w in words)
        return Transcript(text, language or self.language, 1.0, words, Origin.ASR, self.name)

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        """Its own."""
        del clip, interval
        return self.language, 0.99

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        """As FakeAsr, by this clip's script."""
        return FakeAsr({clip.id: self.script(clip)}).align(clip, text, language=language)

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        """As FakeAsr, by this clip's script."""
        return FakeAsr({clip.id: self.script(clip)}).end_probability(clip, text, language=language)

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        """As FakeAsr, by this clip's script."""
        return FakeAsr({clip.id: self.script(clip)}).start_share(clip, text, language=language)

    @property
    def listener(self) -> Listener:
        """All three in one."""
        return Listener(self, self, self)


@dataclass
class Ran:
    """What a run gave."""

    reports: list[FileReport] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    refusals: dict[str, str] = field(default_factory=dict)
    counts: tuple[int, int, int] = (0, 0, 0)


def fix(
    world: World,
    utterances: Sequence[Utterance],
    folder: Path,
    *,
    unsafe: bool = False,
    write: bool = True,
    config: Config = CONFIG,
) -> Ran:
    """Lint and fix."""
    ran, numbers = Ran(), dict[str, int]()
    listener = world.listener
    with open_fixer(
        utterances, config, folder, free_name=lambda s: free_name(s, numbers), unsafe=unsafe, write=write,
        listener=listener, on_correction=ran.corrections.append, on_refusal=ran.refusals.__setitem__,
    ) as fixer:  # fmt: skip
        ran.reports += [fixer.fix(r) for r in lint_utterances(utterances, config, listener=listener)]
    ran.counts = (fixer.num_fixed, fixer.num_refused, fixer.num_waiting)
    return ran


def lint(world: World, utterances: Sequence[Utterance], config: Config = CONFIG) -> list[FileReport]:
    """Lint alone."""
    return list(lint_utterances(utterances, config, listener=world.listener))
