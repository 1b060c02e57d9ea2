"""The folder that corrected copies are written to: whether it may be replaced, and how that is done."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO

from refprep.atomic import replace_folder
from refprep.errors import UsageError

MANIFEST_NAME = "utterances.jsonl"
OPTION = "--fix-to"


def check_fix_folder(folder: Path, inputs: Iterable[Path | str], targets: Mapping[str, Path | None]) -> None:
    """Refuse, before the work, a folder that must not be replaced.

    Args:
        folder: Where corrected copies go.
        inputs: Everything that is read.
        targets: Option -> what else is written.

    Raises:
        UsageError: It holds something that an earlier run did not write there, or what is checked, or another output.
    """
    real = Path(os.path.realpath(folder))
    if any(_is_within(real, path) for path in inputs):
        raise UsageError(
            f"{folder} holds files that are being checked; originals are never replaced",
            where=OPTION,
            fix="Name another folder.",
        )
    for option, target in targets.items():
        if target is not None and _is_within(real, target):
            raise UsageError(f"{option} names a place inside of {folder}", where=OPTION, fix="Name another.")
    if real.exists() and not real.is_dir():
        raise UsageError(f"{folder} is no folder", where=OPTION, fix="Name another.")
    if real.is_dir() and (stranger := _stranger(real)):
        raise UsageError(
            f"{folder} holds {stranger}, which --fix did not write",
            where=OPTION,
            fix="Name another folder, or clear it; nothing was overwritten.",
        )


class _NothingWritten(Exception):  # noqa: N818  # no error: it keeps an empty folder from the place of a full one
    pass


@contextmanager
def fix_folder(target: Path, *, write: bool) -> Iterator[tuple[Path, TextIO]]:
    """A folder for copies, and its manifest to write into.

    It takes the target's place when the block ends without an error; when the manifest has no row by then, the target
    stays as it is.

    Args:
        target: The folder; one that is there is replaced.
        write: False for a folder that vanishes with the block.
    """
    real = Path(os.path.realpath(target))
    with (
        contextlib.suppress(_NothingWritten),
        replace_folder(real) if write else TemporaryDirectory(prefix="refprep-") as name,
    ):
        manifest = Path(name) / MANIFEST_NAME
        # A file name that is no UTF-8 has lone surrogates: as escapes they are JSON.
        with manifest.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as rows:
            yield Path(name), rows
        if not manifest.stat().st_size:
            raise _NothingWritten


def _is_within(folder: Path, path: Path | str) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(folder)


def _stranger(folder: Path) -> str:
    """Name of something that is not of an earlier run; empty for a folder that holds nothing else."""
    names = {p.name for p in folder.iterdir()}
    if not names:
        return ""
    own = {MANIFEST_NAME}
    try:
        for line in (folder / MANIFEST_NAME).read_bytes().split(b"\n"):
            if line.strip():
                row: Any = json.loads(line)
                if not isinstance(row["fixed"], list):
                    return MANIFEST_NAME
                audio = str(row["audio"])
                own |= {audio, audio.removesuffix(".wav") + ".txt"}
    except (OSError, ValueError, KeyError, TypeError):
        return min(names)
    return min(names - own, default="")
