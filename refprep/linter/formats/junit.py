"""Findings -> JUnit XML, for CI servers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from xml.etree import ElementTree

from refprep.linter.render import to_text
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport

# XML 1.0, production 2: a document with any other character is not well-formed, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(reports: Sequence[FileReport], models: Mapping[str, str], version: str) -> str:
    """One test case a file: it fails with its errors; warnings and infos are its output."""
    failures = sum(any(map(_is_error, r.findings)) for r in reports)
    counts = {"tests": str(len(reports)), "failures": str(failures), "errors": "0"}
    root = ElementTree.Element("testsuites", {"name": "refprep lint", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "refprep lint", **counts, "skipped": "0"})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in {"refprep": version, **models}.items():
        ElementTree.SubElement(properties, "property", {"name": _legal(name), "value": _legal(value)})
    for report in reports:
        _add_case(suite, report)
    ElementTree.indent(root)
    document = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{document}'


def _add_case(suite: ElementTree.Element, report: FileReport) -> None:
    path = _legal(report.path)
    case = ElementTree.SubElement(
        suite, "testcase", {"classname": "refprep.lint", "name": path, "file": path}
    )
    errors = tuple(f for f in report.findings if _is_error(f))
    others = tuple(f for f in report.findings if not _is_error(f))
    if errors:
        # One element, as the strictest of the schemas in use allows no more.
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        about = {
            "message": _legal(f"{errors[0].code} {errors[0].name}: {errors[0].message}{more}"),
            "type": ",".join(dict.fromkeys(f.code for f in errors)),
        }
        ElementTree.SubElement(case, "failure", about).text = _legal(
            to_text(replace(report, findings=errors))
        )
    if others:
        ElementTree.SubElement(case, "system-out").text = _legal(to_text(replace(report, findings=others)))


def _is_error(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("", text)
