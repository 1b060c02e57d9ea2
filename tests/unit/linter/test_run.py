"""Nouns and rules to findings: which rule reads what, and in which order findings come."""

from __future__ import annotations

from pathlib import Path

from refprep.errors import AudioDecodeError
from refprep.linter.rule import Finding, FixAvailability, Hit, Rule, Severity
from refprep.linter.run import FileReport, run_rules
from refprep.linter.tally import Tally
from refprep.manifest import Utterance
from refprep.types import Span

UTTERANCE = Utterance(Path("clips/a.wav"), "x")


def rule(code: str, noun: type, *hits: Hit, severity: Severity = Severity.ERROR) -> Rule:
    return Rule(
        code, f"name-{code}", "summary", severity, FixAvailability.NONE, noun, lambda _: iter(hits), "page"
    )


def rules(*given: Rule) -> dict[str, Rule]:
    return {r.code: r for r in given}


def finding(severity: Severity) -> Finding:
    return Finding("RP999", "name", severity, "a.wav", "m", "r")


def test_a_hit_becomes_a_finding_with_everything_in_it():
    hit = Hit("what", "do", Span(1.0, 2.0), {"n": 1}, "text")
    (found,) = run_rules(
        [UTTERANCE], rules(rule("RP999", Utterance, hit, severity=Severity.INFO)), path="p.wav"
    )
    assert found == Finding(
        "RP999", "name-RP999", Severity.INFO, "p.wav", "what", "do", Span(1.0, 2.0), {"n": 1}, "text"
    )


def test_a_rule_reads_its_noun_alone():
    chosen = rules(rule("RP998", str, Hit("s", "r")), rule("RP999", Utterance, Hit("u", "r")))
    assert [f.message for f in run_rules(["a"], chosen, path="")] == ["s"]
    assert [f.message for f in run_rules([UTTERANCE], chosen, path="")] == ["u"]
    assert [f.message for f in run_rules([1, 2.0], chosen, path="")] == []
    assert [f.message for f in run_rules(["a", UTTERANCE, "b"], chosen, path="")] == ["s", "s", "u"]


def test_a_rule_of_the_base_reads_every_kind_of_it():
    from refprep.errors import RefprepError

    error = AudioDecodeError("w", where="x", fix="f")
    assert len(run_rules([error], rules(rule("RP999", RefprepError, Hit("e", "r"))), path="")) == 1


def test_whole_file_findings_first_then_by_time_then_by_code():
    late, early, whole = (
        Hit("late", "r", Span(3.0, 4.0)),
        Hit("early", "r", Span(0.0, 9.0)),
        Hit("whole", "r"),
    )
    chosen = rules(rule("RP998", str, late, early, whole), rule("RP997", str, late, early, whole))
    found = run_rules(["a"], chosen, path="")
    assert [(f.message, f.code) for f in found] == [
        ("whole", "RP997"), ("whole", "RP998"), ("early", "RP997"), ("early", "RP998"), ("late", "RP997"), ("late", "RP998"),
    ]  # fmt: skip


def test_the_worst_finding_and_the_counts():
    quiet = FileReport(UTTERANCE, ())
    bad = FileReport(
        UTTERANCE, tuple(map(finding, (Severity.INFO, Severity.ERROR, Severity.WARNING, Severity.ERROR)))
    )
    mild = FileReport(UTTERANCE, (finding(Severity.INFO), finding(Severity.WARNING)))
    assert quiet.worst is None
    assert bad.worst is Severity.ERROR
    assert mild.worst is Severity.WARNING
    assert bad.path == "clips/a.wav"
    tally = Tally()
    assert list(tally.watch([quiet, bad, mild])) == [quiet, bad, mild]
    assert tally.summary() == {
        "files": 3,
        "files_with_findings": 2,
        "errors": 2,
        "warnings": 2,
        "infos": 2,
        "known": 0,
    }
    assert tally.has_at_least(Severity.ERROR)
    assert not Tally().has_at_least(Severity.INFO)
    assert [s.rank for s in (Severity.INFO, Severity.WARNING, Severity.ERROR)] == [0, 1, 2]
