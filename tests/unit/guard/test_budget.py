"""Expected durations, and what they leave room for."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.guard.budget import ALLOWANCE_S, MARGIN, frame_budget, reference_pace

WORDS = st.lists(
    st.sampled_from("a reader walks slowly through every garden in 1984".split()), min_size=1, max_size=40
)


@given(words=WORDS, pace=st.floats(1.5, 8.0), margin=st.floats(1.0, 4.0))
def test_a_budget_grows_with_the_text_and_shrinks_with_the_pace(words, pace, margin):
    text = " ".join(words)
    budget = frame_budget(text, "en", pace_per_s=pace, margin=margin)
    assert budget.max_s == pytest.approx(margin * budget.expected_s + ALLOWANCE_S)
    assert budget.max_s - 1e-9 <= budget.max_frames / 12.5 < budget.max_s + 0.08 + 1e-9
    assert frame_budget(f"{text} again", "en", pace_per_s=pace).expected_s > budget.expected_s
    assert frame_budget(text, "en", pace_per_s=pace + 0.5).expected_s < budget.expected_s
    assert budget.is_measured


def test_a_number_counts_as_its_longest_reading():
    written, spoken = (
        frame_budget(t, "en").expected_s for t in ("1984", "one thousand nine hundred and eighty-four")
    )
    assert written >= 0.8 * spoken


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("你好，世界", "zh"),
        ("こんにちは", "ja"),
        ("안녕하세요", "ko"),
        ("привет, мир", "ru"),
        ("مرحبا بالعالم", "ar"),
        ("สวัสดี", "th"),
        ("!?", ""),
    ],
)
def test_every_script_has_a_budget(text, language):
    budget = frame_budget(text, language)
    assert 0 < budget.expected_s < 5
    assert not budget.is_measured


def test_the_pace_of_a_reference_is_kept_within_reason():
    assert reference_pace("word", 60.0, "en") == pytest.approx(1.2)
    assert reference_pace("a very long text indeed " * 20, 2.0, "en") == pytest.approx(8.0)
    assert reference_pace("", 3.0, "en") is None
    assert reference_pace("three short words", 0.0, "en") is None


@pytest.mark.speech
def test_no_labelled_clip_is_over_its_budget(speech_pack):
    """Every reader's clips, each predicted from each of the reader's other clips: slow readings among them."""
    readers = defaultdict(list)
    with (speech_pack / "manifest.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["transcript"] and row["kind"] == "original":
                readers[row["speaker_id"]].append(row)
    count = 0
    for rows in readers.values():
        for reference, target in itertools.permutations(rows, 2):
            pace = reference_pace(
                reference["transcript"], float(reference["duration_s"]), reference["language"]
            )
            budget = frame_budget(target["transcript"], target["language"], pace_per_s=pace)
            assert float(target["duration_s"]) <= budget.max_s, (reference["path"], target["path"])
            count += 1
    assert count > 700
    assert MARGIN == 2.0
