"""A file, opened once: the bytes that are hashed are the bytes that are decoded."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from refprep.errors import AudioDecodeError

IN_MEMORY_BYTES = 1 << 30  # up to here a file is read once, whole; a larger one is hashed and then read again
_CHUNK_BYTES = 1 << 20

_SPECIAL_FILES = (
    (stat.S_ISDIR, "is a folder", "Name one audio file, or give the folder to `refprep lint`"),
    (stat.S_ISFIFO, "is a named pipe, which can block forever", "Write its content to a file first"),
    (stat.S_ISSOCK, "is a socket", "Name an audio file"),
    (stat.S_ISCHR, "is a device", "Record to a file first"),
    (stat.S_ISBLK, "is a device", "Copy the recording to a file first"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """An open audio file.

    Attributes:
        path: As the caller gave it.
        stream: Seekable; in memory up to ``IN_MEMORY_BYTES``.
        size_bytes: Of the file.
        sha256: Of its bytes, hex.
    """

    path: str
    stream: BinaryIO
    size_bytes: int
    sha256: str

    def read_at(self, offset: int, num_bytes: int) -> bytes:
        """Up to ``num_bytes`` from ``offset``; fewer at the end of the file."""
        self.stream.seek(offset)
        return self.stream.read(num_bytes)

    def excerpt(self, start: int, stop: int, *, head: bytes = b"") -> BinaryIO:
        """A stream of the bytes from ``start`` to ``stop``, behind a head of its own; it keeps its own position."""
        return io.BufferedReader(_Excerpt(self, start, stop, head))

    def error(self, what: str, *, fix: str) -> AudioDecodeError:
        """An error about this file."""
        return AudioDecodeError(what, where=self.path, fix=fix)


class _Excerpt(io.RawIOBase):
    """Some bytes, then a part of a source; nothing of it is copied before it is read."""

    def __init__(self, source: Source, start: int, stop: int, head: bytes) -> None:
        self._source = source
        self._start = start
        self._head = head
        self._num_bytes = len(head) + stop - start
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._num_bytes}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # any writable buffer
        view = memoryview(buffer).cast("B")
        wanted = max(0, min(len(view), self._num_bytes - self._at))
        data = self._head[self._at : self._at + wanted]
        if len(data) < wanted:
            offset = self._start + self._at + len(data) - len(self._head)
            data += self._source.read_at(offset, wanted - len(data))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


@contextmanager
def open_source(path: str, *, max_bytes: int, in_memory_bytes: int | None = None) -> Iterator[Source]:
    """Open a regular file, hash it, and see to it that it does not change while it is read.

    Args:
        path: File to read.
        max_bytes: A larger file is refused before it is read.
        in_memory_bytes: A larger file stays on the disk; ``IN_MEMORY_BYTES`` when None.

    Yields:
        The file; its stream is closed afterwards.

    Raises:
        AudioDecodeError: Missing, no regular file, not readable, empty, too large, or changed meanwhile.
    """
    _refuse_special(path, _stat(path))
    # O_NONBLOCK: should a pipe have taken the file's place since the stat, opening it must not block.
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise _unreadable(path, error) from error
    with os.fdopen(descriptor, "rb") as stream:
        before = os.fstat(stream.fileno())
        _refuse_special(path, before)
        if before.st_size == 0:
            raise AudioDecodeError("the file is empty (0 bytes)", where=path, fix="Copy or record it again")
        if before.st_size > max_bytes:
            raise AudioDecodeError(
                f"the file has {before.st_size / 2**30:.2f} GiB, over the limit of {max_bytes / 2**30:.2f} GiB (max_bytes)",
                where=path,
                fix="Cut it into utterances with `refprep split`, or raise the limit",
            )
        try:
            source = _read(
                path, stream, before.st_size, IN_MEMORY_BYTES if in_memory_bytes is None else in_memory_bytes
            )
        except OSError as error:
            raise _unreadable(path, error) from error
        _refuse_changed(path, before, os.fstat(stream.fileno()))
        yield source
        if source.stream is stream:  # the decoder read the disk a second time
            _refuse_changed(path, before, os.fstat(stream.fileno()))


def _read(path: str, stream: BinaryIO, size_bytes: int, in_memory_bytes: int) -> Source:
    if size_bytes <= in_memory_bytes:
        content = stream.read()
        return Source(path, io.BytesIO(content), len(content), hashlib.sha256(content).hexdigest())
    digest = hashlib.sha256()
    while chunk := stream.read(_CHUNK_BYTES):
        digest.update(chunk)
    return Source(path, stream, size_bytes, digest.hexdigest())


def _stat(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except FileNotFoundError as error:
        is_link = os.path.islink(path)
        what = "is a link to a file that does not exist" if is_link else "no such file"
        raise AudioDecodeError(what, where=path, fix="Check the path") from error
    except NotADirectoryError as error:
        raise AudioDecodeError(
            "a part of the path is a file, not a folder", where=path, fix="Check the path"
        ) from error
    except ValueError as error:  # an embedded NUL
        raise AudioDecodeError(f"is no path: {error}", where=repr(path), fix="Check the path") from error
    except OSError as error:
        raise _unreadable(path, error) from error


def _refuse_special(path: str, status: os.stat_result) -> None:
    for is_kind, what, fix in _SPECIAL_FILES:
        if is_kind(status.st_mode):
            raise AudioDecodeError(what, where=path, fix=fix)


def _refuse_changed(path: str, before: os.stat_result, after: os.stat_result) -> None:
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise AudioDecodeError(
            "the file changed while it was read",
            where=path,
            fix="Wait until it is fully written, then try again",
        )


def _unreadable(path: str, error: OSError) -> AudioDecodeError:
    if isinstance(error, PermissionError):
        return AudioDecodeError(
            "no permission to read it", where=path, fix="Change its permissions (chmod +r)"
        )
    return AudioDecodeError(
        f"cannot be read: {error.strerror or error}", where=path, fix="Check the path and the disk"
    )
