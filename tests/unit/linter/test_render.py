"""Findings as text, JSON and JSON lines."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from test_rules_text import SAID, hold

from refprep.linter.registry import all_rules
from refprep.linter.render import (
    SCHEMA_VERSION,
    file_json,
    finding_json,
    summary_text,
    to_json,
    to_jsonl,
    to_text,
)
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport, run_rules
from refprep.linter.tally import Tally
from refprep.manifest import Utterance
from refprep.types import Span

UTTERANCE = Utterance(Path("clips/ana.wav"), "Before winter came they carried", "en", source="clips/ana.txt")


def counted(reports) -> Tally:
    tally = Tally()
    assert list(tally.watch(reports)) == list(reports)
    return tally


def whole_json(reports, version: str = "1") -> str:
    tally = Tally()
    return "\n".join(to_json(tally.watch(reports), tally, version))


def strict(text: str):
    """JSON as RFC 8259 has it: no NaN, no infinity."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def report() -> FileReport:
    check = hold("Before winter came they carried")
    return FileReport(
        utterance=UTTERANCE,
        findings=run_rules([check], all_rules(), path="clips/ana.wav"),
        duration_s=5.0,
        check=check,
    )


def whole_file(**changes) -> Finding:
    values = {
        "code": "RP201", "name": "clipped-samples", "severity": Severity.WARNING, "path": "clips/ana.wav",
        "message": "0.9 % clipped", "remedy": "Record with less gain.",
    }  # fmt: skip
    return Finding(**{**values, **changes})


# --------------------------------------------------------------------------- text


def test_a_finding_is_a_line_a_picture_and_help(report):
    line, bar, help_line, text = to_text(report).splitlines()
    assert line.startswith("clips/ana.wav:2.50s: RP101 error: the last 2.00 s of speech have no text")
    marks = bar.split("|")[1]
    assert len(marks) == 60
    first, last = round(2.5 / 5.0 * 60), round(4.5 / 5.0 * 60)
    assert marks == "=" * first + "~" * (last - first) + "=" * (60 - last)
    assert bar.startswith("  0.00 |")
    assert bar.endswith("| 5.00 s   (~ no text)")
    assert help_line.startswith("  help: ")
    assert help_line.endswith("`refprep explain RP101`")
    assert text == f"  text: {SAID}"


def test_a_finding_of_the_whole_file_has_no_place_and_no_picture():
    report = FileReport(UTTERANCE, (whole_file(),), duration_s=3.0)
    assert to_text(report).splitlines() == [
        "clips/ana.wav: RP201 warning: 0.9 % clipped",
        "  help: Record with less gain. `refprep explain RP201`",
    ]


def test_a_place_without_a_missing_text_has_no_picture():
    report = FileReport(UTTERANCE, (whole_file(span=Span(1.234, 2.0)),), duration_s=3.0)
    assert to_text(report).splitlines()[0].startswith("clips/ana.wav:1.23s: RP201")
    assert "|" not in to_text(report)


@pytest.mark.parametrize(("start_s", "end_s"), [(0.0, 0.001), (99.999, 100.0), (0.0, 100.0)])
def test_the_picture_always_shows_the_gap_and_keeps_its_width(start_s, end_s):
    found = whole_file(span=Span(start_s, end_s), evidence={"missing_text": "x"})
    marks = to_text(FileReport(UTTERANCE, (found,), duration_s=100.0)).splitlines()[1].split("|")[1]
    assert len(marks) == 60
    assert "~" in marks


def test_nothing_found_is_no_text():
    assert to_text(FileReport(UTTERANCE, ())) == ""


def test_two_findings_stand_below_each_other():
    text = to_text(FileReport(UTTERANCE, (whole_file(), whole_file(code="RP202"))))
    assert [line.split()[1] for line in text.splitlines() if not line.startswith(" ")] == ["RP201", "RP202"]


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        ([[]], "1 file checked, nothing found."),
        ([[], []], "2 files checked, nothing found."),
        ([], "0 files checked, nothing found."),
        ([["error"]], "1 file checked: 1 error, 0 warnings, 0 infos."),
        ([["error", "error", "warning"], ["info", "info"]], "2 files checked: 2 errors, 1 warning, 2 infos."),
    ],
)
def test_the_last_line(severities, expected):
    reports = [
        FileReport(UTTERANCE, tuple(whole_file(severity=Severity(s)) for s in file)) for file in severities
    ]
    assert summary_text(counted(reports)) == expected


def test_a_finding_that_a_copy_does_not_have_says_where_that_is_and_needs_no_help(report):
    fixed = replace(
        report, findings=(*report.findings, whole_file()), fixed=("RP101",), fixed_to="fixed/ana.wav"
    )
    first, other = to_text(fixed).splitlines()[2:4]
    assert first == "  fixed in fixed/ana.wav"
    assert other.startswith("clips/ana.wav: RP201")
    assert to_text(fixed).count("help:") == 1
    row = file_json(fixed)
    assert (row["fixed"], row["fixed_to"]) == (["RP101"], "fixed/ana.wav")
    assert [f["code"] for f in row["findings"]] == ["RP101", "RP201"]
    tally = counted([fixed])
    assert tally.summary() == {
        "files": 1, "files_with_findings": 1, "errors": 0, "warnings": 1, "infos": 0, "known": 0, "fixed": 1,
    }  # fmt: skip
    assert not tally.has_at_least(Severity.ERROR)
    assert summary_text(tally) == "1 finding fixed. 1 file checked: 0 errors, 1 warning, 0 infos."
    whole = replace(report, fixed=("RP101",), fixed_to="fixed/ana.wav")
    assert summary_text(counted([whole, whole])) == "2 findings fixed. 2 files checked, nothing else found."


# --------------------------------------------------------------------------- JSON


def test_a_finding_as_json():
    found = whole_file(
        span=Span(1.23456, 2.0), evidence={"n": 1, "s": "x", "none": None}, suggested_text="Grüße"
    )
    assert finding_json(found) == {
        "code": "RP201",
        "name": "clipped-samples",
        "severity": "warning",
        "path": "clips/ana.wav",
        "start_s": 1.235,
        "end_s": 2.0,
        "message": "0.9 % clipped",
        "remedy": "Record with less gain.",
        "suggested_text": "Grüße",
        "evidence": {"n": 1, "s": "x", "none": None},
    }
    assert finding_json(whole_file())["start_s"] is None
    assert finding_json(whole_file())["end_s"] is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_number_that_json_does_not_know(value):
    report = FileReport(UTTERANCE, (whole_file(evidence={"level": value, "ok": 1.5}),), duration_s=1.0)
    for text in (to_jsonl(report), whole_json([report])):
        assert '"level": null' in text
        strict(text)


def test_a_file_as_json(report):
    row = file_json(report)
    findings = row.pop("findings")
    assert row == {
        "path": "clips/ana.wav",
        "text_source": "clips/ana.txt",
        "audio_sha256": None,
        "text": "Before winter came they carried",
        "duration_s": 5.0,
        "verdict": "fail",
        "coverage": 0.5,
        "error_rate": 0.5,
        "heard_text": SAID,
        "language": "en",
    }
    assert [f["code"] for f in findings] == ["RP101"]
    assert (findings[0]["start_s"], findings[0]["end_s"]) == (2.5, 4.5)


def test_a_file_that_did_not_decode_as_json():
    row = file_json(FileReport(Utterance(Path("a.wav")), (whole_file(),)))
    assert {k: v for k, v in row.items() if k != "findings"} == {
        "path": "a.wav",
        "text_source": None,
        "audio_sha256": None,
        "text": None,
        "duration_s": None,
        "verdict": None,
        "coverage": None,
        "error_rate": None,
        "heard_text": None,
        "language": None,
    }


def test_the_document(report):
    quiet = FileReport(Utterance(Path("b.wav"), "今天"), (), duration_s=0.0)
    text = whole_json([replace(report, models={"transcriber": "fake"}), quiet], "1.2.3")
    document = strict(text)
    assert document["schema_version"] == SCHEMA_VERSION == 1
    assert document["refprep_version"] == "1.2.3"
    assert document["models"] == {"transcriber": "fake"}
    assert [f["path"] for f in document["files"]] == ["clips/ana.wav", "b.wav"]
    assert document["files"][1]["duration_s"] == 0.0
    assert document["summary"] == {
        "files": 2,
        "files_with_findings": 1,
        "errors": 1,
        "warnings": 0,
        "infos": 0,
        "known": 0,
    }
    assert document["files"] == [strict(json.dumps(file_json(r))) for r in (report, quiet)]


def test_json_lines_are_one_line_each_and_carry_the_version(report):
    line = to_jsonl(report)
    assert "\n" not in line
    row = strict(line)
    assert row.pop("schema_version") == SCHEMA_VERSION
    assert row == strict(json.dumps(file_json(report)))


def test_letters_stay_letters():
    report = FileReport(UTTERANCE, (whole_file(suggested_text="今天 Grüße"),))
    assert "今天 Grüße" in to_jsonl(report)
    assert "今天 Grüße" in whole_json([report])


def test_a_summary_counts_files_with_findings():
    reports = [FileReport(UTTERANCE, (whole_file(), whole_file())), FileReport(UTTERANCE, ())]
    assert counted(reports).summary() == {
        "files": 2,
        "files_with_findings": 1,
        "errors": 0,
        "warnings": 2,
        "infos": 0,
        "known": 0,
    }
