"""The numbers and contractions of Whisper's English normaliser, as transformers has it, are equal texts here.

It is only asked, not used: importing it loads transformers, and its table of spellings comes with a model's weights.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from num2words import num2words

from refprep.text.compare import compare
from refprep.text.words import split_words


@functools.cache
def normaliser() -> Any:
    module = pytest.importorskip("transformers.models.whisper.english_normalizer")
    return module.EnglishTextNormalizer({})


def distance_to_normalised(text: str) -> int:
    return compare(split_words(text), split_words(normaliser()(text)), "en").distance


@settings(deadline=None)
@given(st.one_of(st.integers(0, 99), st.integers(0, 9_999), st.integers(0, 10**7)))
def test_number_words_equal_what_whisper_makes_of_them(value: int) -> None:
    assert distance_to_normalised(f"there are {num2words(value)} of them") == 0


@settings(deadline=None)
@given(st.integers(1100, 1999))
def test_years_equal_what_whisper_makes_of_them(value: int) -> None:
    assert distance_to_normalised(f"it was {num2words(value, to='year')} already") == 0


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Hale isn't here and he won't come",
        "I'm gonna go, I wanna see Dr. Smith's house",
        "we've been there; they'd gone",
        "let's go to St. Paul",
        "the twenty-first of May",
        "fifty percent of five dollars",
        "in the nineteen nineties",
    ],
)
def test_everyday_text_equals_what_whisper_makes_of_it(text: str) -> None:
    assert distance_to_normalised(text) == 0
