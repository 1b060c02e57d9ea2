"""Findings -> SARIF 2.1.0, for code scanning. It has no time axis: seconds stand in messages and properties."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from refprep.linter.explain import page, sections
from refprep.linter.formats.place import place_of, statement, within
from refprep.linter.formats.stream import stream_object
from refprep.linter.render import finding_json
from refprep.linter.rule import Finding, Rule, Severity
from refprep.linter.run import FileReport

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_LINK = re.compile(r"\[(?=[^\]]*\]\()")


def to_sarif(
    reports: Iterable[FileReport],
    rules: Mapping[str, Rule],
    models: Callable[[], Mapping[str, str]],
    version: str,
    *,
    root: Path,
) -> Iterator[str]:
    """One run.

    Args:
        reports: Of the run.
        rules: Code -> Rule: those that ran.
        models: Gives role -> name; asked when all reports are in.
        version: Of refprep.
        root: The checkout, absolute: files inside are named relative to it, as code scanning asks.

    Yields:
        The document in parts that end where a line ends, without the line feed.
    """
    index = {code: k for k, code in enumerate(rules)}
    driver = {"name": "refprep", "version": version, "rules": [_rule(r) for r in rules.values()]}
    results = (_result(r, f, index, root) for r in reports for f in r.findings)
    yield f'{{\n  "$schema": "{_SCHEMA}",\n  "version": "2.1.0",\n  "runs": ['
    yield from stream_object(
        {"tool": {"driver": driver}, "invocations": [{"executionSuccessful": True}]},
        "results",
        results,
        lambda: {"properties": {"models": dict(models())}},
        indent=4,
    )
    yield "  ]\n}"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": sections(rule).get("What it checks", rule.summary)},
        "help": {"text": page(rule), "markdown": page(rule)},
        "defaultConfiguration": {"level": _LEVEL[rule.severity]},
    }


def _result(report: FileReport, finding: Finding, index: Mapping[str, int], root: Path) -> dict[str, Any]:
    file, line = place_of(report)
    location: dict[str, Any] = {"artifactLocation": _artifact(file, root)}
    if line is not None:
        location["region"] = {"startLine": line}
    row = finding_json(finding)
    about = {
        "startSeconds": row["start_s"],
        "endSeconds": row["end_s"],
        "audio": report.path,
        "suggestedText": row["suggested_text"],
        "evidence": row["evidence"],
    }
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVEL[finding.severity],
        "message": {"text": _message(statement(report, finding))},
        "locations": [{"physicalLocation": location}],
        "properties": {k: v for k, v in about.items() if v is not None},
    }
    if finding.code in index:
        result["ruleIndex"] = index[finding.code]
    if line is not None:
        audio = {"artifactLocation": _artifact(report.path, root)}
        result["relatedLocations"] = [{"id": 0, "physicalLocation": audio, "message": {"text": "the audio"}}]
    return result


def _artifact(path: str, root: Path) -> dict[str, str]:
    """A percent-encoded URI, relative where the file lies in the checkout; bytes that are no UTF-8 included."""
    inside = within(path, root)
    if inside is not None:
        return {"uri": quote(os.fsencode(inside)), "uriBaseId": "%SRCROOT%"}
    return {"uri": f"file://{quote(os.fsencode(os.path.normpath(root / path)))}"}


def _message(text: str) -> str:
    """A message string; braces are placeholders (section 3.11.5) and ``[a](b)`` is a link (3.11.6) unless escaped."""
    return _LINK.sub(r"\\[", text.replace("{", "{{").replace("}", "}}"))
