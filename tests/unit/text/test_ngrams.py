"""What is counted as variety, in scripts with spaces and without."""

from __future__ import annotations

import pytest

from refprep.text.ngrams import text_ngrams


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("...", set()),
        ("Aha!", {" a", "ah", "ha", "a "}),
        ("A b", {" a", "a ", " b", "b "}),
        ("Été", {" e", "et", "te", "e "}),
        ("你好，你。", {"你", "好"}),
        ("ねこ OK", {"ね", "こ", " o", "ok", "k "}),
    ],
)
def test_units(text, expected):
    assert text_ngrams(text) == expected


def test_case_and_punctuation_add_nothing():
    assert text_ngrams("It was, it WAS!") == text_ngrams("it was")
