"""Every rule: its code, name, page, and a fixture that fires and one that stays quiet."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace

import pytest
import test_rules_codes
import test_rules_fit
import test_rules_identity
import test_rules_manifest
import test_rules_output
import test_rules_signal
import test_rules_synthesis
import test_rules_text
from hypothesis import given
from hypothesis import strategies as st

from refprep.errors import RefprepError, UsageError
from refprep.linter.explain import SECTIONS, markdown_table, page, rule_row, sections
from refprep.linter.profiles import ProfileCase
from refprep.linter.registry import all_rules, select_rules
from refprep.linter.rule import FixAvailability, Rule, Severity
from refprep.linter.speakers import SpeakerClaim
from refprep.linter.waivers import WaiverUse
from refprep.manifest import Utterance
from refprep.types import (
    Admission,
    AudioSource,
    ClipEdges,
    ClipVoices,
    CodesCase,
    ConsentCase,
    DamagedCodes,
    IdentityCase,
    LanguageCase,
    OutputScore,
    QualityReport,
    SynthesisResult,
    TextCheck,
)

RULES = all_rules()
NOUNS = (
    RefprepError, Utterance, AudioSource, TextCheck, QualityReport, IdentityCase, Admission, SpeakerClaim, WaiverUse,
    LanguageCase, ClipEdges, ClipVoices, ProfileCase, ConsentCase, OutputScore, CodesCase, DamagedCodes, SynthesisResult,
)  # fmt: skip
TOPICS = {
    "RP0": {RefprepError, AudioSource, ConsentCase},
    "RP1": {TextCheck, Utterance, LanguageCase},
    "RP2": {QualityReport},
    "RP5": {CodesCase, DamagedCodes},
}

# A rule that is added needs a line in one of the tables: a value on which it fires and one on which it stays quiet.
TABLES = (
    test_rules_text,
    test_rules_identity,
    test_rules_manifest,
    test_rules_codes,
    test_rules_fit,
    test_rules_output,
    test_rules_synthesis,
)
FIRES = test_rules_signal.FIRES | {code: value for table in TABLES for code, value in table.FIRES.items()}
QUIET = dict.fromkeys(test_rules_signal.FIRES) | {
    c: value for table in TABLES for c, value in table.QUIET.items()
}


def test_every_rule_has_a_fixture_that_fires_and_one_that_stays_quiet():
    assert set(FIRES) == set(RULES)
    assert set(QUIET) == set(RULES)


def test_codes_are_in_numeric_order():
    assert list(RULES) == sorted(RULES)
    assert len(RULES) >= 30


def test_names_are_unique():
    names = [r.name for r in RULES.values()]
    assert len(set(names)) == len(names)
    summaries = [r.summary for r in RULES.values()]
    assert len(set(summaries)) == len(summaries)


@pytest.mark.parametrize("code", RULES)
def test_a_rule_is_well_formed(code):
    rule = RULES[code]
    assert re.fullmatch(r"RP\d{3}", code)
    assert rule.code == code
    assert importlib.import_module(f"refprep.linter.rules.{code.lower()}").RULE is rule
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert isinstance(rule.severity, Severity)
    assert isinstance(rule.fix, FixAvailability)
    assert rule.noun in NOUNS
    assert rule.noun in TOPICS.get(code[:3], NOUNS)
    assert callable(rule.check)
    assert rule.summary
    assert rule.summary[0].islower() or rule.summary[0].isdigit()
    assert not rule.summary.endswith(".")


@pytest.mark.parametrize("code", RULES)
def test_a_page_has_all_sections_in_order_and_none_is_empty(code):
    rule = RULES[code]
    found = sections(rule)
    assert tuple(found) == SECTIONS
    assert all(found.values())
    assert rule.page.startswith(f"{code} {rule.name}.") or rule.page.startswith(f"{code} {rule.name}:")


@pytest.mark.parametrize("code", RULES)
def test_the_example_is_a_finding_of_this_rule(code):
    rule = RULES[code]
    example = sections(rule)["Example"]
    assert f"{code} {rule.severity.value}: " in example


@pytest.mark.parametrize("code", RULES)
def test_the_page_agrees_with_the_rule_about_fixes(code):
    rule = RULES[code]
    safety = sections(rule)["Fix safety"].lower()
    if rule.fix is FixAvailability.NONE:
        assert safety.startswith(("there is no automatic fix", "none:"))
    else:
        assert safety.startswith(f"{rule.fix.value}")


@pytest.mark.parametrize("code", RULES)
def test_page_and_row(code):
    rule = RULES[code]
    text = page(rule)
    assert text.endswith(f"Severity: {rule.severity.value}. Fix: {rule.fix.value}.\n")
    assert text.startswith(code)
    assert rule_row(rule) == {
        "code": code,
        "name": rule.name,
        "summary": rule.summary,
        "severity": rule.severity.value,
        "fix": rule.fix.value,
        "sections": sections(rule),
    }


def test_the_table_has_a_row_for_every_rule():
    lines = markdown_table(RULES.values()).splitlines()
    assert len(lines) == len(RULES) + 2
    for line, rule in zip(lines[2:], RULES.values(), strict=True):
        assert line == f"| {rule.code} | {rule.name} | {rule.summary} | {rule.severity.value} |"
        assert line.count("|") == 5


def test_a_rule_is_frozen():
    with pytest.raises(AttributeError):
        RULES["RP101"].severity = Severity.INFO  # type: ignore[misc]
    assert isinstance(RULES["RP101"], Rule)


# --------------------------------------------------------------------------- choosing


def test_all_rules_by_default_but_those_in_preview():
    assert select_rules() == {c: r for c, r in RULES.items() if not r.is_preview}
    assert select_rules(preview=True) == RULES


@pytest.mark.parametrize(
    ("options", "runs"),
    [({}, False), ({"preview": True}, True), ({"select": ("RP101",)}, True), ({"select": ("RP1",)}, False),
     ({"select": ("RP1",), "preview": True}, True), ({"preview": True, "ignore": ("RP101",)}, False)],
)  # fmt: skip
def test_a_preview_rule_runs_when_it_is_asked_for(monkeypatch, options, runs):
    rules = {**RULES, "RP101": replace(RULES["RP101"], is_preview=True)}
    monkeypatch.setattr("refprep.linter.registry.all_rules", lambda: rules)
    assert ("RP101" in select_rules(**options)) == runs


def test_a_severity_can_be_changed_and_the_longest_prefix_knows_best():
    chosen = select_rules(severity={"rp2": "error", "RP209": "info", "RP20": "warning"})
    assert chosen["RP210"].severity is Severity.ERROR
    assert chosen["RP201"].severity is Severity.WARNING
    assert chosen["RP209"].severity is Severity.INFO
    assert chosen["RP101"] == RULES["RP101"]
    for wrong in ({"RP209": "fatal"}, {"RP8": "error"}, {"": "error"}):
        with pytest.raises(UsageError):
            select_rules(severity=wrong)


@pytest.mark.parametrize("name", ["RP101", "rp1", "RP1", "RP", "Rp10"])
def test_a_prefix_names_its_rules(name):
    expected = [c for c in RULES if c.startswith(name.upper())]
    assert list(select_rules((name,), preview=True)) == expected
    assert list(select_rules((), (name,), preview=True)) == [c for c in RULES if c not in expected]


@pytest.mark.parametrize("name", ["RP9999", "E501", "RP8", "uncovered-audio-tail"])
def test_a_name_of_no_rule_is_a_usage_error(name):
    for arguments in (((name,), ()), ((), (name,))):
        with pytest.raises(UsageError, match="names no rule") as caught:
            select_rules(*arguments)
        assert name in caught.value.what


def test_an_empty_name_names_no_rule():
    with pytest.raises(UsageError):
        select_rules(("",))


@given(
    st.lists(st.sampled_from(sorted(RULES)), max_size=5), st.lists(st.sampled_from(sorted(RULES)), max_size=5)
)
def test_ignore_wins_over_select(select, ignore):
    chosen = select_rules(tuple(select), tuple(ignore))
    assert set(chosen) == (set(select) or set(select_rules())) - set(ignore)
    assert list(chosen) == sorted(chosen)
