"""RP501-RP509: one value that fires, one that stays quiet, for each rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from codes_kit import KEY, case, codes
from hypothesis import given
from hypothesis import strategies as st

from refprep.linter.registry import all_rules
from refprep.linter.rule import Severity
from refprep.types import CodesCase, DamagedCodes, Span

INT8 = replace(KEY, encoder_dtype="int8")
OTHER = replace(KEY, audio_sha256="b" * 64)
DEAD = codes()
DEAD[:, 3] = 7
FLAT = codes(2)[(np.arange(150) % 3 == 0).astype(int)]  # two frames, one of them twice as often
STILL = codes()
STILL[40:58] = STILL[40]
BEYOND = codes()
BEYOND[5, 5] = 2050
NAN = np.full(24, np.nan, np.float32)
DAMAGED = DamagedCodes("voices/ana/codes/5be2.safetensors", "its content does not fit its SHA-256")

# code: (value that fires, words of the message, words of the remedy)
FIRES = {
    "RP501": (case(key=INT8), "weights were stored as int8, not as float32", "publisher's checkpoint"),
    "RP502": (case(key=OTHER), "are of other audio (PCM bbbbbbbbbbbb) than the reference (aaaaaaaaaaaa)", "Remove the file"),
    "RP503": (case(codes=codes(148)), "148 frames of codes, 287040 samples at 24 kHz make 150", "Encode it again"),
    "RP504": (case(codes=DEAD), "codebook 3 uses one code in 150 loud frames", "models verify"),
    "RP505": (case(codes=STILL), "one and the same frame from 3.20 to 4.64 s", "--device cpu"),
    "RP506": (case(codes=BEYOND), "to 2050 in frames of 16, the codec has 16 codebooks of 2048", "will speak"),
    "RP507": (case(speaker_embedding=NAN), "24 values that are no numbers", "models verify"),
    "RP508": (DAMAGED, "codes/5be2.safetensors: its content does not fit its SHA-256", "Remove the file"),
    "RP509": (case(codes=FLAT), "14.7 bits a frame over 150 loud frames (limit 16)", "models verify"),
}  # fmt: skip
QUIET = {code: case() for code in FIRES} | {"RP508": None}
RULES = [rule for code, rule in all_rules().items() if code.startswith("RP5")]


def hits(code: str, value: object) -> list[object]:
    return list(all_rules()[code].check(value))


def test_every_rule_on_codes_is_here():
    assert [r.code for r in RULES] == sorted(FIRES)
    assert {r.noun for r in RULES} == {CodesCase, DamagedCodes}


@pytest.mark.parametrize("code", FIRES)
def test_fires(code):
    value, message, remedy = FIRES[code]
    (hit,) = hits(code, value)
    assert message in hit.message
    assert hit.message.startswith(f"{value.name}: ")
    assert remedy in hit.remedy
    assert hit.evidence


@pytest.mark.parametrize("code", [c for c in FIRES if c != "RP508"])
def test_stays_quiet(code):
    assert hits(code, QUIET[code]) == []


@pytest.mark.parametrize("code", [c for c in FIRES if c != "RP508"])
def test_one_fault_fires_one_rule(code):
    value = FIRES[code][0]
    assert [r.code for r in RULES if r.noun is CodesCase and list(r.check(value))] == [code]


@pytest.mark.parametrize("code", FIRES)
def test_severity(code):
    assert all_rules()[code].severity is (Severity.WARNING if code in ("RP504", "RP509") else Severity.ERROR)


def test_standing_still_in_a_pause_is_let_pass():
    loud = np.ones(150, bool)
    loud[38:60] = False
    assert hits("RP505", case(loud, codes=STILL)) == []
    (hit,) = hits("RP505", case(codes=STILL))
    assert hit.span == Span(3.2, 4.64)


def test_twelve_frames_may_be_the_same_and_thirteen_may_not():
    for frames, found in ((12, 0), (13, 1)):
        still = codes()
        still[137 : 137 + frames] = still[137]
        assert len(hits("RP505", case(codes=still))) == found


@pytest.mark.parametrize(
    ("vector", "words"),
    [(np.zeros(24), "is zero"), (np.full(24, 0.3), "is one number over and over"), ([np.inf, 1.0], "holds 1 value ")],
)  # fmt: skip
def test_an_embedding_without_a_direction(vector, words):
    (hit,) = hits("RP507", case(speaker_embedding=np.asarray(vector, np.float32)))
    assert words in hit.message


def test_short_or_quiet_references_say_nothing_of_entropy():
    quiet = np.zeros(150, bool)
    quiet[:62] = True
    for code, value in (("RP504", DEAD), ("RP509", FLAT)):
        assert hits(code, case(quiet, codes=value)) == []


@given(st.integers(-5, 5000))
def test_a_code_is_in_range_or_found(value):
    matrix = codes()
    matrix[0, 0] = value
    assert bool(hits("RP506", case(codes=matrix))) == (not 0 <= value < 2048)


@given(st.integers(0, 400))
def test_only_the_right_number_of_frames_passes(frames):
    assert bool(hits("RP503", case(codes=codes(frames)))) == (frames != 150)
