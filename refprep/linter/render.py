"""Findings -> text, json, jsonl."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

from refprep.linter.formats.stream import stream_object
from refprep.linter.rule import Finding
from refprep.linter.run import FileReport
from refprep.linter.tally import Tally
from refprep.types import Span

SCHEMA_VERSION = 1
_BAR_WIDTH = 60


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding as JSON; spans in seconds."""
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "path": finding.path,
        "start_s": round(finding.span.start_s, 3) if finding.span else None,
        "end_s": round(finding.span.end_s, 3) if finding.span else None,
        "message": finding.message,
        "remedy": finding.remedy,
        "suggested_text": finding.suggested_text,
        "evidence": {k: _finite(v) for k, v in finding.evidence.items()},
    }


def _finite(value: float | int | str | None) -> float | int | str | None:
    """JSON knows no infinity: a level of -inf dBFS (silence) becomes null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def file_json(report: FileReport) -> dict[str, Any]:
    """A file's report as JSON."""
    check = report.check
    return {
        "path": report.path,
        "text_source": report.utterance.source or None,
        "audio_sha256": report.source.file_sha256 if report.source else None,
        "text": report.utterance.text,
        "duration_s": round(report.duration_s, 3) if report.duration_s is not None else None,
        "verdict": check.verdict.value if check else None,
        "coverage": round(check.coverage.ratio, 4) if check else None,
        "error_rate": round(check.error_rate, 4) if check else None,
        "heard_text": check.heard.text if check else None,
        "language": (check.given.language or check.heard.language)
        if check
        else report.utterance.language or None,
        "findings": [finding_json(f) for f in report.findings],
        # Only where a copy was corrected: other runs give the rows they always gave.
        **({"fixed": list(report.fixed), "fixed_to": report.fixed_to} if report.fixed_to else {}),
    }


def to_json(
    reports: Iterable[FileReport],
    tally: Tally,
    version: str,
) -> Iterator[str]:
    """One JSON document for the whole run.

    Args:
        reports: Of the run; each is in the tally when the next is asked for.
        tally: What the reports add up to; asked when all are in.
        version: Of refprep.

    Yields:
        The document in parts that end where a line ends, without the line feed.
    """
    return stream_object(
        {"schema_version": SCHEMA_VERSION, "refprep_version": version},
        "files",
        map(file_json, reports),
        lambda: {"summary": tally.summary(), "models": dict(tally.models)},
    )


def to_jsonl(report: FileReport) -> str:
    """One line for one file."""
    return json.dumps({"schema_version": SCHEMA_VERSION, **file_json(report)}, ensure_ascii=False)


def to_text(report: FileReport) -> str:
    """A file's findings for people: one line each, then the picture and the help. Empty without findings."""
    return "\n".join(_finding_text(f, report) for f in report.findings)


def _finding_text(finding: Finding, report: FileReport) -> str:
    place = f"{finding.path}:{finding.span.start_s:.2f}s" if finding.span else finding.path
    lines = [f"{place}: {finding.code} {finding.severity.value}: {finding.message}"]
    if finding.span is not None and report.duration_s and "missing_text" in finding.evidence:
        lines.append("  " + _bar(finding.span, report.duration_s))
    if finding.code in report.fixed:
        return "\n".join([*lines, f"  fixed in {report.fixed_to}"])
    lines.append(f"  help: {sentence(finding.remedy)} `refprep explain {finding.code}`")
    if finding.suggested_text is not None:
        lines.append(f"  text: {finding.suggested_text}")
    return "\n".join(lines)


def sentence(text: str) -> str:
    """A clause as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def _bar(span: Span, duration_s: float) -> str:
    """The clip as a line, the span without text marked on it."""
    first = min(round(span.start_s / duration_s * _BAR_WIDTH), _BAR_WIDTH - 1)
    last = max(first + 1, round(span.end_s / duration_s * _BAR_WIDTH))
    marks = "".join("~" if first <= k < last else "=" for k in range(_BAR_WIDTH))
    return f"0.00 |{marks}| {duration_s:.2f} s   (~ no text)"


def summary_text(tally: Tally) -> str:
    """The last line of a text report."""
    counts = tally.summary()
    files = f"{counts['files']} file{'' if counts['files'] == 1 else 's'}"
    known = f" {counts['known']} known from the baseline." if counts["known"] else ""
    fixed = counts.get("fixed", 0)
    if fixed:
        files = f"{fixed} finding{'' if fixed == 1 else 's'} fixed. {files}"
    if not counts["files_with_findings"]:
        return f"{files} checked, nothing {'else ' if fixed else 'new ' if known else ''}found.{known}"
    parts = [
        f"{counts[f'{s}s']} {s}{'' if counts[f'{s}s'] == 1 else 's'}" for s in ("error", "warning", "info")
    ]
    return f"{files} checked: {', '.join(parts)}.{known}"
