"""CSV, JUnit, SARIF, GitHub commands, Audacity labels, TextGrid: each is read back by a reader of its own."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from format_schemas import check_sarif
from hypothesis import given
from hypothesis import strategies as st
from test_rules_text import hold

from refprep.linter.formats.github import to_github
from refprep.linter.formats.junit import to_junit
from refprep.linter.formats.labels import to_labels
from refprep.linter.formats.place import one_line, place_of, within
from refprep.linter.formats.sarif import to_sarif
from refprep.linter.formats.table import COLUMNS, to_csv
from refprep.linter.formats.textgrid import to_textgrid
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Severity
from refprep.linter.run import FileReport, run_rules
from refprep.manifest import Utterance
from refprep.types import Alignment, Span, Word

ROOT = Path("/home/ci/voices")


def whole(parts: Iterable[str]) -> str:
    return "\n".join(parts)


MODELS = {"transcriber": "whisper-base", "aligner": 'an "odd" <name>'}
GIVEN = "Before winter came they carried"
HOSTILE = [
    'say "stop", <now> & go',
    "bell\x07 escape\x1b[31m nul\x00 delete\x7f next\x85line",
    "two\nlines\r\nand\ra tab\t.",
    "שלום עולם \u202eright to left\u202c",
    "line\u2028separator\u2029 \ufffe\uffff \U0001f600",
    "a lone surrogate \udcff",
    "::error file=x,line=1::%0A 100 %",
    "{0} {name} [see](https://x.test) [a](1)",
    "]]> <!-- -->",
    '=HYPERLINK("http://x.test")',
]


def finding(code: str = "RP201", severity: Severity = Severity.WARNING, **changes) -> Finding:
    values = {
        "code": code, "name": "clipped-samples", "severity": severity, "path": "clips/ana.wav",
        "message": "0.9 % clipped", "remedy": "record with less gain",
    }  # fmt: skip
    return Finding(**{**values, **changes})


def report(*findings: Finding, source: str = "clips/ana.txt", audio: str = "clips/ana.wav") -> FileReport:
    return FileReport(Utterance(Path(audio), GIVEN, "en", source=source), findings, duration_s=5.0)


@pytest.fixture
def failing() -> FileReport:
    """RP101 from 2.5 to 4.5 s, at row 12 of a manifest, and a warning of the whole file."""
    check = hold(GIVEN)
    found = run_rules([check], all_rules(), path="clips/ana.wav")
    return replace(
        report(*found, finding(), source="clips/all.jsonl:12"), check=check, speech=(Span(0.5, 4.5),)
    )


# --------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("all.jsonl:12", ("all.jsonl", 12)),
        ("C:/a:b/all.csv:3", ("C:/a:b/all.csv", 3)),
        ("a.txt", ("clips/ana.wav", None)),
        ("--text", ("clips/ana.wav", None)),
        ("", ("clips/ana.wav", None)),
        ("all.jsonl:0", ("clips/ana.wav", None)),
    ],
)
def test_the_place_is_the_row_or_the_audio(source, expected):
    assert place_of(report(source=source)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.wav", "a.wav"),
        ("./b/../a.wav", "a.wav"),
        ("/home/ci/voices/b/a.wav", "b/a.wav"),
        ("../a.wav", None),
        ("/home/ci/voices2/a.wav", None),
    ],
)
def test_a_path_within_the_checkout(path, expected):
    assert within(path, ROOT) == expected


# --------------------------------------------------------------------------- CSV


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_csv_has_a_row_for_every_finding_and_one_for_a_clean_file(failing):
    text = whole(to_csv([failing, report(audio="clean.wav")]))
    assert text.splitlines()[0] == ",".join(f'"{c}"' for c in COLUMNS)
    first, second, third = rows_of(text)
    assert (first["path"], first["code"], first["severity"]) == ("clips/ana.wav", "RP101", "error")
    assert (first["start_s"], first["end_s"], first["coverage"]) == ("2.5", "4.5", "0.5")
    assert first["text_source"] == "clips/all.jsonl:12"
    assert (second["code"], second["start_s"]) == ("RP201", "")
    assert (third["path"], third["code"], third["message"], third["duration_s"]) == (
        "clean.wav",
        "",
        "",
        "5.0",
    )


def test_csv_of_nothing_is_its_header():
    assert rows_of(whole(to_csv([]))) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_csv_carries_any_text(text):
    (row,) = rows_of(whole(to_csv([report(finding(message=text))])))
    assert row["message"].removeprefix("'") == text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"])
def test_csv_defuses_formulas(start):
    (row,) = rows_of(whole(to_csv([report(finding(message=f"{start}1+1"), audio="-a.wav")])))
    assert row["message"] == f"'{start}1+1"
    assert row["path"] == "'-a.wav"


# --------------------------------------------------------------------------- JUnit


def test_junit_counts_agree(failing):
    reports = [failing, report(finding()), report(audio="clean.wav")]
    root = ElementTree.fromstring(whole(to_junit(reports, lambda: MODELS, "1.2.3")))
    suite = root.find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    for element in (root, suite):
        assert element.get("tests") == str(len(cases)) == "3"
        assert element.get("failures") == str(len(suite.findall("testcase/failure"))) == "1"
        assert element.get("errors") == "0"
    assert [c.get("name") for c in cases] == ["clips/ana.wav", "clips/ana.wav", "clean.wav"]
    assert [[part.tag for part in c] for c in cases] == [["failure", "system-out"], ["system-out"], []]
    failure, output = cases[0]
    assert failure.get("type") == "RP101"
    assert str(failure.get("message")).startswith("RP101 uncovered-audio-tail: the last 2.00 s of speech")
    assert "clips/ana.wav:2.50s: RP101 error" in str(failure.text)
    assert "RP201" in str(output.text)
    properties = {p.get("name"): p.get("value") for p in suite.findall("properties/property")}
    assert properties == {"refprep": "1.2.3", **MODELS}


def test_junit_has_one_failure_a_file_that_names_every_error():
    found = [finding("RP101", Severity.ERROR), finding("RP104", Severity.ERROR), finding("RP104", Severity.ERROR)]  # fmt: skip
    (failure,) = ElementTree.fromstring(whole(to_junit([report(*found)], dict, "1"))).iter("failure")
    assert failure.get("type") == "RP101,RP104"
    assert str(failure.get("message")).endswith("(and 2 more)")
    assert str(failure.text).count(" error: ") == 3


@pytest.mark.parametrize("severity", Severity)
@pytest.mark.parametrize("text", HOSTILE)
def test_junit_stays_well_formed(text, severity):
    document = whole(
        to_junit([report(finding(message=text, severity=severity), audio=f"{text}.wav")], dict, text)
    )
    root = ElementTree.fromstring(document.encode("utf-8"))
    told = "".join(root.itertext())
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", told)
    assert re.sub(r"[\s\x00-\x1f\ud800-\udfff\ufffe\uffff]", "", text) in re.sub(r"\s", "", told)


# --------------------------------------------------------------------------- SARIF


def sarif(*reports: FileReport, rules=None):
    """The one run, checked."""
    text = whole(
        to_sarif(reports, all_rules() if rules is None else rules, lambda: MODELS, "1.2.3", root=ROOT)
    )
    (run,) = check_sarif(text)["runs"]
    return run


def test_sarif_tells_rules_results_and_seconds(failing):
    run = sarif(failing)
    driver = run["tool"]["driver"]
    assert [r["id"] for r in driver["rules"]] == list(all_rules())
    assert all("## How to fix" in r["help"]["text"] for r in driver["rules"])
    by_code = {r["id"]: r for r in driver["rules"]}
    assert by_code["RP101"]["defaultConfiguration"]["level"] == "error"
    assert run["properties"] == {"models": MODELS}

    first, second = run["results"]
    assert (first["ruleId"], first["level"]) == ("RP101", "error")
    assert driver["rules"][first["ruleIndex"]]["id"] == "RP101"
    assert first["message"]["text"].startswith("clips/ana.wav: 2.50-4.50 s: The last 2.00 s of speech")
    assert (first["properties"]["startSeconds"], first["properties"]["endSeconds"]) == (2.5, 4.5)
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "clips/all.jsonl", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 12},
            }
        }
    ]
    (related,) = first["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == "clips/ana.wav"
    assert "startSeconds" not in second["properties"]


@pytest.mark.parametrize(
    ("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "note")]
)
def test_sarif_levels(severity, level):
    (result,) = sarif(report(finding(severity=Severity(severity))))["results"]
    assert result["level"] == level
    assert "region" not in result["locations"][0]["physicalLocation"]
    assert "relatedLocations" not in result
    assert result["message"]["text"] == "0.9 % clipped. Record with less gain."


@pytest.mark.parametrize(
    ("audio", "uri"),
    [
        ("a b/100%#?.wav", "a%20b/100%25%23%3F.wav"),
        ("a:b.wav", "a%3Ab.wav"),
        ("今.wav", "%E4%BB%8A.wav"),
        ("a\udcff.wav", "a%FF.wav"),
        ("/home/ci/voices/x/a.wav", "x/a.wav"),
        ("../a b.wav", "file:///home/ci/a%20b.wav"),
    ],
)
def test_sarif_names_files_by_uri(audio, uri):
    (result,) = sarif(report(finding(), audio=audio))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact["uri"] == uri
    assert ("uriBaseId" in artifact) == (not uri.startswith("file:"))


def test_sarif_without_the_rule_or_a_finding():
    (result,) = sarif(report(finding()), rules={})["results"]
    assert "ruleIndex" not in result
    assert sarif(report())["results"] == []


@pytest.mark.parametrize("text", HOSTILE)
def test_sarif_messages_hold_any_text_and_no_placeholder_or_link(text):
    (result,) = sarif(report(finding(message=text, evidence={"level": float("-inf")})))["results"]
    told = result["message"]["text"]
    assert not re.search(r"(?<!\{)\{(?!\{)", told)
    assert not re.search(r"(?<!\\)\[[^\]]*\]\(", told)
    plain = told.replace("{{", "{").replace("}}", "}").replace("\\[", "[")
    assert plain.lower().startswith(text.lower())
    assert result["properties"]["evidence"] == {"level": None}


# --------------------------------------------------------------------------- GitHub

_COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::([^\r\n]*)")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """As the runner reads them (actions/runner, ActionCommand.TryParse)."""
    found = []
    for line in text.split("\n"):
        match = _COMMAND.fullmatch(line)
        assert match, line
        properties = dict(p.split("=", 1) for p in match[2].split(","))
        found.append((match[1], {k: unquote(v) for k, v in properties.items()}, unquote(match[3])))
    return found


def test_github_annotates_the_row(failing):
    (name, properties, message), (other, _, told) = commands(whole(to_github([failing, report()], root=ROOT)))
    assert name == "error"
    assert properties == {"file": "clips/all.jsonl", "line": "12", "title": "RP101 uncovered-audio-tail"}
    assert message.startswith("clips/ana.wav: 2.50-4.50 s: The last 2.00 s of speech have no text")
    assert (other, told) == ("warning", "clips/ana.wav: 0.9 % clipped. Record with less gain.")


def test_github_annotates_the_audio_and_escapes_as_the_toolkit_does():
    found = finding(severity=Severity.INFO, message="50 % of\r\nit: a, b")
    assert whole(to_github([report(found, audio="a,b:c%.wav")], root=ROOT)) == (
        "::notice file=a%2Cb%3Ac%25.wav,title=RP201 clipped-samples::50 %25 of%0D%0Ait: a, b. Record with less gain."
    )


def test_github_names_a_file_outside_the_checkout_as_it_is_and_is_silent_without_findings():
    ((_, properties, _),) = commands(whole(to_github([report(finding(), audio="/tmp/a.wav")], root=ROOT)))
    assert properties["file"] == "/tmp/a.wav"
    assert whole(to_github([report()], root=ROOT)) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_github_is_one_command_whatever_the_text(text):
    line = whole(to_github([report(finding(message=text), audio=f"{text}.wav", source=f"{text}.jsonl:3")], root=ROOT))  # fmt: skip
    ((_, properties, message),) = commands(line.encode("utf-8", "replace").decode("utf-8"))
    assert (properties["line"], properties["title"]) == ("3", "RP201 clipped-samples")
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", message)


# --------------------------------------------------------------------------- labels and TextGrid


def labels_of(text: str) -> list[tuple[float, float, str]]:
    rows = [line.split("\t") for line in text.split("\n")] if text else []
    return [(float(start), float(end), label) for start, end, label in rows]


_INTERVAL = re.compile(
    r'intervals \[(\d+)\]:\n\s+xmin = (\S+)\n\s+xmax = (\S+)\n\s+text = "((?:[^"]|"")*)"(?:\n|$)'
)


def tiers_of(text: str) -> dict[str, list[tuple[float, float, str]]]:
    """The tiers of a TextGrid, what Praat asks of them checked."""
    assert text.startswith('File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = ')
    end_s = float(re.search(r"^xmax = (\S+)$", text, re.MULTILINE)[1])
    tiers = {}
    blocks = re.split(r"^    item \[\d+\]:\n", text, flags=re.MULTILINE)
    assert f"size = {len(blocks) - 1}\nitem []:\n" in blocks[0]
    for block in blocks[1:]:
        name = re.search(r'name = "(\w+)"', block)[1]
        found = _INTERVAL.findall(block)
        assert [int(k) for k, *_ in found] == list(range(1, len(found) + 1))
        assert f"intervals: size = {len(found)}\n" in block
        assert block.count("text = ") >= len(found) == block.count("        intervals [")
        tier = [(float(a), float(b), t.replace('""', '"')) for _, a, b, t in found]
        assert tier[0][0] == 0.0
        assert tier[-1][1] == end_s
        assert all(a < b for a, b, _ in tier)
        assert all(one[1] == two[0] for one, two in pairwise(tier))
        tiers[name] = tier
    return tiers


def aligned(words: list[Word], *findings: Finding, duration_s: float = 5.0) -> FileReport:
    check = replace(hold(GIVEN), alignment=Alignment(tuple(words), "fake"))
    return replace(report(*findings), check=check, duration_s=duration_s, speech=(Span(0.5, 4.5),))


def test_labels_and_textgrid_hold_the_words_and_the_findings(failing):
    words = [(w.span.start_s, w.span.end_s, w.text) for w in failing.check.alignment.words]
    labels = labels_of(to_labels(failing))
    assert [(pytest.approx(a), pytest.approx(b), t) for a, b, t in words] == [
        label for label in labels if not label[2].startswith("RP")
    ]
    found = [label for label in labels if label[2].startswith("RP")]
    assert found[0] == (0.0, 5.0, "RP201 warning: 0.9 % clipped")
    assert found[1][:2] == (2.5, 4.5)
    assert found[1][2].startswith("RP101 error: the last 2.00 s of speech")
    assert labels == sorted(labels, key=lambda label: label[0])

    tiers = tiers_of(to_textgrid(failing))
    assert list(tiers) == ["words", "speech", "findings"]
    assert [t for _, _, t in tiers["words"] if t] == GIVEN.split()
    assert tiers["speech"] == [(0.0, 0.5, ""), (0.5, 4.5, "speech"), (4.5, 5.0, "")]
    assert [t.count("RP") for _, _, t in tiers["findings"]] == [1, 2, 1]
    assert [(a, b) for a, b, _ in tiers["findings"]] == [(0.0, 2.5), (2.5, 4.5), (4.5, 5.0)]


def test_a_clip_without_a_text_has_empty_tiers():
    tiers = tiers_of(to_textgrid(report()))
    assert tiers == {name: [(0.0, 5.0, "")] for name in ("words", "speech", "findings")}
    assert to_labels(report()) == ""


def test_a_file_that_did_not_decode_has_no_textgrid():
    with pytest.raises(ValueError, match="needs a length"):
        to_textgrid(replace(report(), duration_s=None))


def test_words_without_time_join_a_neighbour_and_overlaps_are_cut():
    words = [("no", 0.0, 0.0), ("time", 0.0, 0.0), ("one", 0.5, 1.0), ("two", 0.9, 1.5), ("none", 1.5, 1.5),
             ("inside", 1.1, 1.4), ("late", 4.0, 9.0), ("after", 6.0, 7.0)]  # fmt: skip
    tier = tiers_of(to_textgrid(aligned([Word(t, Span(a, b), 0.5) for t, a, b in words])))["words"]
    assert tier == [
        (0.0, 0.5, ""), (0.5, 1.0, "no time one"), (1.0, 1.5, "two none inside"), (1.5, 4.0, ""), (4.0, 5.0, "late after"),
    ]  # fmt: skip


def test_words_none_of_which_has_time_stand_over_the_whole_clip():
    words = [Word(t, Span(2.0, 2.0), 0.0) for t in ("nobody", "says", "this")]
    assert tiers_of(to_textgrid(aligned(words)))["words"] == [(0.0, 5.0, "nobody says this")]


@pytest.mark.parametrize("place_s", [0.0, 2.0, 5.0, 7.0])
def test_a_finding_without_length_is_seen(place_s):
    tier = tiers_of(to_textgrid(aligned([], finding(span=Span(place_s, place_s)))))["findings"]
    assert len([t for _, _, t in tier if t]) == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_labels_and_textgrid_keep_hostile_words_in_one_line(text):
    made = aligned([Word(text, Span(1.0, 2.0), 0.9), Word("end", Span(2.0, 2.5), 0.9)], finding(message=text))
    expected = [one_line(text), "end"]
    assert [t for _, _, t in labels_of(to_labels(made)) if not t.startswith("RP")] == expected
    tiers = tiers_of(to_textgrid(made))
    assert [t for _, _, t in tiers["words"] if t] == expected
    assert tiers["findings"] == [(0.0, 5.0, f"RP201 warning: {one_line(text)}")]
    for written in (to_labels(made), to_textgrid(made)):
        assert len(written.splitlines()) == written.count("\n") + 1
        written.encode("utf-8")


def test_one_line_keeps_letters_and_their_direction():
    assert one_line(" שלום \u202eערב\u202c\n今天\x00x\ud800 ") == "שלום \u202eערב\u202c 今天 x"


_PLACES = st.tuples(st.floats(-1, 12, allow_nan=False), st.floats(0, 12, allow_nan=False)).map(
    lambda p: Span(p[0], p[0] + p[1])
)


@given(
    words=st.lists(st.tuples(st.sampled_from(['"', "a", "今", '""b']), _PLACES), max_size=8),
    spans=st.lists(st.none() | _PLACES, max_size=4),
    duration_s=st.floats(1e-6, 10),
)
def test_any_textgrid_is_one_that_praat_reads(words, spans, duration_s):
    made = aligned(
        [Word(t, s, 0.5) for t, s in words], *(finding(span=s) for s in spans), duration_s=duration_s
    )
    tiers = tiers_of(to_textgrid(made))
    assert " ".join(t for _, _, t in tiers["words"] if t).split() == [t for t, _ in words]
    # Within the clip: two microseconds can be all there is of it.
    assert bool(spans) == any(t for _, _, t in tiers["findings"])
    for start, end, _ in labels_of(to_labels(made)):
        assert 0 <= start <= end <= round(duration_s, 6)
