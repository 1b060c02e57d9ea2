"""Heard words found again in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.scoring.match import Match, best_match, is_beginning, is_ending, letters

TEXT = "we drank tea and ate one lime then another lime".split()
WORDS = st.lists(
    st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=7), min_size=2, max_size=12, unique=True
)


@given(words=WORDS, data=st.data())
def test_every_stretch_of_a_text_is_found_where_it_is(words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    found = best_match(words[first:last], words, "en")
    assert found is not None
    assert found.similarity == 1.0
    assert letters(words[found.first : found.last], "en") == letters(words[first:last], "en")


@given(words=WORDS)
def test_a_text_begins_and_ends_with_itself(words):
    assert is_beginning(words, [*words, "more"], "en")
    assert is_ending(words, ["more", *words], "en")


def test_of_equals_the_last_is_taken():
    assert best_match(["lime"], TEXT, "en") == Match(9, 10, 1.0)


def test_numbers_and_case_do_not_part_words():
    assert best_match(["8", "Limes."], ["eight", "limes"], "en") == Match(0, 2, 1.0)


@pytest.mark.parametrize(
    ("heard", "text"),
    [([], TEXT), (["..."], TEXT), (["lime"], [])],
)
def test_nothing_matches_nothing(heard, text):
    assert best_match(heard, text, "en") is None


def test_characters_count_in_scripts_without_spaces():
    found = best_match(list("拍手"), list("我那同学们的拍手和喝采"), "zh")
    assert found == Match(6, 8, 1.0)
