"""Findings -> JUnit XML, for CI servers."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from xml.etree import ElementTree

from refprep.linter.render import to_text
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport

_HELD_BYTES = 1 << 20  # of cases in memory
# XML 1.0, production 2: a document with any other character is not well-formed, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def to_junit(
    reports: Iterable[FileReport], models: Callable[[], Mapping[str, str]], version: str
) -> Iterator[str]:
    """One test case a file: it fails with its errors; warnings and infos are its output.

    Args:
        reports: Of the run.
        models: Gives role -> name; asked when all reports are in.
        version: Of refprep.

    Yields:
        The document in parts that end where a line ends, without the line feed. The counts stand in its first lines, so
        the cases wait in a temporary file until all are known.
    """
    tests = failures = 0
    with tempfile.SpooledTemporaryFile(
        max_size=_HELD_BYTES, mode="w+", encoding="utf-8", newline="\n"
    ) as cases:
        for report in reports:
            tests += 1
            failures += any(map(_is_error, report.findings))
            case = _case(report)
            ElementTree.indent(case, level=2)
            cases.write(f"    {ElementTree.tostring(case, encoding='unicode')}\n")
        counts = f'name="refprep lint" tests="{tests}" failures="{failures}" errors="0"'
        yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {counts}>\n  <testsuite {counts} skipped="0">'
        properties = ElementTree.Element("properties")
        for name, value in {"refprep": version, **models()}.items():
            ElementTree.SubElement(properties, "property", {"name": _legal(name), "value": _legal(value)})
        ElementTree.indent(properties, level=2)
        yield f"    {ElementTree.tostring(properties, encoding='unicode')}"
        cases.seek(0)
        while part := cases.read(_HELD_BYTES):
            yield (
                part.removesuffix("\n") if part.endswith("\n") else part + cases.readline().removesuffix("\n")
            )
    yield "  </testsuite>\n</testsuites>"


def _case(report: FileReport) -> ElementTree.Element:
    path = _legal(report.path)
    case = ElementTree.Element("testcase", {"classname": "refprep.lint", "name": path, "file": path})
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
    return case


def _is_error(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("", text)
