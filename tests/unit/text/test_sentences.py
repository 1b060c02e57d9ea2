"""Sentences end where a reader stops, not at every point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.text.sentences import split_clauses, split_sentences


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        ("One. Two! Three?", "en", ["One.", "Two!", "Three?"]),
        ("Mr. Smith went to Dr. Jones. He was late.", "en", ["Mr. Smith went to Dr. Jones.", "He was late."]),
        ("It costs 3.50 dollars. Cheap.", "en", ["It costs 3.50 dollars.", "Cheap."]),
        ("J. R. Hartley wrote it. Really.", "en", ["J. R. Hartley wrote it.", "Really."]),
        ("That was I. Then he left.", "en", ["That was I.", "Then he left."]),
        ("Am 3. Mai kam er. Dann ging er.", "de", ["Am 3. Mai kam er.", "Dann ging er."]),
        ("He said “Go.” She went.", "en", ["He said “Go.”", "She went."]),
        ("Wait... and then it came.", "en", ["Wait... and then it came."]),
        ("你好。世界！再见？", "zh", ["你好。", "世界！", "再见？"]),
        ("A title\n\nA paragraph. And more.", "en", ["A title", "A paragraph.", "And more."]),
        ("no end at all", "", ["no end at all"]),
        ("   ", "en", []),
    ],
)
def test_sentences(text, language, sentences):
    assert split_sentences(text, language) == sentences


def test_clauses():
    assert split_clauses("When he came, she left; why – nobody knows: 3,5 it was.") == [
        "When he came,",
        "she left;",
        "why –",
        "nobody knows:",
        "3,5 it was.",
    ]


@given(
    st.text(alphabet=st.sampled_from('aB .,!?\n。；"1'), max_size=80), st.sampled_from(["", "en", "de", "zh"])
)
def test_nothing_but_space_is_lost(text, language):
    joined = "".join("".join(split_sentences(text, language)).split())
    assert joined == "".join(text.split())
    for sentence in split_sentences(text, language):
        assert "".join("".join(split_clauses(sentence)).split()) == "".join(sentence.split())
