"""CacheKey <-> CodeCacheEntry on disk: a reference is encoded once.

    <root>/codes/<ab>/<digest>.safetensors     one entry, named by the hash of its whole key
    <root>/codes/damaged/<digest>.safetensors  a file that was found not to be what was written; never served

The key holds the samples, never a path or a date, so that the same name with other content is never a hit. Entries appear
whole by one rename; many processes may write the same one at once.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from refprep.atomic import write_bytes
from refprep.environment import cache_root
from refprep.errors import IntegrityError, MachineError
from refprep.pipeline.code_file import SUFFIX, entry_name, pack_entry, read_entry
from refprep.types import CacheKey, CodeCacheEntry

_DAMAGED = "damaged"
_LEFTOVER_S = 3600.0  # a write takes milliseconds; what is older was left by a killed process


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file of the cache.

    Attributes:
        path: Where it is.
        size_bytes: Of it.
        used_s: When it was last written or read, seconds of the Unix clock.
        entry: What it holds; None where it is damaged.
        fault: Why it is damaged; empty otherwise.
    """

    path: Path
    size_bytes: int
    used_s: float
    entry: CodeCacheEntry | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """A file that ``gc`` removes, and why."""

    path: Path
    size_bytes: int
    why: str


class CodeCache:
    """Entries below one folder of this machine.

    Args:
        root: The cache's root.
    """

    def __init__(self, root: Path) -> None:
        self.folder = root / "codes"

    @classmethod
    def default(cls) -> CodeCache:
        """This user's: below ``REFPREP_CACHE``, else the platform's cache folder."""
        return cls(cache_root())

    def path(self, key: CacheKey) -> Path:
        """Where the entry of a key lies or would lie."""
        name = entry_name(key)
        return self.folder / name[:2] / name

    def get(self, key: CacheKey) -> CodeCacheEntry | None:
        """The entry of exactly this key; None where there is none.

        A file that is not what was written counts as none: it is set aside, and the reference is encoded again.
        """
        path = self.path(key)
        try:
            entry = read_entry(path)
        except FileNotFoundError:
            return None
        except IntegrityError:
            self._set_aside(path)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # `gc` goes by the last use
        return entry

    def put(self, entry: CodeCacheEntry) -> Path:
        """Keep an entry; another process may do the same at the same time.

        Raises:
            MachineError: The disk refused.
        """
        path = self.path(entry.key)
        write_bytes(path, pack_entry(entry))
        return path

    def files(self) -> Iterator[CachedFile]:
        """Every file, read and verified, in the order of names; those that were set aside last."""
        for path in self._paths():
            try:
                status = path.stat()
                entry, fault = read_entry(path), ""
            except FileNotFoundError:
                continue  # removed by another process meanwhile
            except IntegrityError as error:
                entry, fault = None, error.what
            if path.parent.name == _DAMAGED:
                entry, fault = None, f"set aside: {fault or 'it was damaged when it was asked for'}"
            yield CachedFile(path, status.st_size, status.st_mtime, entry, fault)

    def gc(
        self,
        *,
        unused_s: float | None = None,
        max_bytes: int | None = None,
        keep_audio: Collection[str] | None = None,
        dry_run: bool = False,
        now_s: Callable[[], float] = time.time,
    ) -> list[Removal]:
        """Remove damaged files, what killed processes left, and what the arguments say.

        Args:
            unused_s: Entries that nobody used for so long.
            max_bytes: The entries used longest ago, until the rest is no larger.
            keep_audio: Entries of references other than these (``audio_sha256``).
            dry_run: Say what would be removed, and remove nothing.
            now_s: The clock.

        Returns:
            What was removed, or would be.

        Raises:
            MachineError: The disk refused.
        """
        now = now_s()
        removals = [Removal(p, n, "left by a killed process") for p, n in self._leftovers(now)]
        kept: list[CachedFile] = []
        for file in self.files():
            why = _why(file, now, unused_s, keep_audio)
            if why:
                removals.append(Removal(file.path, file.size_bytes, why))
            else:
                kept.append(file)
        if max_bytes is not None:
            total = sum(f.size_bytes for f in kept)
            for file in sorted(kept, key=lambda f: f.used_s):
                if total <= max_bytes:
                    break
                total -= file.size_bytes
                removals.append(Removal(file.path, file.size_bytes, "the cache is too large"))
        if not dry_run:
            for removal in removals:
                _remove(removal.path)
        return removals

    def _paths(self) -> list[Path]:
        found = sorted(p for p in self.folder.glob(f"*/*{SUFFIX}") if not p.name.startswith("."))
        return sorted(found, key=lambda p: p.parent.name == _DAMAGED)

    def _leftovers(self, now_s: float) -> Iterator[tuple[Path, int]]:
        for path in sorted(self.folder.glob("*/.*")):
            with contextlib.suppress(OSError):
                status = path.stat()
                if status.st_mtime < now_s - _LEFTOVER_S:
                    yield path, status.st_size

    def _set_aside(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            aside = self.folder / _DAMAGED
            aside.mkdir(parents=True, exist_ok=True)
            path.replace(aside / path.name)


def _why(file: CachedFile, now_s: float, unused_s: float | None, keep: Collection[str] | None) -> str:
    if file.entry is None:
        return file.fault
    if keep is not None and file.entry.key.audio_sha256 not in keep:
        return "it is of no voice to keep"
    if unused_s is not None and file.used_s < now_s - unused_s:
        return f"not used for {(now_s - file.used_s) / 86_400:.0f} days"
    return ""


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise MachineError(
            f"it cannot be removed: {error.strerror or error}", where=str(path), fix="Check its permissions."
        ) from error
