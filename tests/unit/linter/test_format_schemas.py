"""SARIF, JUnit and JSON hold to their schemas, whatever was found; and the schemas do refuse what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
import xmlschema
from format_schemas import check_json, check_junit, check_sarif
from test_formats import HOSTILE, finding, report
from test_rules_text import hold

from refprep.linter.formats.junit import to_junit
from refprep.linter.formats.sarif import to_sarif
from refprep.linter.registry import all_rules
from refprep.linter.render import to_json, to_jsonl
from refprep.linter.rule import Severity
from refprep.linter.run import FileReport, run_rules
from refprep.linter.tally import Tally
from refprep.manifest import Utterance
from refprep.types import Span, Verdict

GIVEN = "Before winter came they carried"


def compared(verdict: Verdict) -> FileReport:
    """A pair whose text was held against its audio."""
    check = replace(hold(GIVEN), verdict=verdict)
    found = run_rules([check], all_rules(), path="clips/ana.wav")
    return replace(report(*found, source="clips/all.jsonl:12"), check=check, speech=(Span(0.5, 4.5),))


REPORTS = {
    "clean": report(),
    "no text": FileReport(Utterance(Path("a.wav")), (), duration_s=5.0),
    "empty audio": FileReport(Utterance(Path("a.wav"), ""), (), duration_s=0.0),
    "undecodable": FileReport(Utterance(Path("a.wav"), "x"), (finding("RP001", Severity.ERROR),)),
    "info": report(finding(severity=Severity.INFO)),
    "silence": report(finding(evidence={"level_db": float("-inf"), "n": 3, "of": "x"})),
    "span": report(finding(span=Span(1.0, 2.0), suggested_text="x")),
    "row": report(finding(span=Span(1.0, 2.0)), source="m.jsonl:7"),
    "errors": report(*[finding(f"RP10{n}", Severity.ERROR) for n in (1, 4)], finding()),
    "fixed": replace(report(finding()), fixed=("RP201",), fixed_to="fixed/ana.wav"),
    **{f"compared {v.value}": compared(v) for v in Verdict},
    **{
        f"hostile {n}": replace(report(finding(message=t, suggested_text=t), audio=f"{n}{t}.wav"))
        for n, t in enumerate(HOSTILE)
    },
}
ALL = list(REPORTS.values())
MODELS = {"transcriber": "whisper-base"}


def document_of(*reports: FileReport) -> str:
    tally = Tally()
    return "\n".join(to_json(tally.watch(reports), tally, "1.2.3"))


def sarif_of(*reports: FileReport) -> str:
    return "\n".join(to_sarif(reports, all_rules(), lambda: MODELS, "1.2.3", root=Path("/ci")))


def junit_of(*reports: FileReport) -> str:
    # As a file has it: lone surrogates are gone by then, or the text would not encode.
    return "\n".join(to_junit(reports, lambda: MODELS, "1.2.3")).encode().decode()


@pytest.mark.parametrize("name", REPORTS)
def test_every_kind_of_report_holds_to_the_schemas(name):
    one = REPORTS[name]
    assert check_json(to_jsonl(one))["path"] == one.path
    assert len(check_json(document_of(one))["files"]) == 1
    assert len(check_sarif(sarif_of(one))["runs"][0]["results"]) == len(one.findings)
    check_junit(junit_of(one))


def test_a_run_of_all_of_them_and_one_of_none_hold_to_the_schemas():
    for reports in (ALL, []):
        assert len(check_json(document_of(*reports))["files"]) == len(reports)
        check_sarif(sarif_of(*reports))
        check_junit(junit_of(*reports))


def spoilt(text: str, **changes: object) -> str:
    return json.dumps({**json.loads(text), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"schema_version": 2}, {"colour": "red"}, {"verdict": "maybe"}, {"duration_s": "long"}, {"audio_sha256": "x"},
        {"findings": [{}]}, {"fixed": ["RP101"]}, {"heard_text": None}, {"coverage": 1.5}, {"duration_s": None},
    ],
)  # fmt: skip
def test_the_json_schema_refuses_what_is_no_row(changes):
    text = to_jsonl(compared(Verdict.FAIL))
    check_json(text)
    with pytest.raises(jsonschema.ValidationError):
        check_json(spoilt(text, **changes))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"level": "warning"', '"level": "bad"'),
        ('"startLine": 7', '"startLine": 0'),
        ('"version": "2.1.0"', '"version": "2.2"'),
        ('"ruleId"', '"ruleName"'),
        ('"uriBaseId"', '"base"'),
    ],
)
def test_the_sarif_schema_refuses_what_is_none(right, wrong):
    text = sarif_of(REPORTS["row"])
    assert right in text
    with pytest.raises(jsonschema.ValidationError):
        check_sarif(text.replace(right, wrong))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('tests="1"', 'tests="one"'), ("<testcase ", "<case/><testcase "), ('errors="0"', ""), (' type="', ' kind="'),
        ("</failure>", '</failure><failure type="x"/>'),
    ],
)  # fmt: skip
def test_the_junit_schema_refuses_what_is_none(right, wrong):
    text = junit_of(REPORTS["errors"])
    assert right in text
    with pytest.raises(xmlschema.XMLSchemaException):
        check_junit(text.replace(right, wrong))
