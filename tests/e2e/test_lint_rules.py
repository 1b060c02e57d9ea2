"""`refprep lint` on what an engine does, on cuts, on voices and on languages: real speech through whole processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from process import Done, refprep

from refprep.pipeline.decode import decode_file

pytestmark = [pytest.mark.weights, pytest.mark.speech]


def findings(done: Done) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(done.out)["files"][0]["findings"]
    return found


@pytest.fixture(scope="module")
def long_clip(
    pieces: Path, rows: list[dict[str, object]], two_cities: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The reading's first 14-30 s, cut at a pause, with its text beside it."""
    whole = decode_file(two_cities / "two_cities.wav")
    start_s = float(str(rows[0]["start_s"]))
    ends = [float(str(r["start_s"])) + float(str(r["duration_s"])) for r in rows]
    last = next(k for k, end_s in enumerate(ends) if end_s - start_s > 14.0)
    path = tmp_path_factory.mktemp("long") / "long.wav"
    rate_hz = whole.sample_rate_hz
    soundfile.write(path, whole.samples[round(start_s * rate_hz) : round(ends[last] * rate_hz)], rate_hz)
    path.with_suffix(".txt").write_text(" ".join(str(r["text"]) for r in rows[: last + 1]), encoding="utf-8")
    return path


def test_an_engine_that_cuts_audio_and_keeps_text_is_told_with_the_words(long_clip: Path) -> None:
    done = refprep("lint", long_clip, "--profile", "f5-tts", "--select", "RP1,RP4", "--format", "json")
    assert done.code == 1, done.err
    (finding,) = findings(done)
    assert (finding["code"], finding["start_s"]) == ("RP407", 12.0)
    lost = finding["evidence"]["lost_words"]
    assert lost
    assert long_clip.with_suffix(".txt").read_text(encoding="utf-8").endswith(lost)
    assert "f5-tts keeps 0.00-12.00 s" in finding["message"]


def test_an_engine_of_the_settings_is_asked_without_any_model(long_clip: Path, tmp_path: Path) -> None:
    (tmp_path / "refprep.toml").write_text('[lint]\nprofile = "gpt-sovits, index-tts"\nselect = ["RP4"]\n')
    done = refprep(
        "lint", long_clip, "--format", "json", cwd=tmp_path, env={"REFPREP_CACHE": str(tmp_path / "empty")}
    )
    codes = {f["code"] for f in findings(done)}
    assert done.code == 1
    assert {"RP405", "RP408"} <= codes <= {"RP405", "RP406", "RP408"}


def test_an_unknown_engine_is_one_clear_error(two_cities: Path) -> None:
    done = refprep("lint", two_cities / "beckett.wav", "--profile", "tortoise")
    assert (done.code, done.out) == (2, "")
    assert "'tortoise' is no engine profile" in done.err
    assert "f5-tts" in done.err


def test_a_scene_of_two_people_is_found_by_its_code(two_cities: Path, ge2e_folder: Path) -> None:
    del ge2e_folder
    done = refprep("lint", two_cities / "endgame_nagg_nell.wav", "--select", "RP306", "--format", "json")
    assert done.code == 1, done.err
    (finding,) = findings(done)
    assert (finding["code"], finding["severity"]) == ("RP306", "error")
    assert finding["end_s"] - finding["start_s"] > 2.0


def test_a_clip_that_is_cut_in_a_vowel_is_told_at_its_end(two_cities: Path, tmp_path: Path) -> None:
    clip = decode_file(two_cities / "beckett.wav")
    step = clip.sample_rate_hz // 20
    starts = range(clip.num_samples // 3, clip.num_samples * 2 // 3, step)
    loudest = max(starts, key=lambda s: float(np.sum(clip.samples[s : s + step] ** 2)))
    soundfile.write(tmp_path / "cut.wav", clip.samples[: loudest + step // 2], clip.sample_rate_hz)
    done = refprep("lint", tmp_path / "cut.wav", "--select", "RP401", "--format", "json")
    (finding,) = findings(done)
    assert done.code == 1
    assert "it ends inside a word" in finding["message"]
    whole = refprep("lint", two_cities / "beckett.wav", "--select", "RP401", "--format", "json")
    assert (whole.code, findings(whole)) == (0, [])


def test_a_wrong_language_is_told(pieces: Path, rows: list[dict[str, object]]) -> None:
    audio = pieces / str(max(rows, key=lambda r: float(str(r["duration_s"])))["audio"])
    done = refprep("lint", audio, "--language", "de", "--select", "RP109", "--format", "json")
    (finding,) = findings(done)
    assert done.code == 1
    assert "English (en) is heard" in finding["message"]
    assert finding["evidence"]["declared"] == "de"
