from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.text.words import join_texts, join_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Printing, in the only", ["Printing,", "in", "the", "only"]),
        ("我在讲堂中，便。", ["我", "在", "讲", "堂", "中，", "便。"]),
        ("「今日は」", ["「今", "日", "は」"]),
        ("コーヒー", ["コー", "ヒー"]),
        ('"forty-two line"', ['"forty-two', 'line"']),
        ("- a b -", ["-a", "b-"]),
        ("使うPython3を", ["使", "う", "Python3", "を"]),
        ("...", []),
        ("", []),
        (" \t\n", []),
    ],
)
def test_splits_where_people_see_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.text(max_size=60))
def test_splitting_keeps_every_letter(text: str) -> None:
    words = split_words(text)
    if words:
        assert "".join(words) == "".join(text.split())
        assert all(any(ch.isalnum() for ch in w) for w in words)
    else:
        assert not any(ch.isalnum() for ch in text)


@given(
    st.lists(
        st.text(alphabet="abcdeé'-", min_size=1, max_size=6).filter(lambda w: any(c.isalnum() for c in w)),
        max_size=8,
    )
)
def test_joined_words_split_again(words: list[str]) -> None:
    assert split_words(join_words(words)) == words


def test_no_space_between_characters_that_have_none() -> None:
    assert join_words(["我", "在。", "讲"]) == "我在。讲"
    assert join_texts(["今日は。", "明日は。"]) == "今日は。明日は。"
    assert join_texts(["One two.", " three  four "]) == "One two. three four"
