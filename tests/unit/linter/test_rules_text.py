"""RP001, RP1 and RP303: one value that fires, one that stays quiet, for each rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import FakeAsr, FakeVoiceActivity, evenly, voiced_clip

from refprep.errors import AudioDecodeError, ConfigError
from refprep.linter.registry import all_rules
from refprep.linter.rule import FixAvailability, Severity
from refprep.linter.rules.rp303 import is_full_speaker_id
from refprep.manifest import Utterance
from refprep.pipeline.listen import Listener
from refprep.types import Span, TextCheck

SAID = "Before winter came they carried dry wood from every forest"


def hold(text: str, said: str = SAID, *, voice_s: float = 0.0) -> TextCheck:
    """What the Listener says; ``voice_s`` more seconds of voice follow the last word."""
    script = evenly(said)
    end_s = script[-1][2] + voice_s if script else 2.0
    speech = [Span(0.5, end_s)]
    clip = voiced_clip(end_s + 0.5, speech, sample_rate_hz=1000)
    asr = FakeAsr({clip.id: script})
    return Listener(FakeVoiceActivity(default=speech), asr, asr).check(clip, text, language="en")


UTTERANCE = Utterance(Path("clips/ana_04.wav"), "It was.", "en", "vctk/en/f/p225", "m.jsonl:1")

# code: (value that fires, words of the message, words of the remedy, suggested text)
FIRES = {
    "RP001": (
        AudioDecodeError("no audio stream", where="ana.mp4", fix="Re-export it as WAV."),
        ["no audio stream"],
        "Re-export it as WAV.",
        None,
    ),
    "RP101": (
        hold("Before winter came they carried"),
        ["the last 2.00 s of speech have no text", '"dry wood from every forest"', "(coverage 50"],
        "cut the audio at 2.50 s",
        SAID,
    ),
    "RP102": (
        hold("dry wood from every forest"),
        ["the first 2.00 s of speech have no text", '"Before winter came they carried"', "(coverage 50"],
        "cut the audio before 2.50 s",
        SAID,
    ),
    "RP103": (
        hold("Before winter came dry wood from every forest"),
        ["0.80 s of speech inside have no text", '"they carried"', "(coverage 80"],
        "Insert the missing words",
        SAID,
    ),
    "RP104": (
        hold(SAID + " thank you for listening"),
        ['nobody says "thank you for listening" (4 words)'],
        "Take the words out",
        SAID,
    ),
    "RP105": (
        hold(
            "Printing, in the only sense with which we are concerned",
            "She had your dark suit in greasy wash water",
        ),
        [
            "this is another text (",
            "% of the letters agree)",
            '"She had your dark suit in greasy wash water"',
        ],
        "clip's own text",
        "She had your dark suit in greasy wash water",
    ),
    "RP106": (
        hold(SAID.replace("winter", "elephant")),
        ['"elephant" is written, "winter" is spoken'],
        "Correct the word",
        SAID,
    ),
    "RP107": (
        hold(SAID, voice_s=0.9),
        ["undecided: 0.90 s of voice follow the last word"],
        "cleaner take",
        None,
    ),
    "RP108": (
        Utterance(Path("clips/ana_04.wav")),
        ["nobody wrote down what it says"],
        "Write ana_04.txt beside it",
        None,
    ),
    "RP303": (
        Utterance(Path("a.wav"), speaker="2121"),
        ['speaker id "2121" does not say which corpus, country and gender'],
        "corpus/country/gender/speaker",
        None,
    ),
}
QUIET = {
    **{code: hold(SAID) for code in FIRES if code.startswith("RP10") and code not in ("RP001", "RP108")},
    "RP001": None,  # the error is the finding: without one there is nothing to read
    "RP108": UTTERANCE,
    "RP303": UTTERANCE,
}


@pytest.mark.parametrize("code", FIRES)
def test_fires(code):
    value, message, remedy, suggested = FIRES[code]
    rule = all_rules()[code]
    assert isinstance(value, rule.noun)
    (hit,) = rule.check(value)
    for part in message:
        assert part in hit.message
    assert remedy in hit.remedy
    assert hit.suggested_text == suggested


@pytest.mark.parametrize("code", [c for c, v in QUIET.items() if v is not None])
def test_stays_quiet(code):
    assert list(all_rules()[code].check(QUIET[code])) == []


@pytest.mark.parametrize("code", [c for c in FIRES if c in QUIET and c.startswith("RP10") and c != "RP108"])
def test_a_fault_of_another_kind_is_another_rules(code):
    """A missing tail is no missing head; every TextCheck fires one rule of the hundred."""
    value = FIRES[code][0]
    if not isinstance(value, TextCheck):
        return
    fired = [r.code for r in all_rules().values() if r.noun is TextCheck and list(r.check(value))]
    assert fired == [code]


@pytest.mark.parametrize(
    ("code", "severity", "fix"),
    [
        ("RP001", "error", "none"),
        ("RP101", "error", "safe"),
        ("RP102", "error", "safe"),
        ("RP103", "error", "safe"),
        ("RP104", "error", "safe"),
        ("RP105", "error", "unsafe"),
        ("RP106", "warning", "unsafe"),
        ("RP107", "warning", "unsafe"),
        ("RP108", "warning", "unsafe"),
        ("RP303", "warning", "none"),
    ],
)
def test_severity_and_fix(code, severity, fix):
    rule = all_rules()[code]
    assert (rule.severity, rule.fix) == (Severity(severity), FixAvailability(fix))


def test_the_missing_stretch_is_shown_with_its_evidence():
    (hit,) = all_rules()["RP101"].check(FIRES["RP101"][0])
    assert (hit.span.start_s, hit.span.end_s) == pytest.approx((2.5, 4.5))
    assert hit.evidence["missing_text"] == "dry wood from every forest"
    assert hit.evidence["coverage"] == pytest.approx(0.5)
    assert {"heard_words", "heard_probability", "uncovered_voice_s", "surplus_letters"} <= set(hit.evidence)


def test_one_word_is_a_word():
    check = hold(SAID + " incomprehensibly indeed")
    (hit,) = all_rules()["RP104"].check(check)
    assert "(2 words)" in hit.message
    assert hit.evidence["unspoken_text"] == "incomprehensibly indeed"


def test_a_long_missing_text_is_shortened_in_the_message_and_whole_in_the_evidence():
    said = " ".join(f"word{k}x" for k in range(60))
    (hit,) = all_rules()["RP101"].check(hold("", said))
    assert " ... " in hit.message
    assert len(hit.message) < 220
    assert hit.evidence["missing_text"] == said


def test_undecided_says_why_with_numbers():
    (hit,) = all_rules()["RP107"].check(FIRES["RP107"][0])
    assert hit.evidence["heard_text"] == SAID
    assert hit.evidence["uncovered_voice_s"] == pytest.approx(0.9)
    assert hit.evidence["forced_probability"] == pytest.approx(0.9)
    assert hit.evidence["error_rate"] == 0.0


def test_an_empty_text_is_no_missing_one():
    assert list(all_rules()["RP108"].check(Utterance(Path("a.wav"), ""))) == []


def test_any_error_that_stops_a_file_is_a_finding():
    (hit,) = all_rules()["RP001"].check(ConfigError("what", where="where", fix="fix"))
    assert (hit.message, hit.remedy) == ("what", "fix")


@pytest.mark.parametrize(
    ("speaker", "is_full"),
    [
        ("vctk/en/f/p225", True),
        ("vctk/en-GB/M/p225", True),
        ("a/b/u/c", True),
        ("a/b/x/c", True),
        ("2121", False),
        ("vctk/en/p225", False),
        ("vctk/en/female/p225", False),
        ("vctk//f/p225", False),
        ("/en/f/p225", False),
        ("vctk/en/f/ ", False),
        ("vctk/en/f/p225/more", False),
    ],
)
def test_speaker_ids(speaker, is_full):
    assert is_full_speaker_id(speaker) is is_full


def test_no_speaker_is_no_ambiguous_one():
    assert list(all_rules()["RP303"].check(Utterance(Path("a.wav")))) == []
