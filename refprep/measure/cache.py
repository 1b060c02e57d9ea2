"""Measurements by content: an unchanged pair of audio and text costs nothing the second time.

    <root>/lint/<code>/<ab>/<key>.json     one measurement; <code> is a hash of the program that measures

The key holds the bytes of the audio, never its path or date: the same name with other content is never a hit. A program
that was changed finds nothing of what it measured before; what no program used for a month is removed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from cattrs.preconf.json import make_converter

from refprep.measure.measurement import Measurement
from refprep.measure.program_cache import ProgramCache
from refprep.types import AudioSource, ClipEdges, ClipVoices, LanguageCase, QualityReport, Span, TextCheck


@dataclass(frozen=True, slots=True)
class MeasurementKey:
    """All that a measurement depends on.

    Attributes:
        file_sha256: Of the audio's bytes.
        suffix: Of its name, lower case: a rule asks whether it fits the content.
        text: Under test; None where there is none, or it is not asked about.
        language: As stated.
        parts: What is measured, by name.
        models: (role, fingerprint), sorted.
    """

    file_sha256: str
    suffix: str
    text: str | None
    language: str
    parts: tuple[str, ...]
    models: tuple[tuple[str, str], ...]

    @property
    def sha256(self) -> str:
        """Hash of every field, by name."""
        named = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return hashlib.sha256(json.dumps(named, sort_keys=True).encode("utf-8")).hexdigest()


class MeasurementCache:
    """Measurements on disk. A cache that cannot be read or written is no error: things are measured again.

    Args:
        root: The cache's root, such as that of the model store.
    """

    def __init__(self, root: Path) -> None:
        self._cache = ProgramCache(root, "lint", suffix=".json")
        self._converter = make_converter()

    @property
    def folder(self) -> Path:
        """Where this program's measurements are."""
        return self._cache.folder

    def get(self, key: MeasurementKey) -> Measurement | None:
        """What was measured; None where nothing was, or it cannot be read."""
        data = self._cache.read(key.sha256)
        if data is None:
            return None
        try:
            return self._converter.structure(json.loads(data), _Entry).measurement()
        except Exception:  # cut short, or written by something else: as good as absent
            return None

    def put(self, key: MeasurementKey, measurement: Measurement) -> None:
        """Remember a measurement of a file that decoded, unless the file changed while it was being measured."""
        source = measurement.source
        if source is None or source.file_sha256 != key.file_sha256:
            return
        document = json.dumps(self._converter.unstructure(_Entry.of(measurement)), ensure_ascii=True)
        self._cache.write(key.sha256, document.encode("ascii"))

    def sweep(self) -> None:
        """Remove what programs measured that nobody ran for a month."""
        self._cache.sweep()


@dataclass(frozen=True, slots=True)
class _Entry:
    """A measurement without its error: what cannot be decoded is looked at again."""

    source: AudioSource
    duration_s: float | None
    speech: tuple[Span, ...]
    quality: QualityReport | None
    check: TextCheck | None
    models: dict[str, str]
    edges: ClipEdges | None
    language: LanguageCase | None
    voices: ClipVoices | None

    @classmethod
    def of(cls, measurement: Measurement) -> _Entry:
        """Of a file that decoded."""
        named = {f.name: getattr(measurement, f.name) for f in dataclasses.fields(cls)}
        return cls(**{**named, "models": dict(measurement.models)})

    def measurement(self) -> Measurement:
        """As it was measured."""
        return Measurement(**{f.name: getattr(self, f.name) for f in dataclasses.fields(self)})
