"""What the reports of a run add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from refprep.linter.rule import Severity
from refprep.linter.run import FileReport


class Tally:
    """Counts reports as they pass.

    Attributes:
        models: Role -> name of the models that measured.
    """

    def __init__(self) -> None:
        self.models: dict[str, str] = {}
        self._severities: Counter[Severity] = Counter()
        self._files = self._files_with_findings = self._known = self._fixed = 0

    @classmethod
    def of(cls, reports: Iterable[FileReport]) -> Tally:
        """All of them, counted."""
        tally = cls()
        for _ in tally.watch(reports):
            pass
        return tally

    def watch(self, reports: Iterable[FileReport]) -> Iterator[FileReport]:
        """The same reports, counted."""
        for report in reports:
            self._files += 1
            left = report.left
            self._files_with_findings += bool(left)
            self._known += report.num_known
            self._fixed += len(report.findings) - len(left)
            self._severities.update(f.severity for f in left)
            self.models |= report.models
            yield report

    def count_row(self, row: Mapping[str, Any]) -> None:
        """Count a report that an earlier run wrote as JSON."""
        findings = row["findings"]
        self._files += 1
        self._files_with_findings += bool(findings)
        self._severities.update(Severity(f["severity"]) for f in findings)

    def summary(self) -> dict[str, int]:
        """What a script wants first; findings that a corrected copy does not have are counted apart."""
        return {
            "files": self._files,
            "files_with_findings": self._files_with_findings,
            **{f"{s.value}s": self._severities[s] for s in sorted(Severity, key=lambda s: -s.rank)},
            "known": self._known,
            **({"fixed": self._fixed} if self._fixed else {}),
        }

    def has_at_least(self, severity: Severity) -> bool:
        """A finding as bad as this was counted."""
        return any(s.rank >= severity.rank and n for s, n in self._severities.items())
