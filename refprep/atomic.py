"""Files and folders that appear whole or not at all, also when the process is killed.

A file is written beside its target and renamed onto it. A folder is written beside its target and the two swap names
in one system call (Linux ``renameat2``, macOS ``renamex_np``), so that at every moment the name leads to the old folder
or the new one. Where the system has no such call the old folder is renamed away first, and ``recover`` puts it back if
the process died between the two renames.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from refprep.errors import MachineError

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # linux/fs.h
_RENAME_SWAP = 2  # macOS sys/stdio.h
_NO_SUCH_CALL = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 text file atomically; missing parent folders are made.

    Raises:
        MachineError: The disk refused.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically and durably; missing parent folders are made.

    Raises:
        MachineError: The disk refused.
    """
    temporary = path.with_name(f".{path.name}.{_tag()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise _disk_error(error, path) from error


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    r"""A UTF-8 text file to write into; it takes its name when the block ends without an error.

    Lone surrogates (file names that are no UTF-8) are written as ``\udc..``, as JSON has them. Missing parent folders
    are made.

    Raises:
        MachineError: The disk refused.
    """
    temporary = path.with_name(f".{path.name}.{_tag()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _disk_error(error, path) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def replace_folder(target: Path) -> Iterator[Path]:
    """Build a folder beside ``target``; it takes the target's place when the block ends without an error.

    Yields:
        An empty folder to fill. It is removed when the block raises. What a killed process left behind is removed by
        the next call for the same target.

    Raises:
        MachineError: The disk refused.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        recover(target)
        fresh = target.parent / f".{target.name}.{_tag()}"
        fresh.mkdir()
    except OSError as error:
        raise _disk_error(error, target) from error
    try:
        yield fresh
        _sync(fresh)
        _put_in_place(fresh, target)
    except OSError as error:
        if error.errno is None:
            raise  # some libraries call their own troubles OSError; those are not the disk's
        raise _disk_error(error, target) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def recover(target: Path) -> None:
    """Clear what killed processes left beside a target; bring the old folder back where it was renamed away."""
    for left in sorted(target.parent.glob(f".{_escape(target.name)}.refprep-*")):
        owner = left.name.removeprefix(f".{target.name}.refprep-").split("-", 1)[0]
        if owner.isdigit() and _is_running(int(owner)):
            continue
        if left.name.endswith("-old") and not target.exists():
            left.rename(target)
        elif left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _tag() -> str:
    return f"refprep-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def _escape(name: str) -> str:
    return "".join(f"[{ch}]" if ch in "*?[" else ch for ch in name)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync(folder: Path) -> None:
    """Push every file and the folder to the disk: a rename must not outlive the data it names."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _put_in_place(fresh: Path, target: Path) -> None:
    if not target.exists():
        fresh.rename(target)
    elif not _exchange(fresh, target):
        old = target.parent / f"{fresh.name}-old"
        target.rename(old)
        try:
            fresh.rename(target)
        except OSError:
            old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one system call; False where the system or the file system has none."""
    call = _exchange_call()
    if call is None:
        return False
    if call(os.fsencode(one), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_SUCH_CALL:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return lambda a, b: int(library.renameat2(_AT_FDCWD, a, _AT_FDCWD, b, _RENAME_EXCHANGE))
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda a, b: int(library.renamex_np(a, b, _RENAME_SWAP))
    return None


def _disk_error(error: OSError, path: Path) -> MachineError:
    return MachineError(
        f"it cannot be written: {error.strerror or error}",
        where=str(path),
        fix="Check free space and permissions; what was there before is untouched.",
    )
