"""Engine profiles: names, and what an engine gets of a clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_rules_signal import REPORT
from test_rules_text import SAID, hold

from refprep.errors import UsageError
from refprep.linter.judge import Judge
from refprep.linter.profiles import PROFILES, find_profiles, profile_cases
from refprep.linter.registry import select_rules
from refprep.linter.speakers import SpeakerRoll
from refprep.manifest import Utterance


def test_the_names_are_these():
    assert set(PROFILES) == {
        "qwen3-tts", "moss-tts", "f5-tts", "gpt-sovits", "cosyvoice", "index-tts", "chatterbox",
        "chatterbox-turbo", "xtts", "fish-speech", "omnivoice", "mlx-audio",
    }  # fmt: skip
    assert all(name == profile.name for name, profile in PROFILES.items())


@pytest.mark.parametrize(
    ("names", "found"),
    [("", []), (" ", []), ("f5-tts", ["f5-tts"]), ("F5-TTS, xtts,f5-tts", ["f5-tts", "xtts"])],
)
def test_profiles_by_name(names, found):
    assert [p.name for p in find_profiles(names)] == found


@pytest.mark.parametrize("names", ["f5", "f5-tts,", "f5-tts xtts"])
def test_an_unknown_name_is_told_with_the_known_ones(names):
    with pytest.raises(UsageError, match="no engine profile") as caught:
        find_profiles(names)
    assert all(name in caught.value.fix for name in PROFILES)


def test_an_engine_gets_what_was_measured():
    check = hold(SAID)
    one, two = profile_cases(find_profiles("f5-tts,xtts"), SAID, [check, REPORT])
    assert (one.profile.name, two.profile.name) == ("f5-tts", "xtts")
    assert (one.duration_s, one.sample_rate_hz, one.text) == (12.0, 16_000, SAID)
    assert one.words == check.alignment.words
    assert profile_cases(find_profiles("f5-tts"), SAID, [check]) == ()
    assert profile_cases((), SAID, [check, REPORT]) == ()


def test_the_judge_asks_the_engines():
    utterance = Utterance(Path("clips/ana_03.wav"), SAID, "en")
    long = replace(REPORT, duration_s=15.0)
    for names, codes in (
        ("", []),
        ("f5-tts", ["RP407"]),
        ("f5-tts,index-tts,gpt-sovits", ["RP405", "RP408", "RP407"]),
    ):
        judge = Judge(select_rules(("RP4",)), SpeakerRoll([utterance]), profiles=find_profiles(names))
        found, _ = judge.judge(utterance, [long], None)
        assert [f.code for f in found] == codes
