"""Streaming copies and hashes, and what every source is told about one pull."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, TypeAlias

from refprep.errors import BackendError, IntegrityError
from refprep.models.catalog import FileSpec

CHUNK_BYTES = 1 << 20

INDEX_SUFFIX = ".safetensors.index.json"
"""Of a file that names the files which large weights are split into."""

Progress: TypeAlias = Callable[[int], None]
"""Called with the bytes that arrived since the last call."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a model as it lies on disk: relative POSIX name, size, SHA-256."""

    name: str
    size_bytes: int
    sha256: str


def shards_of(index: Path) -> tuple[FileSpec, ...]:
    """The files that an index of weights names; none for any other file.

    Raises:
        BackendError: It is no index, or names a file outside of its folder.
    """
    if not index.name.endswith(INDEX_SUFFIX):
        return ()
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        if not names or any(PurePosixPath(n).name != n or "\\" in n or n in (".", "..") for n in names):
            raise ValueError(f"it names {names[:3]}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackendError(
            f"it is no index of weights: {error}",
            where=str(index),
            fix="Take it from the model's publisher again.",
        ) from error
    return tuple(FileSpec((name,)) for name in names)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a source delivered.

    Attributes:
        files: Everything it wrote.
        revision: Commit of a hub repository; None for the other kinds.
    """

    files: tuple[StoredFile, ...]
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Pull:
    """One pull, as a source sees it.

    Attributes:
        model_id: For messages.
        into: Empty folder beside the final one; a failed pull throws it away.
        downloads: This model's own folder for downloads, kept until the pull succeeds.
        offline: Touch no network.
        progress: Told of arriving bytes.
        expected: What an earlier pull, or another source of the catalog, says each file must be, by name.
        revision: Commit an earlier pull resolved to; None at the first.
    """

    model_id: str
    into: Path
    downloads: Path
    offline: bool
    progress: Progress
    expected: Mapping[str, StoredFile] = field(default_factory=dict)
    revision: str | None = None

    def check(self, spec: FileSpec, stored: StoredFile) -> None:
        """Hold a file against the catalog and against the record.

        Raises:
            IntegrityError: Its size or SHA-256 is not the one known for it.
        """
        if spec.size_bytes is not None and stored.size_bytes != spec.size_bytes:
            raise IntegrityError(
                f"has {stored.size_bytes} bytes or more, but the catalog has {spec.size_bytes}",
                where=f"{self.model_id}/{stored.name}",
                fix="Do not use that source",
            )
        known = self.expected.get(stored.name)
        for sha256, whose in ((spec.sha256, "the catalog"), (known and known.sha256, "the first pull")):
            if sha256 and stored.sha256 != sha256:
                raise IntegrityError(
                    f"SHA-256 is {stored.sha256}, but {whose} has {sha256}",
                    where=f"{self.model_id}/{stored.name}",
                    fix=f"Try `refprep models pull {self.model_id}` again; if it stays so, do not use that source",
                )


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in constant memory."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def copy_hashed(source: BinaryIO, target: BinaryIO, digest: hashlib._Hash, *, limit_bytes: int | None) -> int:
    """Copy a stream and hash what passes.

    Args:
        source: Read to its end.
        target: Written at its position.
        digest: Updated with every byte, so that several streams can make one file.
        limit_bytes: Stop soon after that many: a member that inflates without end must not fill the disk.

    Returns:
        Bytes copied, more than ``limit_bytes`` only if the source holds more.
    """
    copied = 0
    while chunk := source.read(CHUNK_BYTES):
        target.write(chunk)
        digest.update(chunk)
        copied += len(chunk)
        if limit_bytes is not None and copied > limit_bytes:
            break
    return copied


def sync_file(stream: BinaryIO) -> None:
    """Bring a written file to the disk, so that a rename never precedes its content."""
    stream.flush()
    os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Bring a folder's entries to the disk; a no-op where a folder cannot be opened (Windows)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
