"""Findings -> CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from refprep.linter.render import file_json, finding_json
from refprep.linter.run import FileReport

_FINDING = ("code", "name", "severity", "start_s", "end_s", "message", "remedy", "suggested_text")
_FILE = ("text_source", "duration_s", "verdict", "coverage", "error_rate", "heard_text", "language")
COLUMNS = ("path", *_FINDING, *_FILE)
# What spreadsheets take for the start of a formula (OWASP, "CSV Injection"); the last four are the full-width forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def to_csv(reports: Iterable[FileReport]) -> Iterator[str]:
    """A header and a row for every finding; a file without findings has one row with an empty code.

    A text that a spreadsheet would run as a formula gets a ``'`` in front.

    Yields:
        The document in parts that end where a line ends, without the line feed.
    """
    yield _rows([COLUMNS])
    for report in reports:
        rows = []
        for found in [finding_json(f) for f in report.findings] or [{}]:
            row = {**dict.fromkeys(COLUMNS), **found, **file_json(report)}
            rows.append([_cell(row[name]) for name in COLUMNS])
        yield _rows(rows)


def _rows(rows: Iterable[Sequence[object]]) -> str:
    file = io.StringIO()
    # Every text is quoted: older csv modules leave a bare carriage return unquoted, which ends the row for readers.
    csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(rows)
    return file.getvalue().removesuffix("\n")


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
