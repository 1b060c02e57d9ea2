"""Scripts and languages of texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.text.language import (
    are_close,
    english_name,
    foreign_script,
    guess_language,
    language_code,
    language_name,
    script_of,
)


@pytest.mark.parametrize(
    ("character", "script"),
    [
        ("a", "Latin"), ("ß", "Latin"), ("\uff21", "Latin"), ("ж", "Cyrillic"), ("λ", "Greek"), ("中", "Han"),
        ("あ", "kana"), ("ア", "kana"), ("한", "Hangul"), ("ع", "Arabic"), ("ש", "Hebrew"), ("ก", "Thai"),
        ("ह", "Devanagari"), ("1", ""), (" ", ""), (".", ""), ("\u0301", ""), ("\U000e0041", ""),
    ],
)  # fmt: skip
def test_the_script_of_a_letter(character, script):
    assert script_of(character) == script


@pytest.mark.parametrize(
    ("text", "language", "script"),
    [
        ("wo men ming tian qu", "zh", "Latin"), ("konnichi wa minasan", "ja", "Latin"), ("annyeong haseyo", "ko", "Latin"),
        ("privet kak dela", "ru", "Latin"), ("kaliméra se ólous", "el", "Latin"), ("namaste doston", "hi", "Latin"),
        ("привет как дела", "en", "Cyrillic"), ("こんにちは", "zh", "kana"), ("我们明天去", "en", "Han"),
        ("我们明天去", "ja", ""), ("привет", "ru-RU", ""), ("privet kak dela", "ru-Latn", ""), ("zdravo svima", "sr", ""),
        ("Привет, iPhone!", "ru", ""), ("我用 WhatsApp 和 Telegram 聊天", "zh", ""), ("OK", "ja", ""), ("1984", "zh", ""),
        ("", "zh", ""), ("anything", "", ""), ("Привет", "xx", "Cyrillic"),
    ],
)  # fmt: skip
def test_a_script_that_a_language_is_not_written_in(text, language, script):
    assert foreign_script(text, language) == script


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("It was the best of times and it was the worst of times", "en"),
        ("Das ist nicht das Haus, in dem ich mit den anderen war", "de"),
        ("Il ne savait pas que la porte était fermée et que nous étions dans la rue", "fr"),
        ("El más poderoso genio de la guerra es la conciencia nacional y la disciplina", "es"),
        ("Non è una cosa che si può dire della gente che è con lui", "it"),
        ("Het was niet de eerste keer dat hij met zijn broer in de stad was", "nl"),
        ("Och det var inte så att hon inte hade sett honom från båten", "sv"),
        ("Nie wiem, czy to jest ten sam człowiek, który był tu przez cały dzień", "pl"),
        ("Nem tudom, hogy ez volt az a ház, és hogy már nem él itt", "hu"),
    ],
)
def test_common_words_tell_the_language(text, language):
    assert guess_language(text) == language


@pytest.mark.parametrize(
    "text", ["", "Hello", "Anna Karenina", "tell me what happened quoth zau al makan", "1 2 3 4"]
)
def test_too_little_tells_nothing(text):
    assert guess_language(text) == ""


@settings(deadline=None)
@given(st.text(), st.sampled_from(["", "en", "zh", "ru", "xx-YY"]))
def test_any_text_has_an_answer(text, language):
    assert isinstance(foreign_script(text, language), str)
    guessed = guess_language(text)
    assert guessed == guess_language(text.swapcase()) or not text.isascii()


@settings(deadline=None)
@given(st.text("abcdefghij ", min_size=1), st.integers(0, 3))
def test_latin_letters_fit_a_latin_language(text, which):
    assert foreign_script(text, ("en", "de", "vi", "sw")[which]) == ""


def test_close_languages():
    assert are_close("sv", "da")
    assert are_close("zh-CN", "yue")
    assert are_close("en-GB", "en")
    assert not are_close("en", "de")
    assert are_close("", "")


def test_names():
    assert language_name("sv-SE") == "Swedish (sv-SE)"
    assert language_name("xx") == "xx"


@pytest.mark.parametrize(
    ("written", "code", "name"),
    [
        ("German", "de", "German"),
        ("german", "de", "German"),
        ("de", "de", "German"),
        ("zh-TW", "zh-TW", "Chinese"),
        ("auto", "auto", "auto"),
        ("", "", ""),
    ],
)
def test_names_and_codes(written, code, name):
    assert language_code(written) == code
    assert english_name(code) == name
