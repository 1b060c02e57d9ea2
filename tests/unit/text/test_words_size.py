"""A megabyte of anything is cut into words in a moment: the work grows with the text, not with its square."""

from __future__ import annotations

import time

import pytest

from refprep.text.words import split_words


@pytest.mark.parametrize("text", ["x" * 1_000_000, "(" * 1_000_000, "今" + "(" * 300_000, "今" * 300_000])
def test_a_megabyte_without_a_space_is_cut_in_a_moment(text):
    start = time.process_time()
    split_words(text)
    assert time.process_time() - start < 10.0
