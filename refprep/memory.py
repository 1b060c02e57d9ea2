"""What is remembered for a while: the last few things of a dictionary, hashes of files."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def forget_oldest(memory: dict[_Key, _Value], *, most: int) -> None:
    """Make room for one more entry: the first ones go until fewer than ``most`` are left."""
    while len(memory) >= most:
        memory.pop(next(iter(memory)))


class FileHashes:
    """SHA-256 of files' bytes; one is read again when its size, time or place on disk changed.

    Args:
        most: Files remembered: manifests name one many times.
    """

    def __init__(self, *, most: int = 1024) -> None:
        self._most = most
        self._known: dict[Path, tuple[tuple[int, int, int], str]] = {}

    def of(self, path: Path) -> str | None:
        """Of a regular file; None for anything else, and where it cannot be read."""
        try:
            stat = path.stat()
            sign = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
            known = self._known.get(path)
            if known is not None and known[0] == sign:
                return known[1]
            if not path.is_file():  # a pipe would be read empty, a device without end
                return None
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except (OSError, ValueError):
            return None
        forget_oldest(self._known, most=self._most)
        self._known[path] = (sign, digest)
        return digest
