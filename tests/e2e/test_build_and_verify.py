"""`refprep build` and `verify` on real speech, with strangers among the clips."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from process import Done, refprep

from refprep.pipeline.decode import decode_file

pytestmark = [pytest.mark.weights, pytest.mark.speech]


@pytest.fixture(scope="module")
def clips(
    pieces: Path, two_cities: Path, ge2e_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The utterances, two strangers, a copy of one utterance, and one text that lost its end."""
    del ge2e_folder
    folder = tmp_path_factory.mktemp("built") / "clips of two cities"
    shutil.copytree(pieces, folder)
    (folder / "utterances.jsonl").unlink()
    for name in ("beckett.wav", "clone-test.wav"):
        shutil.copy(two_cities / name, folder / f"stranger_{name}")
    shutil.copy(folder / "two_cities_0002.wav", folder / "zz_copy.wav")
    text = folder / "two_cities_0003.txt"
    text.write_text(" ".join(text.read_text(encoding="utf-8").split()[:-2]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(clips: Path) -> tuple[Path, Done]:
    voice = clips.parent / "voice"
    return voice, refprep(
        "build", clips, "-o", voice, "--min", "16", "--speaker", "moonshine/en/m/two_cities"
    )


def test_builds_a_voice_and_names_who_was_refused(built: tuple[Path, Done]) -> None:
    voice, done = built
    assert done.code == 0, done.err
    assert {p.name for p in voice.iterdir()} == {
        "voice.json",
        "reference.wav",
        "reference.txt",
        "report.html",
    }
    document = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    assert 12.0 <= document["audio"]["duration_s"] <= 30.0
    refused = {Path(r["path"]).name: r["code"] for r in document["refused"]}
    assert refused["stranger_beckett.wav"] == "RP304"
    assert refused["stranger_clone-test.wav"] == "RP304"
    assert refused["zz_copy.wav"] == "RP403"
    assert refused["two_cities_0003.wav"] == "RP101"
    for name in ("stranger_beckett.wav", "stranger_clone-test.wav"):
        assert name in done.out
    assert document["joined_check"]["verdict"] == "pass"
    assert (voice / "reference.txt").read_text(encoding="utf-8").strip() == document["text"]


def test_joined_samples_are_the_source_samples(built: tuple[Path, Done]) -> None:
    voice, _ = built
    document = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    samples = decode_file(voice / "reference.wav").samples
    for row in document["clips"]:
        source = decode_file(voice / row["path"])
        assert np.array_equal(samples[row["start_sample"] : row["end_sample"]], source.samples)
    assert len(document["clips"]) >= 2


def test_verify_passes_then_names_the_clip_with_one_changed_byte(
    built: tuple[Path, Done], tmp_path: Path
) -> None:
    voice, _ = built
    assert refprep("verify", voice).code == 0
    copy = tmp_path / "voice"
    shutil.copytree(voice, copy)
    document = json.loads((copy / "voice.json").read_text(encoding="utf-8"))
    row = document["clips"][-1]
    audio = bytearray((copy / "reference.wav").read_bytes())
    data = audio.index(b"data") + 8
    audio[data + 2 * ((row["start_sample"] + row["end_sample"]) // 2)] ^= 1
    (copy / "reference.wav").write_bytes(audio)
    done = refprep("verify", copy)
    assert done.code == 1
    assert Path(row["path"]).name in done.out
    assert [
        line for line in done.out.splitlines() if Path(document["clips"][0]["path"]).name + ": its" in line
    ] == []


def test_verify_names_a_source_that_was_changed(
    clips: Path, built: tuple[Path, Done], tmp_path: Path
) -> None:
    voice, _ = built
    moved = tmp_path / "moved"
    shutil.copytree(clips.parent, moved)
    document = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    source = moved / "voice" / document["clips"][0]["path"]
    audio = bytearray(source.read_bytes())
    audio[-100] ^= 1
    source.write_bytes(audio)
    done = refprep("verify", moved / "voice", "--format", "json")
    problems = json.loads(done.out)["voices"][0]["problems"]
    assert done.code == 1
    assert [p["about"] for p in problems] == [document["clips"][0]["path"]]


def test_a_built_voice_lints_clean(built: tuple[Path, Done]) -> None:
    voice, _ = built
    assert refprep("lint", voice, "--select", "RP1").code == 0


def test_no_reference_says_why_for_every_clip(clips: Path, tmp_path: Path) -> None:
    done = refprep(
        "build", clips / "two_cities_0002.wav", clips / "stranger_beckett.wav", "-o", tmp_path / "voice"
    )
    assert done.code == 1
    # One clip of two seconds, one of somebody else who speaks longer: nobody can say which of them is meant.
    assert "which is meant is a guess" in done.err
    assert "--anchor" in done.err
    assert not (tmp_path / "voice").exists()


def test_a_folder_that_is_no_voice_is_not_overwritten(clips: Path) -> None:
    before = sorted(p.name for p in clips.iterdir())
    done = refprep("build", clips, "-o", clips)
    assert done.code == 2
    assert "no voice" in done.err
    assert sorted(p.name for p in clips.iterdir()) == before
