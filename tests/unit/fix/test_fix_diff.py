"""Corrections as diffs."""

from __future__ import annotations

from pathlib import Path

import pytest
from fix_kit import WORDS, World, fix, phrases
from hypothesis import given
from hypothesis import strategies as st

from refprep.fix.diff import broken_alike, correction_diff
from refprep.manifest import Utterance
from refprep.text.words import join_words

SAID = " ".join(WORDS)


def diff_of(tmp_path, text, *, source="", unsafe=False, **options) -> list[str]:
    world = World()
    path = world.add(tmp_path, "a.wav", phrases(SAID, **options), duration_s=9.0 if options else None)
    ran = fix(world, [Utterance(path, text, "en", source=source)], Path("fixed"), unsafe=unsafe, write=False)
    return [x.replace(str(tmp_path), "clips") for x in correction_diff(ran.corrections[0]).splitlines()]


def test_words_that_are_added_and_taken_out(tmp_path):
    assert diff_of(tmp_path, " ".join(WORDS[:7])) == [
        "--- clips/a.txt",
        "+++ fixed/a.txt",
        "@@ -1 +1,2 @@",
        " Before winter came they carried dry wood",
        "+from every forest",
    ]
    taken = diff_of(tmp_path, SAID + " thank you for listening", source="m.jsonl:3")
    assert taken[0] == "--- m.jsonl:3"
    assert taken[-1] == "-thank you for listening"


def test_a_text_that_was_not_there_and_another_text(tmp_path):
    assert diff_of(tmp_path, None, unsafe=True) == [
        "--- /dev/null",
        "+++ fixed/a.txt",
        "@@ -0,0 +1 @@",
        f"+{SAID}",
    ]
    other = diff_of(tmp_path, "Printing in the only sense every day with which we are concerned", unsafe=True)
    assert [x[0] for x in other[3:]] == ["-", "+"]


def test_what_is_cut_is_a_line(tmp_path):
    lines = diff_of(tmp_path, SAID, start_s=2.0)
    assert len(lines) == 1
    assert lines[0].startswith("clips/a.wav: 0.00-1.8")
    assert lines[0].endswith("-9.00 s are cut")


words = st.lists(st.sampled_from(["alpha", "be", "gamma-delta", "今", "天", "x" * 90]), max_size=60)


@given(words, words)
def test_broken_lines_hold_all_the_words(old, new):
    for words, lines in zip((old, new), broken_alike(old, new), strict=True):
        assert join_words(lines) == join_words(words)
        assert all(len(line) <= 90 for line in lines)


@pytest.mark.parametrize("text", ["", "a"])
def test_nothing_is_no_line(text):
    assert broken_alike([], text.split()) == ([], text.split())
