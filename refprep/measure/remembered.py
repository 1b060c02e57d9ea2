"""Models that remember on disk what they heard: a clip that many builds use is listened to once.

Keys are the hash of the samples, the text and the models, never a path. The same clip gives the same answers, so a build
that remembers and one that does not write the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from cattrs.preconf.json import make_converter
from safetensors import SafetensorError
from safetensors.numpy import load, save

from refprep.measure.program_cache import ProgramCache
from refprep.memory import forget_oldest
from refprep.pipeline.listen import Listener
from refprep.protocols import SpeakerEncoder
from refprep.types import Clip, QualityReport, Span, TextCheck, Transcript, Voiceprint, freeze

_T = TypeVar("_T")
_REMEMBERED = 64  # clips whose speech is kept in memory: one build asks for it several times


@dataclass(frozen=True, slots=True)
class _Speech:
    spans: tuple[Span, ...]


class RememberingListener(Listener):
    """A listener whose answers are kept.

    Args:
        listener: The models.
        root: The cache's root.
        fingerprints: Role -> what tells one model from another.
    """

    def __init__(self, listener: Listener, root: Path, fingerprints: Mapping[str, str]) -> None:
        super().__init__(
            listener.voice_activity,
            listener.transcriber,
            listener.aligner,
            thresholds=listener.thresholds,
        )
        self._cache = ProgramCache(root, "build", suffix=".json")
        self._models = sorted(fingerprints.items())
        self._converter = make_converter()
        self._names: dict[str, str] = {}

    @property
    def models(self) -> dict[str, str]:
        """Role -> name of the models whose answers were used, heard now or remembered."""
        return {**self._names, **super().models}

    def speech(self, clip: Clip) -> tuple[Span, ...]:
        """See ``Listener.speech``."""
        known = self._speech.get(clip.id)
        if known is not None:
            return known
        key = self._key("speech", clip)
        found = self._get(key, _Speech)
        if found is None:
            found = _Speech(super().speech(clip))
            self._put(key, found)
        forget_oldest(self._speech, most=_REMEMBERED)
        self._speech[clip.id] = found.spans
        return found.spans

    def transcribe(self, clip: Clip, *, language: str = "") -> Transcript:
        """See ``Listener.transcribe``."""
        key = self._key("transcript", clip, language)
        found = self._get(key, Transcript)
        if found is None:
            found = super().transcribe(clip, language=language)
            self._put(key, found)
        self._names["transcriber"] = found.model
        return found

    def check(self, clip: Clip, text: str, *, language: str = "") -> TextCheck:
        """See ``Listener.check``."""
        key = self._key("check", clip, text, language)
        found = self._get(key, TextCheck)
        if found is None:
            found = super().check(clip, text, language=language)
            self._put(key, found)
        used = {"transcriber": found.heard.model, "aligner": found.alignment.aligner}
        self._names |= {role: name for role, name in used.items() if name}
        return found

    def quality(self, clip: Clip, text: str, *, language: str) -> QualityReport:
        """See ``Listener.quality``."""
        key = self._key("quality", clip, text, language)
        found = self._get(key, QualityReport)
        if found is None:
            found = super().quality(clip, text, language=language)
            self._put(key, found)
        return found

    def _key(self, what: str, clip: Clip, *more: str) -> str:
        said = json.dumps([what, clip.id, *more, self._models], ensure_ascii=True)
        return hashlib.sha256(said.encode("ascii")).hexdigest()

    def _get(self, key: str, kind: type[_T]) -> _T | None:
        data = self._cache.read(key)
        if data is None:
            return None
        try:
            return self._converter.structure(json.loads(data), kind)
        except Exception:  # cut short, or written by something else: as good as absent
            return None

    def _put(self, key: str, value: Any) -> None:  # noqa: ANN401  # whatever attrs-like thing it is
        document = json.dumps(self._converter.unstructure(value), ensure_ascii=True)
        self._cache.write(key, document.encode("ascii"))


class RememberingEncoder:
    """A speaker encoder whose voiceprints are kept.

    Args:
        encoder: The model.
        root: The cache's root.
        fingerprint: What tells it from another.
    """

    def __init__(self, encoder: SpeakerEncoder, root: Path, fingerprint: str) -> None:
        self._encoder = encoder
        self._cache = ProgramCache(root, "voiceprints", suffix=".safetensors")
        self._fingerprint = fingerprint
        self.name = encoder.name
        self.dim = encoder.dim
        self.default_threshold = encoder.default_threshold
        self.window_threshold = encoder.window_threshold

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """See ``refprep.protocols.SpeakerEncoder``."""
        spans = [[s.start_s, s.end_s] for s in speech]
        said = json.dumps([self._fingerprint, clip.id, spans])
        key = hashlib.sha256(said.encode("ascii")).hexdigest()
        found = self._read(key, clip.id)
        if found is None:
            found = self._encoder.embed(clip, speech)
            self._cache.write(key, _packed(found))
        return found

    def _read(self, key: str, clip_id: str) -> Voiceprint | None:
        data = self._cache.read(key)
        if data is None:
            return None
        try:
            tensors = load(data)
            windows = tuple(Span(float(a), float(b)) for a, b in tensors["windows"])
            return Voiceprint(
                clip_id=clip_id,
                model=self.name,
                vector=freeze(tensors["vector"]),
                window_vectors=freeze(tensors["window_vectors"]),
                windows=windows,
                speech_s=float(tensors["speech_s"][0]),
            )
        except (SafetensorError, KeyError, ValueError):
            return None


def _packed(found: Voiceprint) -> bytes:
    return save(
        {
            "vector": np.asarray(found.vector),
            "window_vectors": np.asarray(found.window_vectors),
            "windows": np.array([[w.start_s, w.end_s] for w in found.windows], dtype=np.float64).reshape(
                -1, 2
            ),
            "speech_s": np.array([found.speech_s], dtype=np.float64),
        }
    )
