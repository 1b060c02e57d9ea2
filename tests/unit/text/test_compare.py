from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.text.compare import Comparison, compare, equal_cuts
from refprep.text.words import split_words

WORDS = st.lists(
    st.sampled_from("the quick brown fox jumps over lazy dogs while rain falls softly".split()), max_size=14
)


def laid(given_text: str, heard_text: str, language: str = "en") -> Comparison:
    return compare(split_words(given_text), split_words(heard_text), language)


@pytest.mark.parametrize(
    ("given_text", "heard_text", "language"),
    [
        ("31415926", "3 1 4 1 5 9 2 6", "en"),
        ("31415926", "31,415,926", "en"),
        ("three one four", "314", "en"),
        ("in 1984 he", "in nineteen eighty-four he", "en"),
        ("in nineteen eighty-four he", "In 1984, he", "en"),
        ("about 2005", "about two thousand and five", "en"),
        ("richard the third's ghosts", "Richard III's ghosts", "en"),
        ("Mr. Hale isn't here", "mister hale is not here", "en"),
        ("PRINTING IN THE", "Printing, in the", "en"),
        ("uh I think", "I think, um", "en"),
        ("en två tre", "en 2 3", "sv"),
        ("dan 56 meter", "dan zesenvijftig meter", "nl"),
    ],
)
def test_the_same_speech_has_no_difference(given_text: str, heard_text: str, language: str) -> None:
    result = laid(given_text, heard_text, language)
    assert not result.missing
    assert not result.extra


def test_simplified_and_traditional_characters_are_one_sound() -> None:
    pytest.importorskip("pypinyin")
    result = laid("我在这一个讲堂中", "我在這一個講堂中", "zh")
    assert result.distance == 0


def test_a_missing_tail_is_one_stretch_though_words_repeat() -> None:
    result = laid("marks of the body", "marks of the body and the condition of the lips and the mouth")
    (missing,) = result.missing
    assert missing.given == (4, 4)
    assert missing.heard == (4, 13)


def test_a_missing_head_lies_at_the_head_though_its_first_word_repeats() -> None:
    result = laid("he saw the rain", "he went out and he saw the rain")
    (missing,) = result.missing
    assert missing.heard == (0, 4)


def test_a_missing_repeated_digit_is_a_tail() -> None:
    (missing,) = laid("seven", "7 0 7").missing
    assert missing.heard == (1, 3)


def test_a_misheard_name_is_no_missing_word() -> None:
    result = laid("il conte Bradamano ha", "il conte Brada Manu ha", "it")
    assert not result.missing
    assert not result.extra
    assert result.differences


def test_part_of_one_heard_word_can_be_missing() -> None:
    (missing,) = laid("nine zero two", "9-0-21-0").missing
    assert missing.heard_only == ("one", "zero") or "zero" in missing.heard_only


def test_extra_words_are_counted_in_letters() -> None:
    (extra,) = laid("to buy before the rain came down", "to buy").extra
    assert extra.given == (2, 7)
    assert extra.surplus_letters == -len("beforetheraincamedown")


def test_empty_texts() -> None:
    assert laid("", "").letter_similarity == 1.0
    assert laid("", "a word").letter_similarity == 0.0
    assert laid("a word", "").missing == ()


@given(WORDS)
def test_a_text_equals_itself(words: list[str]) -> None:
    result = compare(words, words, "en")
    assert result.distance == 0
    assert result.letter_similarity == 1.0
    assert result.pairs == tuple((k, k) for k in range(len(words)))


@given(WORDS, st.integers(0, 14))
def test_a_cut_tail_is_found_whole(words: list[str], keep: int) -> None:
    kept = words[:keep]
    result = compare(kept, words, "en")
    lacking = sum(len(w) for w in words[len(kept) :])
    assert sum(d.surplus_letters for d in result.missing) == (lacking if lacking >= 3 else 0)
    assert not result.extra


@given(WORDS, WORDS)
def test_ranges_stay_inside_and_ordered(one: list[str], other: list[str]) -> None:
    result = compare(one, other, "en")
    for d in (*result.missing, *result.extra, *result.differences):
        assert 0 <= d.given[0] <= d.given[1] <= len(one)
        assert 0 <= d.heard[0] <= d.heard[1] <= len(other)
    starts = [(d.given[0], d.heard[0]) for d in result.differences]
    assert starts == sorted(starts)
    assert 0.0 <= result.letter_similarity <= 1.0


@pytest.mark.parametrize(
    ("text", "cut", "expected"),
    [
        ("a b a b c", (0, 2), [(0, 2), (1, 3), (2, 4)]),
        ("a b a b c", (2, 4), [(0, 2), (1, 3), (2, 4)]),
        ("a b c", (1, 2), [(1, 2)]),
        ("A a, a! b", (1, 2), [(0, 1), (1, 2), (2, 3)]),
        ("a b", (0, 2), [(0, 2)]),
        ("a b", (1, 1), [(1, 1)]),
    ],
)
def test_of_words_written_twice_either_copy_may_be_the_one_too_many(text, cut, expected):
    assert equal_cuts(text.split(), *cut) == expected


@given(st.lists(st.sampled_from("ab"), max_size=12), st.data())
def test_equal_cuts_leave_the_same_text(words, data):
    first = data.draw(st.integers(0, len(words)))
    last = data.draw(st.integers(first, len(words)))
    cuts = equal_cuts(words, first, last)
    assert (first, last) in cuts
    assert len({tuple(words[:a] + words[b:]) for a, b in cuts}) == 1
