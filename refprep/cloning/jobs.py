"""Jobs from a JSONL file: one text a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.cloning.record import CloneJob
from refprep.errors import ManifestError
from refprep.text.language import language_code

_KEYS = {"text": str, "out": str, "language": str, "seed": int, "speaker": str, "instruct": str}


@dataclass(frozen=True, slots=True)
class BatchLine:
    """A job and the file it goes to.

    Attributes:
        job: To speak.
        out: Relative to the output folder.
    """

    job: CloneJob
    out: Path


def read_jobs(path: Path, *, language: str = "", seed: int = 0) -> list[BatchLine]:
    """Read a batch.

    Args:
        path: One JSON object a line: ``text``, and of ``out``, ``language``, ``seed``, ``speaker``, ``instruct`` what
            differs from the call's options. Without ``out`` a file is named after its line.
        language: Of lines that name none.
        seed: Likewise.

    Raises:
        ManifestError: The file or a line cannot be read; two lines go to one file, or one leaves the folder.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(
            f"it cannot be read: {error}", where=str(path), fix="Name a UTF-8 JSONL file."
        ) from error
    found: list[BatchLine] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            found.append(_line(line, f"{path}:{number}", number, language, seed))
    if not found:
        raise ManifestError("it holds no jobs", where=str(path), fix='Write one {"text": ...} a line.')
    taken: dict[Path, str] = {}
    for item in found:
        if item.out in taken:
            raise ManifestError(
                f"it goes to {item.out}, as {taken[item.out]} does",
                where=item.job.name,
                fix="Give each its own out.",
            )
        taken[item.out] = item.job.name
    return found


def _line(line: str, where: str, number: int, language: str, seed: int) -> BatchLine:
    fix = f"Keys are {', '.join(_KEYS)}; text is needed."
    try:
        row: Mapping[str, Any] = json.loads(line)
    except ValueError as error:
        raise ManifestError(f"it is no JSON: {error}", where=where, fix=fix) from error
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ManifestError("it has no text", where=where, fix=fix)
    for key, value in row.items():
        if key not in _KEYS or type(value) is not _KEYS[key]:
            raise ManifestError(f"{key} is unknown or of the wrong type", where=where, fix=fix)
    out = Path(row.get("out", f"{number:05d}.wav"))
    if out.is_absolute() or ".." in out.parts or out.suffix.lower() != ".wav":
        raise ManifestError(f"out {str(out)!r} is no .wav file below the output folder", where=where, fix=fix)
    job_seed = row.get("seed", seed)
    if not 0 <= job_seed < 2**64:
        raise ManifestError("seed is below 0 or above 2^64 - 1", where=where, fix=fix)
    job = CloneJob(
        row["text"],
        language_code(row.get("language", language)),
        job_seed,
        row.get("speaker"),
        row.get("instruct"),
        name=where,
    )
    return BatchLine(job, out)
