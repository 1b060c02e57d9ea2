"""`refprep bench select` as a process."""

from __future__ import annotations

import json

import pytest
from process import refprep


def test_rows_as_json() -> None:
    done = refprep("bench", "select", "--clips", "12", "--rounds", "1", "--seed", "3", "--format", "json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["rows"]
    assert {row["kind"] for row in rows} >= {"realistic", "equal_scores", "duplicates"}
    assert all(row["proven"] == 1 and row["limit_s"] == 1.0 for row in rows)


def test_a_table_for_people() -> None:
    done = refprep("bench", "select", "--clips", "8", "--rounds", "1")
    assert done.code == 0, done.err
    assert "proven optimal" in done.out
    assert "two_clusters" in done.out


@pytest.mark.parametrize("clips", ["", "0", "12,", "many"])
def test_numbers_that_are_none(clips: str) -> None:
    done = refprep("bench", "select", "--clips", clips)
    assert (done.code, done.out) == (2, "")
    assert "--clips" in done.err
