from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.text.normalise import fold
from refprep.text.readings import readings


@pytest.mark.parametrize(
    ("word", "language", "reading"),
    [
        ("1984", "en", "nineteen eighty four"),
        ("1984", "en", "one thousand nine hundred and eighty four"),
        ("2005", "en", "two thousand and five"),
        ("2005", "en", "two thousand five"),
        ("2005", "en", "twenty oh five"),
        ("2005", "en", "two zero zero five"),
        ("1990s", "en", "nineteen nineties"),
        ("3rd", "en", "third"),
        ("$5", "en", "five dollars"),
        ("50%", "en", "fifty percent"),
        ("1,455", "en", "one thousand four hundred fifty five"),
        ("3.5", "en", "three point five"),
        ("forty-two", "en", "forty two"),
        ("Mr.", "en", "mister"),
        ("won't", "en", "will not"),
        ("he's", "en", "he is"),
        ("III", "en", "the third"),
        ("BBC", "en", "b b c"),
        ("&", "en", "and"),
        ("56", "nl", "zesenvijftig"),
        ("1455", "de", "vierzehnhundertfunfundfunfzig"),
        ("Straße", "de", "strasse"),
        ("usw.", "de", "und so weiter"),
        ("sommità", "it", "sommita"),
        ("21", "fr", "vingt et un"),
        ("1455", "zh", "一 千 四 百 五 十 五"),
        ("12", "zh", "十 二"),
        ("105", "zh", "一 百 零 五"),
        ("10005", "zh", "一 万 零 五"),
        ("7", "xx", "7"),
    ],
)
def test_has_the_reading(word: str, language: str, reading: str) -> None:
    assert tuple(reading.split()) in readings(word, language)


def test_marks_stay_where_they_change_the_sound() -> None:
    assert fold("が") == "が" != fold("か")
    assert fold("É") == "e"


@given(
    st.text(max_size=12),
    st.sampled_from(["en", "de", "fr", "es", "it", "pt", "zh", "ja", "sv", "hu", "xx", ""]),
)
def test_any_word_has_a_reading_of_letters_and_digits(word: str, language: str) -> None:
    found = readings(word, language)
    assert found
    assert all(token and not token.isspace() for reading in found for token in reading)


@given(
    st.integers(0, 10**9), st.sampled_from(["en", "de", "fr", "es", "it", "pt", "nl", "sv", "hu", "ja", "zh"])
)
def test_numbers_are_read_without_digits(value: int, language: str) -> None:
    # Chinese beyond 10^8 is read digit by digit.
    assert all(not any(ch in "0123456789" for ch in token) for token in readings(str(value), language)[0])
