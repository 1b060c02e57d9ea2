"""Bytes by content, valid for one state of the program.

    <root>/<kind>/<code>/<ab>/<key>     <code> is a hash of the program that made them

A program that was changed finds nothing of what it made before; what no program used for a month is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import shutil
import time
from functools import cache
from pathlib import Path

import refprep

_UNUSED_DAYS = 30
# What measures beside our own code. Their versions are part of the program.
_LIBRARIES = (
    "faster-whisper",
    "ctranslate2",
    "numpy",
    "scipy",
    "soundfile",
    "av",
    "num2words",
    "rapidfuzz",
    "torch",
)


class ProgramCache:
    """Bytes on disk. A cache that cannot be read or written is no error: things are made again.

    Args:
        root: The cache's root, such as that of the model store.
        kind: Of what is kept; one folder each.
        suffix: Of the files.
    """

    def __init__(self, root: Path, kind: str, *, suffix: str) -> None:
        self.folder = root / kind / program_fingerprint()[:16]
        self._suffix = suffix

    def read(self, key: str) -> bytes | None:
        """What was kept under a hexadecimal key; None where nothing was."""
        try:
            return self._path(key).read_bytes()
        except OSError:
            return None

    def write(self, key: str, data: bytes) -> None:
        """Keep bytes under a key."""
        path = self._path(key)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            # Not synced: an entry that a power cut spoils is found to be none and made again.
            temporary.write_bytes(data)
            temporary.replace(path)

    def sweep(self) -> None:
        """Remove what programs made that nobody ran for a month."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            os.utime(self.folder)
            oldest_s = time.time() - _UNUSED_DAYS * 86_400
            for other in self.folder.parent.iterdir():
                if other.stat().st_mtime < oldest_s:
                    shutil.rmtree(other, ignore_errors=True)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}{self._suffix}"


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
