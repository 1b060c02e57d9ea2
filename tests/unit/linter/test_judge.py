"""Which findings of an utterance are told: globs, waivers, the baseline."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import test_rules_signal
from fakes import noise_clip

from refprep.errors import ConfigError
from refprep.linter.baseline import Baseline, pair_key, read_baseline
from refprep.linter.judge import Judge
from refprep.linter.registry import all_rules
from refprep.linter.rule import Finding, Severity
from refprep.linter.speakers import SpeakerRoll
from refprep.manifest import Utterance

RULES = {c: all_rules()[c] for c in ("RP108", "RP201", "RP202", "RP303", "RP901", "RP902")}
NOISY, CLIPPED = test_rules_signal.FIRES["RP202"][0], test_rules_signal.FIRES["RP201"][0]
SOURCE = noise_clip(0.1).source
OURS = Utterance(Path("clips/old/a.wav"), "said", speaker="2121")


def judge(utterance: Utterance = OURS, *nouns: object, **settings) -> list[str]:
    found, _ = Judge(RULES, SpeakerRoll([utterance]), **settings).judge(utterance, nouns or (NOISY,), SOURCE)
    return [f.code for f in found]


def test_every_noun_is_judged():
    assert judge(OURS, NOISY, CLIPPED) == ["RP201", "RP202", "RP303"]
    assert judge(replace(OURS, text=None)) == ["RP108", "RP202", "RP303"]


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("*.wav", True), ("a.*", True), ("clips/*", True), ("clips/old/*.wav", True), ("*/old/*", True),
        ("b.wav", False), ("clips/new/*", False), ("old/*", False), ("CLIPS/*", False),
    ],
)  # fmt: skip
def test_a_glob_is_held_against_name_and_path(glob, fits):
    assert judge(per_file_ignores={glob: ("RP2",)}) == (["RP303"] if fits else ["RP202", "RP303"])


def test_a_glob_is_relative_to_the_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"per_file_ignores": {"old/*": ("RP2", "RP3")}}
    assert judge(OURS, folder=str(tmp_path / "clips"), **settings) == []
    assert judge(OURS, folder=str(tmp_path), **settings) == ["RP202", "RP303"]
    assert (
        judge(replace(OURS, audio=tmp_path / "clips/old/a.wav"), folder=str(tmp_path / "clips"), **settings)
        == []
    )


def test_waivers_take_out_findings_and_are_held_to_account():
    assert judge(replace(OURS, extra={"ignore": {"RP202": "a street"}})) == ["RP303"]
    assert judge(replace(OURS, extra={"ignore": "RP201: loud"})) == ["RP901", "RP202", "RP303"]
    assert judge(replace(OURS, extra={"ignore": ["RP2"]})) == ["RP902", "RP303"]


# --------------------------------------------------------------------------- baseline


def finding(code: str) -> Finding:
    return Finding(code, "n", Severity.ERROR, "a.wav", "m", "r")


def known(path: Path, *codes: str, utterance: Utterance = OURS) -> Baseline:
    baseline = Baseline()
    baseline.add([finding(c) for c in codes], utterance, SOURCE)
    baseline.write(path)
    return read_baseline(path)


def test_known_findings_are_not_told_but_counted(tmp_path):
    baseline = known(tmp_path / "known.json", "RP202")
    found, num_known = Judge(RULES, SpeakerRoll([OURS]), baseline=baseline).judge(OURS, [NOISY], SOURCE)
    assert ([f.code for f in found], num_known) == (["RP303"], 1)


def test_a_known_finding_goes_with_the_content_not_with_the_name(tmp_path):
    baseline = known(tmp_path / "known.json", "RP202")
    moved = replace(OURS, audio=Path("elsewhere/b.wav"))
    assert baseline.new_among([finding("RP202")], moved, SOURCE) == ()
    for utterance, source in (
        (replace(OURS, text="said more"), SOURCE),
        (replace(OURS, text=None), SOURCE),
        (OURS, replace(SOURCE, file_sha256="1" * 64)),
        (OURS, None),
    ):
        assert len(baseline.new_among([finding("RP202")], utterance, source)) == 1


def test_one_more_of_a_code_is_new(tmp_path):
    baseline = known(tmp_path / "known.json", "RP103", "RP103")
    assert baseline.new_among([finding("RP103")] * 2, OURS, SOURCE) == ()
    assert len(baseline.new_among([finding("RP103")] * 3, OURS, SOURCE)) == 1
    assert len(baseline.new_among([finding("RP104")], OURS, SOURCE)) == 1


def test_a_pair_in_two_rows_is_known_once(tmp_path):
    baseline = Baseline()
    for _ in range(3):
        baseline.add([finding("RP103")], OURS, SOURCE)
    baseline.write(tmp_path / "known.json")
    (entry,) = json.loads((tmp_path / "known.json").read_text())["findings"]
    assert entry == {
        "path": "clips/old/a.wav",
        "pair_sha256": pair_key(OURS, SOURCE),
        "code": "RP103",
        "count": 1,
    }


def test_audio_that_does_not_decode_goes_by_its_path(tmp_path):
    broken = Baseline()
    broken.add([finding("RP001")], OURS, None)
    broken.write(tmp_path / "known.json")
    baseline = read_baseline(tmp_path / "known.json")
    assert baseline.new_among([finding("RP001")], OURS, None) == ()
    assert len(baseline.new_among([finding("RP001")], replace(OURS, audio=Path("b.wav")), None)) == 1


def test_a_name_that_is_no_utf_8_can_be_known(tmp_path):
    odd = replace(OURS, audio=Path("a\udcff.wav"))
    baseline = known(tmp_path / "known.json", "RP202", utterance=odd)
    assert baseline.new_among([finding("RP202")], odd, SOURCE) == ()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"schema_version": 2, "findings": []}', '{"schema_version": 1}',
                '{"schema_version": 1, "findings": [{"code": "RP101"}]}', "\ufeff"]
)  # fmt: skip
def test_what_is_no_baseline_is_one_error(tmp_path, content):
    (tmp_path / "known.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match="--write-baseline"):
        read_baseline(tmp_path / "known.json")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_baseline(tmp_path / "none.json")
