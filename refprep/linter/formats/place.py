"""Where a finding is shown and how it is worded, for the formats that know files and lines but no seconds."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from refprep.linter.render import sentence
from refprep.linter.rule import Finding
from refprep.linter.run import FileReport

_ROW = re.compile(r"(.+):([1-9][0-9]*)", re.DOTALL)


def place_of(report: FileReport) -> tuple[str, int | None]:
    """File and line of the manifest row that named the audio; the audio file and None where no row did."""
    row = _ROW.fullmatch(report.utterance.source)
    return (row[1], int(row[2])) if row else (report.path, None)


def within(path: str, root: Path) -> str | None:
    """A path relative to a folder, with slashes.

    Args:
        path: Absolute, or relative to ``root``.
        root: Absolute.

    Returns:
        None for what lies outside: ``..`` means nothing to a reader of the report.
    """
    absolute, base = Path(os.path.normpath(root / path)), Path(os.path.normpath(root))
    return absolute.relative_to(base).as_posix() if absolute.is_relative_to(base) else None


def statement(report: FileReport, finding: Finding) -> str:
    """A finding in sentences, with its seconds, and with its file where the place is a row of a manifest."""
    _, line = place_of(report)
    told = [report.path] if line is not None else []
    if finding.span is not None:
        told.append(f"{finding.span.start_s:.2f}-{finding.span.end_s:.2f} s")
    return ": ".join([*told, f"{sentence(finding.message)} {sentence(finding.remedy)}"])


def one_line(text: str) -> str:
    """A text without control characters, lone surrogates and line breaks; white space becomes single blanks."""
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") else c for c in text)
    return " ".join(plain.split())
