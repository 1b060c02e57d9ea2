"""FileReports -> one HTML file that opens anywhere and asks the network for nothing, written while they come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO

from refprep.linter.rule import Severity
from refprep.linter.run import FileReport
from refprep.report.lint.sound import (
    LONG_RATE_HZ,
    LONG_S,
    MOST_EMBEDDED,
    MOST_EMBEDDED_BYTES,
    MOST_S,
    Room,
)
from refprep.report.lint.view import ICONS, pair_view, row_view
from refprep.report.page import encodable, environment, page_assets


@dataclass(slots=True)
class Counts:
    """What the summary says; it grows with the number of rules, not of pairs."""

    pairs: int = 0
    with_findings: int = 0
    known: int = 0
    duration_s: float = 0.0
    severities: Counter[str] = field(default_factory=Counter)
    codes: Counter[tuple[str, str]] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)

    def add(self, report: FileReport, verdict: str) -> None:
        """Count one pair."""
        self.pairs += 1
        self.with_findings += bool(report.findings)
        self.known += report.num_known
        self.duration_s += report.duration_s or 0.0
        self.severities.update(f.severity.value for f in report.findings)
        self.codes.update((f.code, f.name) for f in report.findings)
        self.verdicts[verdict] += 1


class LintPage:
    """The page while it is written: a head, then a section or a line for every pair, then the summary.

    Args:
        file: Open for writing, as UTF-8.
        version: Of refprep.
        most_embedded: Pairs whose sound is embedded, at most.
        most_embedded_bytes: Bytes of sound in the page, at most.
    """

    def __init__(
        self,
        file: IO[str],
        *,
        version: str,
        most_embedded: int = MOST_EMBEDDED,
        most_embedded_bytes: int = MOST_EMBEDDED_BYTES,
    ) -> None:
        self._file = file
        self._version = version
        self._pages = environment()
        self._assets = page_assets(("base.css", "lint/page.css"), "lint/page.js")
        self._room = Room(most_embedded, most_embedded_bytes)
        self._counts = Counts()
        self._write("head", style=self._assets.style, policy=self._assets.policy, version=version)

    def add(self, report: FileReport) -> None:
        """Write the next pair; nothing of it is kept but its counts."""
        number = self._counts.pairs + 1
        if report.findings:
            pair = pair_view(report, number, *self._room.take(report))
            self._write("pair", pair=pair)
        else:
            pair = row_view(report, number)
            self._write("row", pair=pair)
        self._counts.add(report, pair["verdict"]["counted"])

    def close(self, models: Mapping[str, str]) -> None:
        """Write the summary; the file stays open.

        Args:
            models: Role -> name of the models that were used.
        """
        self._write(
            "tail",
            script=self._assets.script,
            version=self._version,
            models=models,
            counts=self._counts,
            room=self._room,
            limits={"long_s": LONG_S, "long_rate_hz": LONG_RATE_HZ, "most_s": MOST_S},
            severities=[s.value for s in Severity],
            icons=ICONS,
        )

    def _write(self, template: str, **values: object) -> None:
        self._file.write(encodable(self._pages.get_template(f"lint/{template}.html.j2").render(**values)))
