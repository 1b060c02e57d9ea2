"""What was done, refused and why: one line for every speaker, on disk before the next one is begun."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

from refprep.atomic import write_text
from refprep.corpus.task import BUILT, FAILED, REFUSED, SpeakerResult, SpeakerTask
from refprep.errors import MachineError
from refprep.voice.names import VOICE_NAME, sha256_of_file

LEDGER_NAME, SUMMARY_NAME = "ledger.jsonl", "summary.csv"
SCHEMA_VERSION = 1
_COLUMNS = (
    "speaker",
    "status",
    "folder",
    "given",
    "chosen",
    "duration_s",
    "is_verified",
    "min_pairwise_score",
    "refused",
    "reason",
)


class Ledger:
    """The ledger of a folder of voices.

    Args:
        folder: Of the voices.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / LEDGER_NAME

    def finished(self) -> dict[str, SpeakerResult]:
        """Speaker -> its last line. A line that a killed run left half-written is none."""
        found: dict[str, SpeakerResult] = {}
        for row in self._rows():
            known = {f.name: row[f.name] for f in fields(SpeakerResult) if f.name in row}
            try:
                result = SpeakerResult(**known)
            except TypeError:
                continue
            found[result.speaker] = result
        return found

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        try:
            with self.path.open(encoding="utf-8") as file:
                for line in file:
                    try:
                        row = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(row, dict) and row.get("schema_version") == SCHEMA_VERSION:
                        yield row
        except FileNotFoundError:
            return
        except (OSError, UnicodeDecodeError) as error:
            raise MachineError(
                f"it cannot be read: {error}", where=str(self.path), fix="Move it away, or mend it."
            ) from error

    def holds(self, task: SpeakerTask, result: SpeakerResult | None) -> bool:
        """A line still tells the truth: nothing that decides about the voice changed, and the voice is what was built."""
        if result is None or result.mark != task.mark or result.status == FAILED:
            return False
        if result.status == REFUSED:
            return True
        try:
            return sha256_of_file(task.folder / VOICE_NAME) == result.voice_sha256
        except OSError:
            return False

    @contextmanager
    def open(self, *, resume: bool) -> Iterator[IO[bytes]]:
        """The file to add lines to; begun anew unless resumed."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab" if resume else "wb") as file:
                if resume and not _ends_with_a_line(self.path):
                    file.write(b"\n")  # what a killed run left half-written stays a line of its own
                yield file
        except OSError as error:
            raise _disk_error(error, self.path) from error

    def add(self, file: IO[bytes], result: SpeakerResult) -> None:
        """Write a line, and have the disk hold it.

        Raises:
            MachineError: The disk refused.
        """
        line = json.dumps({"schema_version": SCHEMA_VERSION, **asdict(result)}, ensure_ascii=False)
        try:
            file.write(line.encode("utf-8", "backslashreplace") + b"\n")
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise _disk_error(error, self.path) from error


def write_summary(folder: Path, results: Sequence[SpeakerResult]) -> None:
    """Write summary.csv, one row for every speaker.

    Raises:
        MachineError: The disk refused.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for result in results:
        row = {
            **asdict(result),
            "refused": " ".join(f"{code}:{count}" for code, count in result.refused.items()),
        }
        writer.writerow(["" if row[c] is None else row[c] for c in _COLUMNS])
    write_text(folder / SUMMARY_NAME, text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8"))


def count_statuses(results: Sequence[SpeakerResult]) -> dict[str, int]:
    """Status -> number of speakers."""
    return {status: sum(r.status == status for r in results) for status in (BUILT, REFUSED, FAILED)}


def _ends_with_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _disk_error(error: OSError, path: Path) -> MachineError:
    return MachineError(
        f"it cannot be written: {error.strerror or error}",
        where=str(path),
        fix="Check free space and permissions, then go on with --resume.",
    )
