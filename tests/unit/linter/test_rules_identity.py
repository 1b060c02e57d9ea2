"""RP008, RP3 and RP4: one value that fires, one that stays quiet, for each rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from refprep.linter.registry import all_rules
from refprep.linter.rule import Severity
from refprep.types import Admission, ConsentCase, Identity, IdentityCase, SampleFormat, Span

IDENTITY = Identity(
    clip_id="id",
    model="ge2e",
    scale="cosine",
    min_pairwise_score=0.85,
    mean_pairwise_score=0.88,
    centroid_score=0.9,
    min_window_score=0.8,
    worst_window=Span(4.8, 6.4),
    control_scores={"kim": 0.4, "eva": 0.6},
)
CASE = IdentityCase(IDENTITY, is_target=True, threshold=0.72, window_threshold=0.6, min_margin=0.05)
ADMISSION = Admission(
    speech_s=3.0,
    min_clip_s=1.0,
    sample_rate_hz=48_000,
    reference_rate_hz=48_000,
    sample_format=SampleFormat.PCM_16,
    reference_format=SampleFormat.PCM_16,
    duplicate_of="",
)


def case_of(*, is_target: bool = True, **changes) -> IdentityCase:
    return replace(CASE, identity=replace(IDENTITY, **changes), is_target=is_target)


# code: (value that fires, words of the message, words of the remedy)
FIRES = {
    "RP301": (
        case_of(min_window_score=0.512),
        "cosine 0.512 to the voice, 0.600 needed (ge2e)",
        "one person speaks",
    ),
    "RP302": (
        case_of(centroid_score=0.621),
        "the margin is 0.021: cosine 0.621 to its own voice, 0.600 to the control eva (ge2e)",
        "more controls",
    ),
    "RP304": (
        case_of(is_target=False, mean_pairwise_score=0.573, min_pairwise_score=0.498),
        "another voice: mean cosine 0.573 to its clips, lowest 0.498, 0.720 needed (ge2e)",
        "--anchor",
    ),
    "RP402": (
        replace(ADMISSION, sample_rate_hz=44_100, sample_format=SampleFormat.FLOAT),
        "44100 Hz FLOAT, the reference is 48000 Hz PCM_16",
        "--resample",
    ),
    "RP403": (
        replace(ADMISSION, duplicate_of="clips/ana_01.wav"),
        "the same samples as clips/ana_01.wav",
        "Give it once",
    ),
    "RP404": (replace(ADMISSION, speech_s=0.41), "0.41 s of speech, 1.00 s needed", "min_clip_s"),
    "RP008": (ConsentCase("withdrawn", False), 'does not consent: "withdrawn"', "Leave the clip out"),
}
QUIET = {code: CASE if code.startswith("RP3") else ADMISSION for code in FIRES} | {
    "RP008": ConsentCase("signed 2026-01-02, file 17", True)
}


@pytest.mark.parametrize("code", FIRES)
def test_fires(code):
    value, message, remedy = FIRES[code]
    rule = all_rules()[code]
    assert isinstance(value, rule.noun)
    (hit,) = rule.check(value)
    assert message in hit.message
    assert remedy in hit.remedy
    assert hit.evidence
    assert hit.suggested_text is None


@pytest.mark.parametrize("code", FIRES)
def test_stays_quiet(code):
    rule = all_rules()[code]
    assert isinstance(QUIET[code], rule.noun)
    assert list(rule.check(QUIET[code])) == []


@pytest.mark.parametrize("code", FIRES)
def test_one_fault_fires_one_rule(code):
    value = FIRES[code][0]
    assert [r.code for r in all_rules().values() if isinstance(value, r.noun) and list(r.check(value))] == [
        code
    ]


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("RP301", "error"),
        ("RP302", "warning"),
        ("RP304", "error"),
        ("RP402", "error"),
        ("RP403", "error"),
        ("RP404", "error"),
        ("RP008", "error"),
    ],
)
def test_severity(code, severity):
    assert all_rules()[code].severity is Severity(severity)


@pytest.mark.parametrize(
    ("code", "exact", "below"),
    [
        ("RP301", case_of(min_window_score=0.6), case_of(min_window_score=0.5999)),
        ("RP302", case_of(centroid_score=0.6501), case_of(centroid_score=0.6499)),
        ("RP404", replace(ADMISSION, speech_s=1.0), replace(ADMISSION, speech_s=0.999)),
    ],
)
def test_the_limit_itself_is_enough(code, exact, below):
    assert list(all_rules()[code].check(exact)) == []
    assert len(list(all_rules()[code].check(below))) == 1


def test_a_stranger_is_only_called_a_stranger():
    stranger = case_of(is_target=False, min_window_score=0.1, centroid_score=0.2)
    fired = [r.code for r in all_rules().values() if r.noun is IdentityCase and list(r.check(stranger))]
    assert fired == ["RP304"]


def test_an_encoder_without_a_window_threshold_has_no_opinion_on_windows():
    case = replace(case_of(min_window_score=0.0), window_threshold=None)
    assert list(all_rules()["RP301"].check(case)) == []
    assert list(all_rules()["RP301"].check(case_of(min_window_score=None))) == []


def test_the_worst_window_is_the_place():
    (hit,) = all_rules()["RP301"].check(FIRES["RP301"][0])
    assert hit.span == Span(4.8, 6.4)
    assert hit.evidence == {"min_window_score": 0.512, "threshold": 0.6}


def test_the_nearest_control_is_named():
    (hit,) = all_rules()["RP302"].check(FIRES["RP302"][0])
    assert hit.evidence == {"margin": 0.021, "nearest_control": "eva"}


def test_without_controls_there_is_no_margin():
    assert list(all_rules()["RP302"].check(case_of(centroid_score=0.1, control_scores={}))) == []
    assert list(all_rules()["RP302"].check(case_of(centroid_score=None))) == []


def test_another_voice_says_its_numbers_and_a_lone_one_does_without():
    (hit,) = all_rules()["RP304"].check(FIRES["RP304"][0])
    assert hit.evidence == {"mean_pairwise_score": 0.573, "min_pairwise_score": 0.498, "threshold": 0.72}
    lone = case_of(is_target=False, mean_pairwise_score=None, min_pairwise_score=None)
    (hit,) = all_rules()["RP304"].check(lone)
    assert hit.message == "another voice (ge2e)"


@pytest.mark.parametrize("change", [{"sample_rate_hz": 44_100}, {"sample_format": SampleFormat.PCM_24}])
def test_rate_or_format_alone_is_a_mismatch(change):
    (hit,) = all_rules()["RP402"].check(replace(ADMISSION, **change))
    assert set(hit.evidence) == {"sample_rate_hz", "sample_format"}


@pytest.mark.parametrize(
    ("code", "changes", "words"),
    [
        ("RP301", {"min_window_score": 0.5}, "score 0.500 to the voice, 0.600 needed (ge2e, as-norm)"),
        (
            "RP302",
            {"centroid_score": 0.6},
            "score 0.600 to its own voice, 0.600 to the control eva (ge2e, as-norm)",
        ),
    ],
)
def test_the_scale_is_named(code, changes, words):
    (hit,) = all_rules()[code].check(case_of(scale="as-norm", **changes))
    assert words in hit.message


CONSENT = all_rules()["RP008"]


@pytest.mark.parametrize(
    ("statement", "is_required", "words"),
    [
        ("withdrawn", False, 'the speaker does not consent: "withdrawn"'),
        ("No", True, "does not consent"),
        ("", True, "nobody wrote down"),
        ("unknown", True, "nobody wrote down"),
    ],
)
def test_consent_that_is_refused_or_missing(statement, is_required, words):
    (hit,) = CONSENT.check(ConsentCase(statement, is_required))
    assert words in hit.message
    assert hit.evidence == {"consent": statement}


@pytest.mark.parametrize(
    "case", [ConsentCase("", False), ConsentCase("signed 2026-01-02", True), ConsentCase("?", False)]
)
def test_consent_that_is_stated_or_not_asked_for(case):
    assert list(CONSENT.check(case)) == []
