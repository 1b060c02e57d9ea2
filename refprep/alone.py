"""One at a time: a target that a run writes to is closed to every other run until it ends, however it ends."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from refprep.errors import MachineError, UsageError


@contextmanager
def alone(target: Path, *, what: str) -> Iterator[None]:
    """Hold ``.NAME.lock`` beside a target; the system lets go of it when the process dies.

    Args:
        target: File or folder that will be written; missing parent folders are made.
        what: Noun for the message: ``file``, ``folder``.

    Raises:
        UsageError: Another run holds it.
        MachineError: The folder above cannot be written.
    """
    path = target.with_name(f".{target.name}.lock")
    lock = _acquire(path, target, what)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
        lock.release()


def _acquire(path: Path, target: Path, what: str) -> FileLock:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            before = path.stat().st_ino
            lock = FileLock(path)
            lock.acquire(timeout=0)
        except Timeout as error:
            raise UsageError(
                f"another run is writing to this {what}",
                where=str(target),
                fix="Wait for it, or name another.",
            ) from error
        except FileNotFoundError:
            continue  # a run that ended took it away between two of our calls
        except OSError as error:
            raise MachineError(
                f"it cannot be written: {error.strerror or error}",
                where=str(target),
                fix="Check free space and permissions; what was there before is untouched.",
            ) from error
        # A run that ended meanwhile took the lock's file away: ours would keep nobody out.
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == before:
                return lock
        lock.release()
