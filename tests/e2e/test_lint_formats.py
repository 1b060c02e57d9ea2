"""Every format of `refprep lint`, and its label files, from one real clip."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import soundfile
from process import refprep

pytestmark = [pytest.mark.weights, pytest.mark.speech]

# What reads a format, and gives back the codes it found in it.
READERS: dict[str, Callable[[str], list[str]]] = {
    "text": lambda out: [line.split()[1] for line in out.splitlines() if not line.startswith(" ")],
    "json": lambda out: [f["code"] for f in json.loads(out)["files"][0]["findings"]],
    "jsonl": lambda out: [f["code"] for f in json.loads(out)["findings"]],
    "csv": lambda out: [row["code"] for row in csv.DictReader(io.StringIO(out))],
    "junit": lambda out: [str(f.get("type")) for f in ElementTree.fromstring(out).iter("failure")],
    "sarif": lambda out: [r["ruleId"] for r in json.loads(out)["runs"][0]["results"]],
    "github": lambda out: [line.partition("title=")[2].split()[0] for line in out.splitlines()],
}


@pytest.fixture(scope="module")
def manifest(pieces: Path, rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The longest clip, its text without the last third."""
    row = max(rows, key=lambda r: float(str(r["duration_s"])))
    words = str(row["text"]).split()
    file = tmp_path_factory.mktemp("cut") / "cut.jsonl"
    kept = " ".join(words[: len(words) * 2 // 3])
    file.write_text(json.dumps({"audio": str(pieces / str(row["audio"])), "text": kept}), encoding="utf-8")
    return file


@pytest.mark.parametrize("name", READERS)
def test_every_format_tells_the_same_finding(name: str, manifest: Path) -> None:
    done = refprep("lint", manifest, "--select", "RP101", "--format", name)
    assert done.code == 1, done.err
    assert READERS[name](done.out) == ["RP101"]


@pytest.mark.parametrize("name", READERS)
def test_a_file_holds_what_stdout_would_show_whatever_the_clip_is_called(name: str, tmp_path: Path) -> None:
    clip = Path(os.fsdecode(b"no\xff utf-8.wav"))
    (tmp_path / clip).write_bytes(b"no audio")
    shown = refprep("lint", clip, "--format", name, cwd=tmp_path)
    assert shown.code == 1, shown.err
    assert shown.out
    target = tmp_path / "new" / "report"
    written = refprep("lint", clip, "--format", name, "-o", target, "--fail-on", "never", "-q", cwd=tmp_path)
    assert (written.code, written.out, written.err) == (0, "", "")
    assert target.read_text(encoding="utf-8") == shown.out


def test_clips_of_one_name_have_labels_of_their_own(tmp_path: Path) -> None:
    for folder in "ab":
        (tmp_path / folder).mkdir()
        soundfile.write(tmp_path / folder / "x.wav", np.zeros(24000), 24000)
    refprep("lint", tmp_path, "--select", "RP2", "--labels", tmp_path / "labels")
    names = sorted(p.name for p in (tmp_path / "labels").iterdir())
    assert names == ["x-2.TextGrid", "x-2.labels.txt", "x.TextGrid", "x.labels.txt"]


def test_labels_are_written_beside_any_format(manifest: Path, tmp_path: Path) -> None:
    done = refprep(
        "lint", manifest, "--select", "RP101", "--format", "jsonl", "--labels", tmp_path / "labels"
    )
    assert done.code == 1
    row = json.loads(manifest.read_text(encoding="utf-8"))
    stem = Path(row["audio"]).stem
    assert sorted(p.name for p in (tmp_path / "labels").iterdir()) == [f"{stem}.TextGrid", f"{stem}.labels.txt"]  # fmt: skip
    lines = (tmp_path / "labels" / f"{stem}.labels.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t")[2] for line in lines]
    assert [t for t in texts if not t.startswith("RP101")] == row["text"].split()
    grid = (tmp_path / "labels" / f"{stem}.TextGrid").read_text(encoding="utf-8")
    assert all(f'name = "{tier}"' in grid for tier in ("words", "speech", "findings"))
    assert "RP101 error" in grid


@pytest.mark.parametrize(
    ("option", "target", "message"),
    [
        ("-o", "cut.jsonl", "being checked"),
        ("-o", ".", "this is a folder"),
        ("--labels", "cut.jsonl", "no folder"),
    ],
)
def test_a_target_that_cannot_be_meant_is_refused_at_once(
    option: str, target: str, message: str, manifest: Path
) -> None:
    before = manifest.read_bytes()
    done = refprep("lint", "cut.jsonl", option, target, cwd=manifest.parent)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert manifest.read_bytes() == before
