"""The lines of a run that was killed, so that the next one goes on where it stopped.

While a run writes JSON lines to a file two files stand beside it, flushed line by line: ``.NAME.<settings>.partial``
with the lines, and ``.NAME.<settings>.rows`` with a hash for each: of the line, of everything its row says, and of the
bytes of its audio. The last act of the run is the rename. Lines are believed only in order, while each hash is that of
the row in its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from refprep.alone import alone
from refprep.errors import MachineError
from refprep.manifest import Utterance
from refprep.memory import FileHashes

_MARK_DIGITS = 12
_HASH_BYTES = 65  # hexadecimal digits and a line feed


class Journal:
    """Lines of a run in progress.

    Args:
        target: The file that is to be.
        settings: Everything beside the rows that decides about the lines.
    """

    def __init__(self, target: Path, settings: str) -> None:
        self.target = target
        mark = hashlib.sha256(settings.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_DIGITS]
        self.path = target.with_name(f".{target.name}.{mark}.partial")
        self.rows_path = self.path.with_suffix(".rows")

    @contextmanager
    def open(self, *, resume: bool) -> Iterator[JournalLines]:
        """The lines, to be read and added to; they become the target when the block ends without an error.

        Args:
            resume: Keep those that are there; ``JournalLines.finished`` says which of them hold.

        Raises:
            UsageError: Another run writes to the same target.
            MachineError: The disk refused.
        """
        with contextlib.ExitStack() as stack:
            with _disk(self.target):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                stack.enter_context(alone(self.target, what="file"))
                lines, rows = (
                    stack.enter_context(_keep_open(path, resume=resume))
                    for path in (self.path, self.rows_path)
                )
            yield JournalLines(lines, rows, self.target)
            with _disk(self.target):
                lines.close()
                rows.close()
                self.path.replace(self.target)
                self._tidy()

    def _tidy(self) -> None:
        """Remove what runs with other settings left, now that the target is there."""
        own = re.compile(rf"\.{re.escape(self.target.name)}\.[0-9a-f]{{{_MARK_DIGITS}}}\.(partial|rows)")
        with contextlib.suppress(OSError):
            for other in self.target.parent.iterdir():
                if own.fullmatch(other.name):
                    other.unlink(missing_ok=True)


class JournalLines:
    """The open files of a journal."""

    def __init__(self, lines: IO[bytes], rows: IO[bytes], target: Path) -> None:
        self._lines = lines
        self._rows = rows
        self._target = target
        self._hashes = FileHashes()

    def finished(self, utterances: Sequence[Utterance]) -> Iterator[Mapping[str, Any]]:
        """The lines of a killed run that hold for the first rows of this one; what follows them is cut off.

        To be read to the end before a line is added.

        Yields:
            One object for each of the first rows.
        """
        whole_bytes = number = 0
        with _disk(self._target):
            self._lines.seek(0)
            self._rows.seek(0)
            for utterance in utterances:
                line = self._lines.readline()
                known = self._rows.read(_HASH_BYTES)
                if known != _hash(line, utterance, self._hashes.of(utterance.audio)):
                    break
                yield json.loads(line)
                whole_bytes += len(line)
                number += 1
            self._lines.seek(whole_bytes)
            self._lines.truncate()
            self._rows.seek(number * _HASH_BYTES)
            self._rows.truncate()

    def add(self, line: str, utterance: Utterance, audio_sha256: str | None) -> None:
        """Write a line, so that a kill right after it does not lose it.

        Args:
            line: JSON, without the line feed.
            utterance: Its row.
            audio_sha256: Of the audio's bytes; None where it did not decode.

        Raises:
            MachineError: The disk refused.
        """
        # A lone surrogate (a file name that is no UTF-8) becomes \udc.., as JSON has it.
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        with _disk(self._target):
            self._lines.write(data)
            self._lines.flush()
            self._rows.write(_hash(data, utterance, audio_sha256 or self._hashes.of(utterance.audio)))
            self._rows.flush()


def _hash(line: bytes, utterance: Utterance, audio_sha256: str | None) -> bytes:
    row = {
        "path": str(utterance.audio),
        "audio_sha256": audio_sha256,
        "text": utterance.text,
        "language": utterance.language,
        "speaker": utterance.speaker,
        "source": utterance.source,
        "extra": dict(utterance.extra),
    }
    hasher = hashlib.sha256(json.dumps(row, sort_keys=True, default=str).encode())
    hasher.update(line)
    return f"{hasher.hexdigest()}\n".encode()


@contextmanager
def _keep_open(path: Path, *, resume: bool) -> Iterator[IO[bytes]]:
    if not resume or not path.exists():
        path.write_bytes(b"")
    with path.open("r+b") as file:
        yield file


@contextmanager
def _disk(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"it cannot be written: {error.strerror}", where=str(target), fix="Check the folder and the disk."
        ) from error
