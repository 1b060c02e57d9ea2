from __future__ import annotations

import pytest

from refprep.dsp.pace import counts_characters, speech_units


@pytest.mark.parametrize(
    ("text", "language", "units"),
    [
        ("The birch canoe slid on the smooth planks.", "en", 9),
        ("HE WALKED HOME", "en", 3),
        ("little table", "en", 4),
        ("I wanted it", "en", 4),
        ("Mr. Smith", "en", 2),
        ("Die Katze schläft", "de", 4),
        ("señor, ¿qué hora es?", "es", 6),
        ("Привет, мир", "ru", 3),
        ("Καλημέρα", "el", 4),
        ("今天天气很好。", "zh", 6),
        ("今日は、よい天気です。", "ja", 9),
        ("きょう", "ja", 2),
        ("안녕하세요", "ko", 5),
        ("AI は便利", "ja", 4),
        ("4 2", "en", 2),
    ],
)
def test_units(text, language, units):
    assert speech_units(text, language) == units


@pytest.mark.parametrize("text", ["", "...", "שלום", "สวัสดี"])
def test_not_guessed(text):
    assert speech_units(text, "xx") is None


def test_accents_count_once_however_they_are_written():
    assert speech_units("pe\u0301re", "fr") == speech_units("p\u00e9re", "fr")


def test_characters():
    assert counts_characters("zh-TW")
    assert not counts_characters("en-GB")
