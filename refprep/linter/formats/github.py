"""Findings -> workflow commands: annotations of a GitHub Actions run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from refprep.linter.formats.place import place_of, statement, within
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
# actions/toolkit, packages/core/src/command.ts: escapeData, and what escapeProperty adds. The other control characters
# are dropped: a log is shown on terminals too.
_IN_DATA = {
    **dict.fromkeys((*range(0x20), *range(0x7F, 0xA0))),
    **{ord("\t"): "\t", ord("%"): "%25", ord("\r"): "%0D", ord("\n"): "%0A"},
}
_IN_PROPERTY = {**_IN_DATA, ord(":"): "%3A", ord(","): "%2C"}


def to_github(reports: Iterable[FileReport], *, root: Path) -> Iterator[str]:
    """One command a finding, at the manifest row or the audio file.

    Args:
        reports: Of the run.
        root: The checkout, absolute: files inside are named relative to it.

    Yields:
        Lines.
    """
    yield from (_command(r, f, root) for r in reports for f in r.findings)


def _command(report: FileReport, finding: Finding, root: Path) -> str:
    file, line = place_of(report)
    properties = {
        "file": within(file, root) or file,
        **({"line": str(line)} if line is not None else {}),
        "title": f"{finding.code} {finding.name}",
    }
    told = ",".join(f"{name}={value.translate(_IN_PROPERTY)}" for name, value in properties.items())
    return f"::{_COMMAND[finding.severity]} {told}::{statement(report, finding).translate(_IN_DATA)}"
