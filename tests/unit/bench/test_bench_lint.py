"""Labelled cases: how they are read, run, and counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fakes import FakeAsr, FakeVoiceActivity, evenly

from refprep.bench.lint import LintCase, LintOutcome, read_cases, run_cases, summarise
from refprep.errors import ManifestError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.types import Span

SAID = "Before winter came they carried dry wood from every forest"
HEADER = "case_id,path,language,kind,expect,ref_text,spoken_text,words_missing\n"


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def case(
    kind: str, expect: str, *, text: str = "x", spoken: str = "", language: str = "en", words_missing: int = 0
) -> LintCase:
    return LintCase("id", Path("a.wav"), language, kind, expect, text, spoken, words_missing)


def outcome(
    kind: str, expect: str, said: str, *, suggested: str = "", reason: str = "", **more
) -> LintOutcome:
    return LintOutcome(case(kind, expect, **more), said, reason, suggested)


def figures(*outcomes: LintOutcome) -> dict:
    return summarise(outcomes, wall_s=2.0, audio_s=8.0, models={"transcriber": "fake"})


# --------------------------------------------------------------------------- reading


def test_cases_are_read(tmp_path):
    path = write(
        tmp_path / "cases.csv",
        "\ufeff"
        + HEADER
        + 'c1,clips/a.wav,en,tail_missing_10pct,fail,"It was, then","It was, then and now",2\n'
        ",b.wav,zh,full,pass,今天,,\n",
    )
    assert read_cases(path) == [
        LintCase(
            "c1",
            tmp_path / "clips" / "a.wav",
            "en",
            "tail_missing_10pct",
            "fail",
            "It was, then",
            "It was, then and now",
            2,
        ),
        LintCase("2", tmp_path / "b.wav", "zh", "full", "pass", "今天", "", 0),
    ]


def test_the_optional_columns_may_be_missing(tmp_path):
    path = write(tmp_path / "c.csv", "path,language,kind,expect,ref_text\na.wav,en,full,pass,x\n")
    assert read_cases(path) == [LintCase("1", tmp_path / "a.wav", "en", "full", "pass", "x", "", 0)]


@pytest.mark.parametrize(
    ("content", "missing"),
    [
        ("path,language,kind\n", "expect, ref_text"),
        ("", "path, language, kind, expect, ref_text"),
    ],
)
def test_missing_columns_are_named(tmp_path, content, missing):
    path = write(tmp_path / "c.csv", content)
    with pytest.raises(ManifestError) as caught:
        read_cases(path)
    assert caught.value.what == f"columns {missing} missing"
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    "row",
    ["a.wav,en\n", "a.wav,en,full,pass,x,many\n", "a.wav,en,full,perhaps,x,1\n"],
    ids=["short", "words_missing", "expect"],
)
def test_a_row_that_cannot_be_read_is_a_manifest_error(tmp_path, row):
    path = write(tmp_path / "c.csv", "path,language,kind,expect,ref_text,words_missing\n" + row)
    with pytest.raises(ManifestError):
        read_cases(path)


def test_a_file_that_is_not_there_is_an_error_of_the_call(tmp_path):
    with pytest.raises(ManifestError):
        read_cases(tmp_path / "nobody.csv")


# --------------------------------------------------------------------------- running


@pytest.fixture
def listener(tmp_path):
    scripts, spans = {}, {}
    for number, name in enumerate(("a", "b")):
        script = evenly(SAID)
        samples = np.random.default_rng(number).integers(-3000, 3000, 5000 + 1000 * number) / 2**15
        soundfile.write(tmp_path / f"{name}.wav", samples, 1000, subtype="PCM_16")
        clip = decode_file(tmp_path / f"{name}.wav")
        scripts[clip.id], spans[clip.id] = script, [Span(0.5, script[-1][2])]
    asr = FakeAsr(scripts)
    return Listener(FakeVoiceActivity(spans), asr, asr)


def test_every_case_is_held_against_its_clip(tmp_path, listener):
    texts = [
        ("a", SAID, "pass"),
        ("a", SAID.replace("winter", "elephant"), "warn"),
        ("a", "Before winter came they carried", "fail"),
        ("b", SAID, "pass"),
        ("b", "", "fail"),
    ]
    cases = [
        LintCase(str(k), tmp_path / f"{n}.wav", "en", "kind", "pass", t, "", 0)
        for k, (n, t, _) in enumerate(texts)
    ]
    seen: list[str] = []
    outcomes, wall_s, audio_s = run_cases(cases, listener, on_case=seen.append)
    assert [o.said for o in outcomes] == [said for _, _, said in texts]
    assert [o.case for o in outcomes] == cases
    assert outcomes[2].suggested_text == SAID
    assert audio_s == 3 * 5.0 + 2 * 6.0  # every case counts its clip
    assert wall_s > 0.0
    assert seen == ["0", "1", "2", "3", "4"]
    assert len(listener.transcriber.calls) == 2  # one audio is transcribed once


def test_an_undecided_case_says_why(tmp_path, listener):
    listener.voice_activity = FakeVoiceActivity(default=[Span(0.5, 5.9)])
    cases = [LintCase("1", tmp_path / "b.wav", "en", "full", "pass", SAID, "", 0)]
    (found,), _, _ = run_cases(cases, listener)
    assert found.said == "undecided"
    assert "voice follow the last word" in found.reason


# --------------------------------------------------------------------------- counting


def test_recalls_count_their_own_kinds():
    found = figures(
        outcome("tail_missing_20pct", "fail", "fail"),
        outcome("tail_missing_10pct", "fail", "pass"),
        outcome("head_missing", "fail", "fail"),
        outcome("middle_missing", "fail", "undecided"),
        outcome("empty", "fail", "fail"),
        outcome("tail_missing_1", "warn", "fail", words_missing=1),
        outcome("head_missing_1", "warn", "pass", words_missing=1),
        outcome("extra_tail", "fail", "fail"),
        outcome("audio_cut", "fail", "pass"),
        outcome("other_clip_same", "fail", "fail"),
        outcome("wrong_language", "fail", "warn"),
        outcome("full", "pass", "pass"),
    )
    assert found["counts"] == {
        "recall_missing": {"found": 3, "of": 5},
        "recall_edge_word": {"found": 1, "of": 2},
        "recall_extra": {"found": 1, "of": 2},
        "recall_other_clip": {"found": 1, "of": 2},
    }
    assert found["recall_missing"] == 0.6
    assert found["recall_edge_word"] == found["recall_extra"] == found["recall_other_clip"] == 0.5
    assert (found["cases"], found["passes"]) == (12, 1)
    assert found["undecided"] == 1


def test_false_alarms_warnings_and_undecided_of_good_texts():
    said = ["pass", "pass", "fail", "warn", "undecided", "undecided"]
    found = figures(*(outcome("full", "pass", s) for s in said), outcome("empty", "fail", "undecided"))
    assert found["passes"] == 6
    assert (found["false_alarms"], found["false_warnings"]) == (1, 1)
    assert (found["undecided"], found["undecided_of_passes"]) == (3, 2)
    assert found["confusion"] == {
        "empty (fail)": {"undecided": 1},
        "full (pass)": {"pass": 2, "fail": 1, "warn": 1, "undecided": 2},
    }


def test_grades_by_language_and_what_was_wrong():
    found = figures(
        outcome("full", "pass", "pass"),
        outcome("full", "pass", "fail", reason=""),
        outcome("empty", "fail", "pass"),
        outcome("full", "pass", "undecided", reason="noise"),
        outcome("tail_missing_1", "warn", "warn", language="de"),
        outcome("tail_missing_1", "warn", "fail", language="de"),
        outcome("tail_missing_1", "warn", "pass", language="de"),
    )
    assert found["languages"] == {
        "de": {"right": 2, "missed": 1},
        "en": {"right": 1, "false alarm": 1, "missed": 1, "undecided": 1},
    }
    assert [(w["kind"], w["expect"], w["said"]) for w in found["wrong"]] == [
        ("full", "pass", "fail"),
        ("empty", "fail", "pass"),
        ("full", "pass", "undecided"),
    ]
    assert found["wrong"][2]["reason"] == "noise"


def test_the_suggestion_is_measured_where_it_can_be():
    found = figures(
        outcome(
            "tail_missing_1", "fail", "fail", spoken="one two three four", suggested="one two three four"
        ),
        outcome("tail_missing_1", "fail", "fail", spoken="one two three four", suggested="one two three"),
        outcome(
            "tail_missing_1",
            "fail",
            "fail",
            spoken="one",
            suggested="a completely other and much longer text",
        ),
        outcome(
            "tail_missing_1", "fail", "pass", spoken="one two", suggested="one"
        ),  # not found: not measured
        outcome("tail_missing_1", "fail", "fail", suggested="one"),  # nobody knows what is said
        outcome("full", "pass", "fail", spoken="one two", suggested="one"),  # a false alarm: not measured
    )
    assert found["suggested_text_wer"] == pytest.approx((0.0 + 0.25 + 1.0) / 3, abs=1e-4)


def test_nothing_to_count():
    found = summarise([], wall_s=0.0, audio_s=0.0, models={})
    assert found["suggested_text_wer"] is None
    assert found["realtime_factor"] is None
    assert found["recall_missing"] is None
    assert found["counts"]["recall_missing"] == {"found": 0, "of": 0}
    assert found["wrong"] == []


def test_the_keys_of_a_report_are_pinned_and_json_takes_them():
    found = figures(outcome("full", "pass", "pass"))
    assert list(found) == [
        "schema_version", "models", "cases", "passes", "recall_missing", "recall_edge_word", "recall_extra",
        "recall_other_clip", "counts", "false_alarms", "false_warnings", "undecided", "undecided_of_passes",
        "suggested_text_wer", "span_start_error_ms_median", "span_start_error_ms_p95", "span_starts", "wall_s",
        "realtime_factor", "confusion", "languages", "wrong",
    ]  # fmt: skip
    assert (found["wall_s"], found["realtime_factor"]) == (2.0, 0.25)
    assert found["models"] == {"transcriber": "fake"}
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    ("errors_s", "median", "p95", "found"),
    [
        ([], None, None, 0),
        ([None, None], None, None, 0),
        ([0.01, -0.03, None, 0.02], 20.0, 30.0, 3),
        ([k / 1000 for k in range(1, 101)], 50.0, 95.0, 100),
    ],
)
def test_errors_of_span_starts_are_summed_up_without_their_sign(errors_s, median, p95, found):
    result = summarise([], wall_s=1.0, audio_s=1.0, models={}, span_errors_s=errors_s)
    assert (result["span_start_error_ms_median"], result["span_start_error_ms_p95"]) == (median, p95)
    assert result["span_starts"] == {"found": found, "of": len(errors_s)}
