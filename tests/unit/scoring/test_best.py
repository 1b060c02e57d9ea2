"""Which of several outputs to keep, and the report on it."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations

import pytest
from score_values import CHECK, HEAD_LEAK, SCORE, undecided, with_quality, with_window, with_words

from refprep.errors import UsageError
from refprep.linter.registry import select_rules
from refprep.linter.run import run_rules
from refprep.scoring.best import ORDER, best_of, rank, reason
from refprep.scoring.output import ScoredOutput
from refprep.scoring.report import findings_text, output_json, output_line
from refprep.types import OutputScore, TextScore, WordsFault


def judged(score: OutputScore) -> ScoredOutput:
    return ScoredOutput(score, run_rules([score], select_rules(), path=score.path))


def with_rate(rate: float) -> OutputScore:
    return replace(SCORE, text=TextScore(CHECK, rate, False, ()))


# What each loses against the one before it.
RANKED = [
    (SCORE, "first given"),
    (replace(SCORE, pace_ratio=1.3), "pace nearest to the reference's"),
    (with_window(2.4), "highest lowest voice window"),
    (replace(SCORE, level_offset_db=12.0), "fewest warnings"),
    (with_rate(0.1), "lowest error rate"),
    (replace(with_words(WordsFault.MISSING, "river"), leaks=()), "passes"),
    (replace(with_words(WordsFault.MISSING, "river"), leaks=(HEAD_LEAK,)), "fewest errors"),
]


def test_the_order_is_the_stated_one():
    outputs = [judged(score) for score, _ in RANKED]
    assert [best_of(outputs[k:]) for k in range(len(outputs))] == [0] * len(outputs)
    for (_, why), better, worse in zip(RANKED[1:], outputs, outputs[1:], strict=False):
        assert reason([better, worse], 0) == why
    assert {why for _, why in RANKED} == set(ORDER)


def test_the_order_of_the_files_does_not_matter():
    outputs = [judged(score) for score, _ in RANKED[:4]]
    for order in permutations(outputs):
        assert order[best_of(order)] is outputs[0]


def test_of_equals_the_first_is_kept():
    outputs = [judged(SCORE), judged(SCORE)]
    assert best_of(outputs) == 0
    assert reason(outputs, 0) == "first given"
    assert reason(outputs[:1], 0) == ""
    with pytest.raises(UsageError, match="no outputs"):
        best_of([])


def test_without_text_and_voice_the_rank_is_a_number_everywhere():
    bare = replace(SCORE, text=None, windows=(), pace_ratio=None, level_offset_db=None)
    assert len(rank(judged(bare))) == len(ORDER) - 1
    assert best_of([judged(bare), judged(SCORE)]) == 1


def test_faults_are_the_names_of_errors_alone():
    both = replace(with_words(WordsFault.REPEATED, "the moon"), level_offset_db=20.0)
    assert judged(both).faults == ("repeated-text",)
    assert not judged(both).passed
    assert judged(undecided("nobody knows")).passed


@pytest.mark.parametrize(
    "score",
    [SCORE, RANKED[-1][0], replace(SCORE, text=None, windows=()), with_quality(loudness_lufs=-float("inf"))],
)
def test_json_is_json(score):
    output = judged(score)
    row = json.loads(json.dumps(output_json(output), allow_nan=False))
    assert row["passed"] is output.passed
    assert row["faults"] == list(output.faults)
    assert len(row["windows"]) == len(score.windows)
    assert len(row["findings"]) == len(output.findings)


def test_a_line_for_people():
    line = output_line(judged(SCORE))
    assert line == (
        "out.wav: passed: 3.40 s, WER 0.0%, ge2e 4.10 4.10 (needs 1.80), pace x1.02, level +0.7 dB"
    )
    failed = judged(RANKED[-1][0])
    assert "FAILED (leaked-reference-words, missing-words)" in output_line(failed)
    assert "leak at the head" in output_line(failed)
    text = findings_text(failed)
    assert 'out.wav:0.20s: RP602 error: it begins with "the lime"' in text
    assert "`refprep explain RP602`" in text
