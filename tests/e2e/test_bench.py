"""`refprep bench lint` on a labelled set made of real speech."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from process import refprep

pytestmark = [pytest.mark.weights, pytest.mark.speech]


@pytest.fixture(scope="module")
def cases(pieces: Path, rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three clips, each with its text and without the last two words of it."""
    file = tmp_path_factory.mktemp("bench") / "cases.csv"
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["path", "language", "kind", "expect", "ref_text", "spoken_text", "words_missing"])
        for row in rows[:3]:
            path, text = str(pieces / str(row["audio"])), str(row["text"])
            cut = " ".join(text.split()[:-2])
            writer.writerow([path, "en", "full", "pass", text, text, 0])
            writer.writerow([path, "en", "tail_missing_2", "fail", cut, text, 2])
    return file


def test_what_is_found_and_where_it_starts(cases: Path) -> None:
    done = refprep("bench", "lint", "--cases", cases, "--format", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert (result["recall_missing"], result["false_alarms"], result["passes"]) == (1.0, 0, 3)
    assert result["suggested_text_wer"] <= 0.05
    assert result["models"]["transcriber"] == "whisper-base"
    assert result["span_starts"]["found"] == result["span_starts"]["of"] >= 1
    assert result["span_start_error_ms_p95"] <= 250
    assert result["realtime_factor"] > 0


def test_speed_is_told_as_ratios_of_one_run(cases: Path) -> None:
    done = refprep("bench", "lint", "--cases", cases, "--speed", "--clips", "2")
    assert done.code == 0, done.err
    assert done.out.startswith("2 clips, ")
    assert "x real time" in done.out
    told = refprep("bench", "lint", "--cases", cases, "--speed", "--clips", "1", "--format", "json")
    result = json.loads(told.out)
    assert result["clips"] == 1
    assert {"lint_over_plain", "signal_times_realtime", "first_over_again", "models"} <= set(result)
