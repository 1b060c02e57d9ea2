"""Measurements by content: an unchanged pair of audio and text costs nothing the second time.

    <root>/lint/<code>/<ab>/<key>.json     one measurement; <code> is a hash of the program that measures

The key holds the bytes of the audio, never its path or date: the same name with other content is never a hit. A program
that was changed finds nothing of what it measured before; what no program used for a month is removed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import shutil
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cattrs.preconf.json import make_converter

import refprep
from refprep.measure.measurement import Measurement
from refprep.types import AudioSource, ClipEdges, ClipVoices, LanguageCase, QualityReport, Span, TextCheck

_UNUSED_DAYS = 30
# What measures beside our own code. Their versions are part of the program.
_LIBRARIES = ("faster-whisper", "ctranslate2", "numpy", "scipy", "soundfile", "av", "num2words", "rapidfuzz")


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
        self.folder = root / "lint" / program_fingerprint()[:16]
        self._converter = make_converter()

    def get(self, key: MeasurementKey) -> Measurement | None:
        """What was measured; None where nothing was, or it cannot be read."""
        try:
            text = self._path(key).read_text(encoding="utf-8")
            return self._converter.structure(json.loads(text), _Entry).measurement()
        except Exception:  # cut short, or written by something else: as good as absent
            return None

    def put(self, key: MeasurementKey, measurement: Measurement) -> None:
        """Remember a measurement of a file that decoded, unless the file changed while it was being measured."""
        source = measurement.source
        if source is None or source.file_sha256 != key.file_sha256:
            return
        path = self._path(key)
        document = json.dumps(self._converter.unstructure(_Entry.of(measurement)), ensure_ascii=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not synced: an entry that a power cut spoils is found to be none and measured again.
            temporary.write_text(document, encoding="utf-8")
            temporary.replace(path)

    def sweep(self) -> None:
        """Remove what programs measured that nobody ran for a month."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            os.utime(self.folder)
            oldest_s = time.time() - _UNUSED_DAYS * 86_400
            for other in self.folder.parent.iterdir():
                if other.stat().st_mtime < oldest_s:
                    shutil.rmtree(other, ignore_errors=True)

    def _path(self, key: MeasurementKey) -> Path:
        name = key.sha256
        return self.folder / name[:2] / f"{name}.json"


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


@cache
def program_fingerprint() -> str:
    """SHA-256 over refprep's own code and the versions of the libraries it measures with."""
    hasher = hashlib.sha256(refprep.__version__.encode())
    folder = Path(__file__).parents[1]
    for file in sorted(folder.rglob("*.py")):
        hasher.update(file.relative_to(folder).as_posix().encode())
        hasher.update(hashlib.sha256(file.read_bytes()).digest())
    for library in _LIBRARIES:
        hasher.update(f"{library}={importlib.metadata.version(library)}".encode())
    return hasher.hexdigest()
