"""The lines of a run that was killed, so that the next one goes on where it stopped.

While a run writes JSON lines to a file they stand in ``.NAME.<settings>.partial`` beside it, flushed one by one; the last
act of the run is the rename. Lines are believed only in order, while each is that of the row in its place: same audio by
hash, same text, same place in the manifest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock, Timeout

from refprep.errors import MachineError, UsageError
from refprep.manifest import Utterance


class Journal:
    """Lines of a run in progress.

    Args:
        target: The file that is to be.
        settings: Everything beside the rows that decides about the lines.
    """

    def __init__(self, target: Path, settings: str) -> None:
        self.target = target
        mark = hashlib.sha256(settings.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self.path = target.with_name(f".{target.name}.{mark}.partial")

    def finished(self, utterances: Sequence[Utterance]) -> Iterator[Mapping[str, Any]]:
        """The lines of a killed run that hold for the first rows of this one; what follows them is cut off.

        Yields:
            One object for each of the first rows.
        """
        whole_bytes = 0
        with contextlib.suppress(FileNotFoundError), self.path.open("rb") as file:
            for utterance in utterances:
                line = file.readline()
                row = _row_of(line)
                if row is None or not _is_of(row, utterance):
                    break
                whole_bytes += len(line)
                yield row
        if self.path.exists():
            os.truncate(self.path, whole_bytes)

    @contextmanager
    def open(self, *, resume: bool) -> Iterator[TextIO]:
        """The file to write lines into; it becomes the target when the block ends without an error.

        Args:
            resume: Keep what is in it.

        Raises:
            UsageError: Another run writes to the same target.
            MachineError: The disk refused.
        """
        lock = FileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=0)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with (
                lock,
                self.path.open(
                    "a" if resume else "w", encoding="utf-8", errors="backslashreplace", newline="\n"
                ) as file,
            ):
                yield file
                file.flush()
                os.fsync(file.fileno())
                self.path.replace(self.target)
        except Timeout as error:
            raise UsageError(
                "another run is writing to this file",
                where=str(self.target),
                fix="Wait for it, or name another.",
            ) from error
        except OSError as error:
            raise MachineError(
                f"it cannot be written: {error.strerror}",
                where=str(self.target),
                fix="Check the folder and the disk.",
            ) from error
        self._tidy()

    def _tidy(self) -> None:
        """Remove what runs with other settings left, now that the target is there."""
        with contextlib.suppress(OSError):
            prefix = f".{self.target.name}."
            for other in self.target.parent.iterdir():
                if other.name.startswith(prefix) and other.name.endswith((".partial", ".partial.lock")):
                    other.unlink(missing_ok=True)


def _row_of(line: bytes) -> Mapping[str, Any] | None:
    """A whole line's object; None for one that was cut short."""
    if not line.endswith(b"\n"):
        return None
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _is_of(row: Mapping[str, Any], utterance: Utterance) -> bool:
    """The line tells of this utterance, as it is now."""
    place = (str(utterance.audio), utterance.source or None, utterance.text)
    if (row.get("path"), row.get("text_source"), row.get("text")) != place:
        return False
    try:
        with utterance.audio.open("rb") as file:
            return bool(row.get("audio_sha256") == hashlib.file_digest(file, "sha256").hexdigest())
    except (OSError, ValueError):
        return False
