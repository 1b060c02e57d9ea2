"""RP602-RP611: one value that fires, one that stays quiet, for each rule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from score_values import (
    HEAD_LEAK,
    SCORE,
    TAIL_LEAK,
    undecided,
    with_quality,
    with_window,
    with_words,
)

from refprep.linter.registry import all_rules
from refprep.linter.rule import Severity
from refprep.types import OutputScore, Span, WordsFault

# code: (value that fires, words of the message, words of the remedy)
FIRES = {
    "RP602": (
        replace(SCORE, leaks=(HEAD_LEAK,)),
        'it begins with "the lime" of the reference; the text begins at 0.71 s',
        "--trim-leak",
    ),
    "RP603": (
        with_words(WordsFault.REPEATED, "the moon rose"),
        'said once more (tail): "the moon rose"',
        "Synthesise it again",
    ),
    "RP604": (
        with_words(WordsFault.REORDERED, "over the river", place="head"),
        'said at another place (head): "over the river"',
        "Synthesise it again",
    ),
    "RP605": (
        with_words(WordsFault.MISSING, "river"),
        'nobody says "river" (tail, 1 word)',
        "Synthesise it again",
    ),
    "RP606": (
        with_words(WordsFault.INSERTED, "you know", place="middle"),
        'not in the text (middle): "you know"',
        "Listen there",
    ),
    "RP607": (
        with_window(-2.4),
        "the late part sounds like somebody else: score -2.400, 1.800 needed, 1.200 to ben (ge2e, as-norm)",
        "Listen there",
    ),
    "RP608": (
        with_quality(trailing_silence_s=20.4, duration_s=23.4),
        "20.4 s without speech after the text (limit 2.5 s)",
        "limit on frames",
    ),
    "RP609": (
        replace(SCORE, level_offset_db=-14.2),
        "14.2 dB quieter than the reference (limit 9 dB)",
        "+14.2 dB",
    ),
    "RP610": (
        replace(SCORE, pace_ratio=2.1),
        "2.10 times as fast as the reference",
        "reference of the pace",
    ),
    "RP611": (undecided("nobody knows"), "undecided: nobody knows", "--asr"),
}
QUIET = dict.fromkeys(FIRES, SCORE)


def hits(code: str, value: OutputScore):
    return list(all_rules()[code].check(value))


@pytest.mark.parametrize("code", FIRES)
def test_fires(code):
    value, message, remedy = FIRES[code]
    (hit,) = hits(code, value)
    assert message in hit.message
    assert remedy in hit.remedy
    assert hit.evidence


@pytest.mark.parametrize("code", FIRES)
def test_stays_quiet(code):
    assert hits(code, QUIET[code]) == []


@pytest.mark.parametrize("code", FIRES)
def test_one_fault_fires_one_rule(code):
    value = FIRES[code][0]
    assert [r.code for r in all_rules().values() if r.noun is OutputScore and list(r.check(value))] == [code]


@pytest.mark.parametrize("code", FIRES)
def test_severity(code):
    warnings = ("RP609", "RP610", "RP611")
    rule = all_rules()[code]
    assert rule.severity is (Severity.WARNING if code in warnings else Severity.ERROR)
    assert not rule.is_preview


def test_both_edges_can_leak():
    head, tail = hits("RP602", replace(SCORE, leaks=(HEAD_LEAK, TAIL_LEAK)))
    assert head.span == Span(0.2, 0.71)
    assert 'it ends with "thank you" of the reference; the text ends at 2.40 s' in tail.message
    assert tail.evidence["cut_s"] == 2.4


def test_a_replaced_word_names_both():
    (hit,) = hits("RP606", with_words(WordsFault.REPLACED, "moon", instead="sun", place="head"))
    assert hit.message == '"moon" is in the text, "sun" is said (head)'


def test_a_window_nearer_to_a_control_is_off_though_it_reaches_the_threshold():
    assert hits("RP607", with_window(2.0, control_score=2.5))
    assert not hits("RP607", with_window(2.0, control_score=None))
    assert (
        "cosine 0.500"
        in hits(
            "RP607",
            replace(SCORE, windows=(replace(SCORE.windows[0], scale="cosine", score=0.5, threshold=0.8),)),
        )[0].message
    )


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"leading_silence_s": 3.0}, "before the text"),
        ({"longest_inner_silence": Span(1.0, 5.0), "duration_s": 8.0}, "inside"),
    ],
)
def test_long_non_speech_has_a_place(changes, place):
    (hit,) = hits("RP608", with_quality(**changes))
    assert place in hit.message


def test_without_speech_or_text_the_rules_have_nothing_to_say():
    silent = replace(SCORE, speech=(), text=None, windows=(), pace_ratio=None, level_offset_db=None)
    assert [r.code for r in all_rules().values() if r.noun is OutputScore and list(r.check(silent))] == []


def test_faults_that_were_named_are_not_undecided():
    named = with_words(WordsFault.MISSING, "river")
    assert named.text is not None
    assert hits("RP611", undecided("nobody knows", named.text.faults)) == []
