"""RP109, RP306, RP401 and RP405-409: one value that fires, one that stays quiet, for each rule."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.linter.profiles import PROFILES, ProfileCase, TextUse
from refprep.linter.registry import all_rules
from refprep.linter.rule import Severity
from refprep.types import ClipEdge, ClipEdges, ClipVoices, LanguageCase, Span, Word

ENGLISH = "It was the best of times and it was the worst of times"
SPANISH = "El más poderoso genio de la guerra es la conciencia nacional y la disciplina que lo sigue"
LANGUAGE = LanguageCase(ENGLISH, declared="en", heard="en", probability=0.98, speech_s=4.0)
VOICES = ClipVoices("ge2e", cosine=0.91, run=4, span=Span(6.1, 10.4), threshold=0.8)
QUIET_EDGE = ClipEdge(level_db=-41.0, above_noise_db=3.0, silence_s=0.3, word="It", word_probability=0.9)
CUT_EDGE = ClipEdge(level_db=-2.1, above_noise_db=38.0, silence_s=0.0, word="opini", word_probability=0.38)
EDGES = ClipEdges(QUIET_EDGE, QUIET_EDGE, duration_s=5.0)
WORDS = tuple(Word(w, Span(k * 1.2, k * 1.2 + 1.0), 0.9) for k, w in enumerate(ENGLISH.split()))


def case(
    engine: str, duration_s: float = 8.0, *, text: str | None = ENGLISH, rate_hz: int = 24_000
) -> ProfileCase:
    return ProfileCase(PROFILES[engine], duration_s, rate_hz, text, WORDS if text else ())


# code: (value that fires, words of the message, words of the remedy)
FIRES = {
    "RP109": (
        replace(LANGUAGE, text=SPANISH, declared=""),
        "the text is in Spanish (es), English (en) is heard (probability 0.98)",
        "language that is spoken",
    ),
    "RP306": (
        replace(VOICES, cosine=0.494),
        "two voices: from 6.10 to 10.40 s it sounds like somebody else: cosine 0.494, 0.800 needed (ge2e)",
        "one person speaks",
    ),
    "RP401": (
        replace(EDGES, end=CUT_EDGE),
        'it ends inside a word: the last 30 ms are within 2.1 dB of the speech (limit 10 dB), "opini" is heard there '
        "(probability 0.38)",
        "cut at the pause before it",
    ),
    "RP405": (
        case("gpt-sovits", 12.4),
        "gpt-sovits refuses audio over 10.0 s; this is 12.4 s",
        "refprep split",
    ),
    "RP406": (
        case("chatterbox", 14.2, text=None),
        "chatterbox keeps 0.00-10.00 s of 14.20 s, the conditioning 0.00-6.00 s",
        "at most 10 s",
    ),
    "RP407": (
        case("f5-tts", 15.4),
        'f5-tts keeps 0.00-12.00 s of 15.40 s and the whole text; beyond lie "worst of times" (3 words)',
        "the text with it",
    ),
    "RP408": (case("index-tts"), "index-tts does not read the text", "another engine"),
    "RP409": (case("fish-speech", 6.2), "fish-speech advises 10-30 s; this is 6.2 s", "refprep build"),
}
QUIET = {"RP109": LANGUAGE, "RP306": VOICES, "RP401": EDGES} | dict.fromkeys(
    ("RP405", "RP406", "RP407", "RP408", "RP409"), case("qwen3-tts")
)


def hits(code: str, value: object):
    return list(all_rules()[code].check(value))


@pytest.mark.parametrize("code", FIRES)
def test_fires(code):
    value, message, remedy = FIRES[code]
    assert isinstance(value, all_rules()[code].noun)
    (hit,) = hits(code, value)
    assert message in hit.message
    assert remedy in hit.remedy
    assert hit.evidence


@pytest.mark.parametrize("code", FIRES)
def test_stays_quiet(code):
    assert isinstance(QUIET[code], all_rules()[code].noun)
    assert hits(code, QUIET[code]) == []


@pytest.mark.parametrize("code", FIRES)
def test_one_fault_fires_one_rule(code):
    value = FIRES[code][0]
    assert [r.code for r in all_rules().values() if isinstance(value, r.noun) and list(r.check(value))] == [
        code
    ]


@pytest.mark.parametrize(
    ("code", "severity", "is_preview"),
    [
        ("RP109", "error", False), ("RP306", "error", True), ("RP401", "error", False), ("RP405", "error", False),
        ("RP406", "warning", False), ("RP407", "error", False), ("RP408", "info", False),
        ("RP409", "warning", False),
    ],
)  # fmt: skip
def test_severity(code, severity, is_preview):
    rule = all_rules()[code]
    assert (rule.severity, rule.is_preview) == (Severity(severity), is_preview)


# --------------------------------------------------------------------------- RP109


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": "Wo mingtian qu Beijing", "declared": "zh", "heard": "zh"},
         "in Latin letters, Chinese (zh) is not written in them"),
        ({"text": "Kyou wa ii tenki desu", "declared": "", "heard": "ja"}, "Japanese (ja) is not written in them"),
        ({"text": "Это лучшее из времён", "declared": "en", "heard": "ru"}, "in Cyrillic letters, English (en)"),
        ({"text": "Noch", "declared": "en", "heard": "de"}, "English (en) is stated, German (de) is heard"),
        ({"text": SPANISH, "declared": "en", "heard": "en"}, "the text is in Spanish (es), English (en) is heard"),
        ({"text": SPANISH, "declared": "en", "heard": "", "probability": 0.0},
         "the text is in Spanish (es), English (en) is stated"),
    ],
)  # fmt: skip
def test_a_language_or_script_that_does_not_fit_is_found_once(changes, message):
    (hit,) = hits("RP109", replace(LANGUAGE, **changes))
    assert message in hit.message


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "Noch", "declared": "sv", "heard": "da"},  # close ones
        {"text": "Noch", "declared": "en", "heard": "la", "probability": 0.49},  # not sure
        {"text": "Noch", "declared": "en", "heard": "de", "speech_s": 0.6},  # too short to tell
        {"text": "Noch", "declared": "en-GB"},
        {"text": "我用 iPhone 打电话", "declared": "zh", "heard": "zh"},
        {"text": "OK", "declared": "ja", "heard": "ja"},
        {"text": "", "declared": "zh", "heard": "zh"},
        {"text": "Dobar dan svima", "declared": "sr", "heard": "hr"},
        {"text": "Wo mingtian qu Beijing", "declared": "zh-Latn", "heard": "zh"},
    ],
)
def test_what_may_be_right_is_let_pass(changes):
    assert hits("RP109", replace(LANGUAGE, **changes)) == []


# --------------------------------------------------------------------------- RP306


def test_the_limit_itself_is_one_voice():
    assert hits("RP306", replace(VOICES, cosine=0.8)) == []
    assert len(hits("RP306", replace(VOICES, cosine=0.7999))) == 1


@pytest.mark.parametrize("changes", [{"threshold": None}, {"span": None, "cosine": None}])
def test_without_a_parting_or_a_threshold_there_is_no_opinion(changes):
    assert hits("RP306", replace(VOICES, **({"cosine": 0.1} | changes))) == []


# --------------------------------------------------------------------------- RP401


def test_each_cut_end_is_told_with_its_place():
    start, end = hits("RP401", replace(EDGES, start=CUT_EDGE, end=CUT_EDGE))
    assert (start.span, end.span) == (Span(0.0, 0.03), Span(4.97, 5.0))
    assert "it starts inside a word: the first 30 ms" in start.message
    assert "at the pause after it" in start.remedy


def test_a_cut_needs_no_word_and_no_noise():
    edge = replace(CUT_EDGE, word="", word_probability=None, above_noise_db=math.inf, level_db=1.5)
    (hit,) = hits("RP401", replace(EDGES, end=edge))
    assert hit.message == "it ends inside a word: the last 30 ms are louder than the speech (limit 10 dB)"
    assert hit.evidence["above_noise_db"] is None


@pytest.mark.parametrize("changes", [{"level_db": -10.01}, {"above_noise_db": 9.9}, {"silence_s": 0.11}])
def test_quiet_noisy_or_silent_edges_are_no_cuts(changes):
    assert hits("RP401", replace(EDGES, end=replace(CUT_EDGE, **changes))) == []


# --------------------------------------------------------------------------- RP405-409


def fired(value: ProfileCase) -> set[str]:
    return {r.code for r in all_rules().values() if r.noun is ProfileCase and list(r.check(value))}


@pytest.mark.parametrize(
    ("engine", "duration_s", "text", "codes"),
    [
        ("qwen3-tts", 500.0, ENGLISH, set()), ("qwen3-tts", 5.0, None, {"RP405"}), ("qwen3-tts", 5.0, " ", {"RP405"}),
        ("moss-tts", 40.0, None, set()), ("moss-tts", 40.0, ENGLISH, set()),
        ("f5-tts", 12.0, ENGLISH, set()), ("f5-tts", 12.04, ENGLISH, set()), ("f5-tts", 13.0, ENGLISH, {"RP407"}),
        ("f5-tts", 13.0, None, {"RP405", "RP406"}),
        ("gpt-sovits", 2.9, ENGLISH, {"RP405"}), ("gpt-sovits", 3.0, None, set()), ("gpt-sovits", 10.0, None, set()),
        ("cosyvoice", 30.0, ENGLISH, set()), ("cosyvoice", 30.1, ENGLISH, {"RP405"}),
        ("index-tts", 15.0, None, set()), ("index-tts", 16.0, ENGLISH, {"RP406", "RP408"}),
        ("chatterbox", 3.0, None, set()), ("chatterbox-turbo", 5.0, None, {"RP405"}),
        ("chatterbox-turbo", 5.1, None, set()), ("chatterbox-turbo", 15.2, None, {"RP406"}),
        ("xtts", 13.0, None, {"RP406"}), ("xtts", 13.0, ENGLISH, {"RP406", "RP408"}),
        ("fish-speech", 9.9, ENGLISH, {"RP409"}), ("fish-speech", 30.0, ENGLISH, set()),
        ("omnivoice", 20.1, ENGLISH, {"RP405"}), ("omnivoice", 20.1, None, set()), ("mlx-audio", 99.0, None, set()),
    ],
)  # fmt: skip
def test_what_each_engine_takes(engine, duration_s, text, codes):
    assert fired(case(engine, duration_s, text=text)) == codes


def test_cosyvoice_warns_of_a_low_rate():
    assert fired(case("cosyvoice", rate_hz=8_000)) == {"RP409"}
    assert fired(case("cosyvoice", rate_hz=16_000)) == set()


def test_without_an_alignment_the_cut_is_told_without_words():
    (hit,) = hits("RP407", replace(case("f5-tts", 15.4), words=()))
    assert hit.message == "f5-tts keeps 0.00-12.00 s of 15.40 s and the whole text"
    assert hit.span == Span(12.0, 15.4)


@settings(deadline=None)
@given(st.sampled_from(sorted(PROFILES)), st.floats(0.1, 100.0), st.sampled_from([None, "", ENGLISH]))
def test_a_clip_that_is_cut_is_told_of_by_one_rule(engine, duration_s, text):
    value = case(engine, duration_s, text=text)
    assert len(fired(value) & {"RP406", "RP407"}) == (value.lost_s >= 0.05)
    assert ("RP408" in fired(value)) == (value.has_text and value.profile.text is TextUse.IGNORED)
