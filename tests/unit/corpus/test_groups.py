"""Rows by speaker, and folder names that no two speakers share."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.corpus.groups import folder_names, group_rows
from refprep.errors import ManifestError, UsageError
from refprep.manifest import Utterance

ROWS = [
    Utterance(Path("a/1.wav"), "x", "en", "s1", "m:1", {"take": 1, "room": ""}),
    Utterance(Path("b/2.wav"), "y", "de", "s2", "m:2", {"take": 2, "room": "hall"}),
    Utterance(Path("a/3.wav"), "z", "en", "s1", "m:3", {"take": 1}),
]


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("speaker", {"s1": [0, 2], "s2": [1]}),
        ("language", {"en": [0, 2], "de": [1]}),
        ("folder", {"a": [0, 2], "b": [1]}),
        ("take", {"1": [0, 2], "2": [1]}),
    ],
)
def test_rows_are_grouped_in_order(key, groups):
    assert group_rows(ROWS, key) == {name: [ROWS[i] for i in rows] for name, rows in groups.items()}


def test_a_column_that_no_row_has():
    with pytest.raises(UsageError, match="no row has a 'mood'"):
        group_rows(ROWS, "mood")


def test_a_row_that_does_not_say_whose_it_is():
    with pytest.raises(ManifestError, match="the row has no 'room'") as error:
        group_rows(ROWS, "room")
    assert error.value.where == "m:1"


def test_names_are_readable():
    assert folder_names(["vctk/en/f/p225", "Jürgen 2", "..", "ledger.jsonl"]) == {
        "vctk/en/f/p225": "vctk_en_f_p225",
        "Jürgen 2": "Jürgen_2",
        "..": folder_names([".."])[".."],
        "ledger.jsonl": folder_names(["ledger.jsonl"])["ledger.jsonl"],
    }


@given(st.lists(st.text(max_size=120), unique=True, max_size=30))
def test_names_are_safe_and_differ(speakers):
    names = folder_names(speakers)
    assert list(names) == speakers
    found = list(names.values())
    assert len({n.casefold() for n in found}) == len(found)
    for name in found:
        assert 0 < len(name.encode("utf-8", "surrogatepass")) <= 400
        assert Path(name).name == name
        assert name not in (".", "..", "ledger.jsonl", "summary.csv", "speakers.csv")
        assert not set(name) & set('/\\:*?"<>|\0')
