"""A folder of clips that people of different voices speak, and models that know what is in them.

The clips are noise with pauses; what is said, when, and by whom is looked up by the file's name, so that a converted
clip is still the same clip. The joined reference is recognised by the samples in it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import soundfile
from fakes import FakeAsr, Said, evenly, unit

from refprep.config import BuildConfig
from refprep.identity.verifier import Verifier
from refprep.manifest import Utterance
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.listen import Listener
from refprep.types import Alignment, Clip, Span, Transcript, Voiceprint
from refprep.voice.build import build_voice

RATE_HZ = 8000
EDGE_S = 0.5
CONFIG = BuildConfig(min_s=6.0, max_s=12.0, target_s=6.0)
TEXTS = (
    "It was the best of times.",
    "She walked down to the mill.",
    "He never liked the long winter.",
    "We saw ships upon the water.",
    "They had some bread and salt.",
)


@dataclass
class Scene:
    """Clips on disk and the models that hear them.

    Attributes:
        folder: Where the clips are.
        said: File name -> what is said in it.
        voices: File name -> direction of its voice.
        windows: File name -> directions of its windows, where they are not the voice's.
        samples: File name -> samples, to find the clip in a reference.
        utterances: What was added, in order.
    """

    folder: Path
    said: dict[str, Said] = field(default_factory=dict)
    voices: dict[str, Sequence[float]] = field(default_factory=dict)
    windows: dict[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    samples: dict[str, bytes] = field(default_factory=dict)
    utterances: list[Utterance] = field(default_factory=list)
    name: str = "scene"
    dim: int = 2
    default_threshold: float | None = 0.7
    window_threshold: float | None = 0.5
    listened: list[str] = field(default_factory=list)

    def add(
        self,
        name: str,
        text: str | None,
        *,
        said: str | None = None,
        degrees: float = 0.0,
        rate_hz: int = RATE_HZ,
        subtype: str = "PCM_16",
        speaker: str = "",
        language: str = "en",
        word_s: float = 0.4,
        **extra: object,
    ) -> Path:
        """Write a clip in which ``said`` (the text, if not given) is spoken by the voice at an angle.

        A file that is already there is left as it is.
        """
        script = evenly(said if said is not None else text or "", EDGE_S, word_s)
        end_s = script[-1][2] if script else EDGE_S
        seed = len(self.said)
        path = self.folder / name
        if not path.exists():
            samples = noise_with_pauses(end_s + EDGE_S, [(EDGE_S, end_s)], seed, rate_hz, subtype)
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, samples, rate_hz, subtype=subtype)
        self.know(path, script, degrees)
        self.utterances.append(Utterance(path, text, language, speaker, extra=extra))
        return path

    def know(self, path: Path, script: Said, degrees: float) -> None:
        """Let the models know a file that is already there."""
        self.said[path.name] = script
        self.voices[path.name] = [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]
        data, _ = soundfile.read(path, dtype="float32")
        self.samples[path.name] = data.tobytes()

    def build(self, folder: Path, **options: object) -> BuiltVoice:
        """Build a voice of all that was added."""
        listener = Listener(self, self, self)
        settings: dict[str, object] = {"config": CONFIG, **options}
        utterances = settings.pop("utterances", self.utterances)
        verifier = Verifier(self, None, settings["config"].threshold)  # type: ignore[attr-defined]
        settings.setdefault("verifiers", [verifier])
        return build_voice(utterances, folder, listener=listener, **settings)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ the models

    def script(self, clip: Clip) -> list[tuple[str, float, float]]:
        """What is said in a clip; in a reference, what is said in the clips that it holds."""
        name = Path(clip.source.path).name
        if name in self.said:
            self.samples[name] = clip.samples.tobytes()  # as it will be joined: resampled, if it was
            return list(self.said[name])
        whole, found = clip.samples.tobytes(), []
        for known, samples in self.samples.items():
            at = whole.find(samples)
            if at >= 0 and at % 4 == 0:
                offset_s = at // 4 / clip.sample_rate_hz
                found += [(w, a + offset_s, b + offset_s) for w, a, b in self.said[known]]
        return sorted(found, key=lambda w: w[1])

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        """From the first to the last word, pauses of more than half a second left out."""
        spans: list[Span] = []
        for _, start_s, end_s in self.script(clip):
            if spans and start_s - spans[-1].end_s < EDGE_S:
                spans[-1] = Span(spans[-1].start_s, end_s)
            else:
                spans.append(Span(start_s, end_s))
        return tuple(spans)

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        """The script."""
        self.listened.append(clip.source.path)
        return FakeAsr({clip.id: self.script(clip)}, name=self.name).transcribe(
            clip, intervals, language=language
        )

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        """English."""
        return FakeAsr().detect_language(clip, interval)

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        """The text on the script."""
        return FakeAsr({clip.id: self.script(clip)}, name=self.name).align(clip, text, language=language)

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Of the script."""
        return FakeAsr({clip.id: self.script(clip)}).end_probability(clip, text, language=language)

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Of the script."""
        return FakeAsr({clip.id: self.script(clip)}).start_share(clip, text, language=language)

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """The voice of the file's name; of a reference, the mean of the voices of its clips, with all their windows."""
        name = Path(clip.source.path).name
        names = [name] if name in self.voices else self.inside(clip)
        rows = [unit(v) for n in names for v in self.windows.get(n, [self.voices[n]])]
        return Voiceprint(
            clip_id=clip.id,
            model=self.name,
            vector=unit(np.sum([unit(self.voices[n]) for n in names], axis=0).tolist()),
            window_vectors=np.stack(rows),
            windows=tuple(Span(float(k), float(k + 1)) for k in range(len(rows))),
            speech_s=sum(s.duration_s for s in speech),
        )

    def inside(self, clip: Clip) -> list[str]:
        """Names of the clips whose samples are in a reference."""
        whole = clip.samples.tobytes()
        return [n for n, samples in self.samples.items() if whole.find(samples) >= 0]


def noise_with_pauses(
    duration_s: float, loud: Sequence[tuple[float, float]], seed: int, rate_hz: int, subtype: str
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Noise that is loud in spans and 60 dB quieter elsewhere, on the grid of the format."""
    rng = np.random.default_rng(seed)
    samples = rng.standard_normal(round(duration_s * rate_hz)) * 3e-4
    for start_s, end_s in loud:
        inside = slice(round(start_s * rate_hz), round(end_s * rate_hz))
        samples[inside] = rng.standard_normal(samples[inside].shape[0]) * 0.1
    if subtype == "FLOAT":
        return samples.astype(np.float32).astype(np.float64)
    scale = 2.0 ** {"PCM_16": 15, "PCM_24": 23}[subtype]
    return np.clip(np.rint(samples * scale), -scale, scale - 1) / scale


def ordinary_scene(folder: Path) -> Scene:
    """Five utterances of one reader, about 3.4 s each."""
    scene = Scene(folder)
    for k, text in enumerate(TEXTS):
        scene.add(f"a_{k}.wav", text, degrees=4.0 * k, speaker="book/en/m/reader", licence="CC0-1.0")
    return scene
