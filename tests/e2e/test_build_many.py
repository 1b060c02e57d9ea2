"""`refprep build --discover`, `--nested` and its other options as processes, and calls that do not fit together."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from process import clean, refprep

from refprep.pipeline.decode import decode_file

pytestmark = [pytest.mark.weights, pytest.mark.speech, pytest.mark.slow]


def test_a_pile_of_two_readers_is_parted(pieces: Path, two_cities: Path, tmp_path: Path) -> None:
    pile = tmp_path / "pile"
    shutil.copytree(pieces, pile)
    (pile / "utterances.jsonl").unlink()
    shutil.copy(two_cities / "beckett.wav", pile / "other.wav")
    done = clean(refprep("build", pile, "--discover", "-o", tmp_path / "voices", "--min", "12", "-q"), 0)
    assert done.out.startswith(f"{tmp_path / 'voices'}: 1 built")
    with (tmp_path / "voices" / "speakers.csv").open(encoding="utf-8", newline="") as file:
        rows = {Path(r["path"]).name: r for r in csv.DictReader(file)}
    assert rows["other.wav"]["speaker"] != "speaker-01"
    own = [r for name, r in rows.items() if name.startswith("two_cities")]
    long = [r for r in own if r["is_sure"] == "1" and r["speaker"] == "speaker-01"]
    assert len(long) >= 5
    document = json.loads((tmp_path / "voices" / "speaker-01" / "voice.json").read_text("utf-8"))
    assert all("two_cities" in c["path"] for c in document["clips"])


def test_nested_references_with_room_tone(pieces: Path, tmp_path: Path) -> None:
    voice = tmp_path / "voice"
    done = clean(
        refprep(
            "build", pieces, "-o", voice, "--min", "6", "--nested", "7,20", "--gap", "room-tone-80ms",
            "--consent", "public domain", "--require-consent",
        ),
        0,
    )  # fmt: skip
    assert "Proven optimal" in done.out
    short, long = decode_file(voice / "reference-7s.wav"), decode_file(voice / "reference.wav")
    assert np.array_equal(short.samples, long.samples[: short.num_samples])
    clean(refprep("verify", voice), 0)
    clean(refprep("lint", voice), 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--manifest", "m.jsonl", "a.wav"), "clips and a manifest of a corpus"),
        ((), "no clips"),
        (("a.wav", "--jobs", "2"), "are about many voices"),
        (("a.wav", "--resume"), "are about many voices"),
        (("a.wav", "--discover", "--speaker", "x"), "about one voice"),
        (("a.wav", "--discover", "--engine", "dask"), "no engine 'dask'"),
        (("a.wav", "--nested", "12,a"), "are no numbers"),
        (("a.wav", "--nested", "30,12"), "too close to each other"),
        (("a.wav", "--gap", "silence"), "is no policy"),
        (("a.wav", "--encoder", "ge2e,nobody"), "'nobody' is neither an id nor a folder"),
    ],
)
def test_options_that_do_not_fit(
    options: tuple[str, ...],
    words: str,
    two_cities: Path,
    ge2e_folder: Path,
    whisper_folder: Path,
    tmp_path: Path,
) -> None:
    del ge2e_folder, whisper_folder
    shutil.copy(two_cities / "beckett.wav", tmp_path / "a.wav")
    done = clean(refprep("build", "-o", "voice", *options, cwd=tmp_path), 2)
    assert words in done.err
    assert not (tmp_path / "voice").exists()


def test_a_folder_that_cannot_be_written(pieces: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    done = clean(refprep("build", pieces, "-o", blocked / "voice", "--min", "12"), 2, 3)
    assert "file" in done.err
    assert blocked.read_text() == "no folder"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_voice(pieces: Path, small_disk: Path, tmp_path: Path) -> None:
    voice = small_disk / "voice"
    voice.mkdir()
    (voice / "voice.json").write_text("{}", encoding="utf-8")
    done = clean(refprep("build", pieces, "-o", voice, "--min", "12", "-q"), 3)
    assert "No space left on device" in done.err
    assert "what was there before is untouched" in done.err
    assert sorted(str(p.relative_to(small_disk)) for p in small_disk.rglob("*")) == [
        "voice",
        "voice/voice.json",
    ]


def test_a_target_that_is_read_only(pieces: Path, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    done = clean(refprep("build", pieces, "-o", small_disk / "voice", "--min", "12", "-q"), 3)
    assert "Read-only file system" in done.err
    assert list(small_disk.iterdir()) == []
