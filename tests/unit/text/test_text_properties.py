from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from num2words import num2words

from refprep.text import sounds
from refprep.text.compare import compare
from refprep.text.readings import japanese, neighbours, readings
from refprep.text.words import split_words

# The first reading of a language loads its words.
LOADING = settings(deadline=None)
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "zh", "ja", "nl", "sv", "ru", "ko", "xx", ""]
ALPHABETIC = st.sampled_from(["en", "de", "fr", "es", "it", "pt"])
WORDS = st.lists(
    st.sampled_from(
        "Café naïve Mr. it's forty-two 1984 $5 50% 10:30 U.S.A. May 3rd Zürich l'homme e-mail".split()
    ),
    min_size=1,
    max_size=8,
)
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def distance(one: str, other: str, language: str) -> int:
    return compare(split_words(one), split_words(other), language).distance


@LOADING
@given(WORDS, ALPHABETIC)
def test_punctuation_around_words_does_not_count(words: list[str], language: str) -> None:
    assert distance(" ".join(words), "“" + ", ".join(words) + "”!", language) == 0


@LOADING
@given(
    st.lists(st.sampled_from("café naïve über señor forty-two o'clock l'homme".split()), min_size=1),
    ALPHABETIC,
)
def test_case_does_not_count(words: list[str], language: str) -> None:
    text = " ".join(words)
    assert distance(text, text.upper(), language) == 0
    assert distance(text.title(), text, language) == 0


@LOADING
@given(WORDS, ALPHABETIC, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_unicode_forms_do_not_count(words: list[str], language: str, form: str) -> None:
    text = " ".join(words)
    assert distance(text, unicodedata.normalize(form, text), language) == 0  # type: ignore[arg-type]
    wide = " ".join(w.translate(FULL_WIDTH) for w in words if w.isascii())
    assert distance(" ".join(w for w in words if w.isascii()), wide, language) == 0


@pytest.mark.parametrize(
    "language", ["en", "de", "fr", "es", "it", "pt", "nl", "sv", "ru", "pl", "fi", "tr", "hu", "ko"]
)
@LOADING
@given(value=st.integers(0, 10**9))
def test_digits_equal_their_words(language: str, value: int) -> None:
    words = str(num2words(value, lang=language)).replace(",", "")
    assert distance(str(value), words, language) == 0
    assert distance(words, str(value), language) == 0


@LOADING
@given(st.integers(0, 10**15 - 1))
def test_chinese_and_japanese_numerals_equal_digits(value: int) -> None:
    for language in ("zh", "ja"):
        for reading in readings(str(value), language)[:2]:
            assert distance(str(value), "".join(reading), language) == 0


@LOADING
@given(
    st.integers(0, 99_999),
    st.integers(0, 99_999),
    st.sampled_from(["en", "de", "fr", "es", "it", "pt", "zh", "ja", "xx"]),
)
def test_two_numbers_are_never_one_text(one: int, other: int, language: str) -> None:
    words = "".join if language in ("zh", "ja") else " ".join
    said = words(readings(str(other), language)[0])
    assert (distance(str(one), said, language) == 0) == (one == other)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=12), st.sampled_from(LANGUAGES))
def test_no_word_reads_as_nothing(word: str, language: str) -> None:
    found = readings(word, language)
    assert found
    if any(ch.isalnum() for ch in word):
        assert all(found)
    assert all(token for reading in found for token in reading)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(LANGUAGES))
def test_comparing_is_even_handed_and_no_text_breaks_it(one: str, other: str, language: str) -> None:
    left, right = split_words(one), split_words(other)
    there, back = compare(left, right, language), compare(right, left, language)
    assert (there.distance == 0) == (back.distance == 0)
    assert compare(left, left, language).distance == 0
    for d in (*there.missing, *there.extra, *there.differences):
        assert 0 <= d.given[0] <= d.given[1] <= len(left)
        assert 0 <= d.heard[0] <= d.heard[1] <= len(right)


@pytest.mark.parametrize(
    "noise",
    ["\u200b", "\u202e", "\u00ad", "\ufeff", "\u200d", "😀", "\U0001f1e6", "\u0301", "\x07", "\ud7ff"],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_invisible_characters_and_emoji_do_not_hide_words(noise: str, language: str) -> None:
    assert distance(f"one{noise} two", "one two", language) == 0 or noise in "\u0301\ud7ff"
    assert distance(f"one {noise} two", "one three two", language) > 0
    assert distance(f"{noise} two", "one two", language) > 0
    assert distance(f"f{noise}our", "five", language) > 0


@LOADING
@given(
    st.text(alphabet=st.characters(categories=["Cc", "Cf", "So", "Mn"]), max_size=20),
    st.sampled_from(LANGUAGES),
)
def test_a_text_of_signs_alone_equals_no_words(text: str, language: str) -> None:
    assert distance(text, "seven words", language) > 0


@LOADING
@given(
    st.lists(
        st.sampled_from("on May 3 , $3.5 million 10 000 people No. 5 at 8:30 o'clock z. B.".split()),
        max_size=12,
    )
)
def test_units_lie_in_their_text_and_say_something(words: list[str]) -> None:
    for language in ("en", "de", "fr"):
        for unit in neighbours.units(words, language):
            assert 0 <= unit.first < unit.last <= len(words)
            assert unit.readings
            assert all(unit.readings)


@pytest.mark.parametrize(
    "word", ["1" * 5000, "1" * 5000 + ".5", "$" + "9" * 5000, "1-" * 300 + "1", "x" * 5000, "a." * 500]
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_words_without_end_are_read_by_letters_and_digits(word: str, language: str) -> None:
    assert all(readings(word, language))


def test_long_texts_are_laid_beside_each_other_in_pieces() -> None:
    words = "the quick brown fox jumps over 12 lazy dogs on May 3 while it's raining".split() * 30
    heard = [*words[:200], "unexpected", "visitors", "came", *words[200:]]
    result = compare(words, heard, "en")
    assert [d.heard for d in result.missing] == [(200, 203)]
    assert result.distance == 3


def test_long_texts_with_nothing_in_common() -> None:
    result = compare(["mumble"] * 1500, ["thick"] * 1500, "en")
    assert not result.pairs
    assert result.distance == 1500
    assert result.letter_similarity == 0.0


def test_a_missing_word_beside_a_date_is_not_swallowed() -> None:
    result = compare(split_words("on May 3 we left"), split_words("on the third of May 2005 we left"), "en")
    assert [d.heard for d in result.missing] == [(5, 6)]


def test_words_read_together_keep_their_range() -> None:
    result = compare(
        split_words("it cost $3.5 million"), split_words("it cost three point five million dollars now"), "en"
    )
    assert [d.given for d in result.missing] == [(4, 4)]
    assert {g for g, _ in result.pairs} == {0, 1, 2, 3}


def test_a_filler_is_one_of_its_language() -> None:
    extra = compare(split_words("er kommt um acht"), split_words("kommt acht"), "de").extra
    assert sum(-d.surplus_letters for d in extra) >= 0
    assert compare(["um"], ["ein"], "de").num_given_tokens == 1
    assert compare(split_words("uh well um"), ["well"], "en").letter_similarity == 1.0
    assert compare(split_words("um homem"), ["homem"], "pt").letter_similarity < 1.0


def test_without_sudachi_kana_and_characters_are_compared_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sudachipy", None)
    japanese.forget()
    try:
        assert distance("コーヒー", "こーひー", "ja") == 0
        assert distance("2005年", "二千五年", "ja") == 0
        assert distance("今日", "きょう", "ja") > 0
    finally:
        japanese.forget()


def test_without_pypinyin_characters_are_compared_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypinyin", None)
    sounds.forget()
    try:
        assert distance("2005年", "二零零五年", "zh") == 0
        assert distance("这个", "這個", "zh") > 0
    finally:
        sounds.forget()
