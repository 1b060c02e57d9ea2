"""`refprep encode` and `refprep cache` as processes: bit-equal codes, hits, damage, many writers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from build_kit import ordinary_scene
from codes_kit import flip
from engine_kit import tiny_checkpoint
from process import ROOT, clean, refprep
from safetensors.numpy import load_file


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    ordinary_scene(folder / "clips").build(folder / "voice")
    return folder


@pytest.fixture
def voice(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "scene")
    return tmp_path / "scene" / "voice"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"REFPREP_CACHE": str(tmp_path / "cache")}


def encoded(done_out: str) -> dict[str, object]:
    (row,) = json.loads(done_out)["voices"]
    return dict(row)


def test_encode_twice_verify_tamper_and_clean(voice: Path, env: dict[str, str], tmp_path: Path) -> None:
    model = tiny_checkpoint("base-0.6b")
    arguments = ("encode", voice, "--model", model, "--device", "cpu")
    first = encoded(clean(refprep(*arguments, "--format", "json", env=env), 0).out)
    assert (first["origin"], first["passed"], first["findings"]) == ("encoded", True, [])
    path = Path(str(first["path"]))
    before = path.read_bytes()
    assert "they were there" in clean(refprep(*arguments, env=env), 0).out
    shutil.rmtree(voice / "codes")
    assert "from the cache" in clean(refprep(*arguments, env=env), 0).out
    assert path.read_bytes() == before
    # Another machine's cache, another process: the same bits.
    shutil.rmtree(voice / "codes")
    again = encoded(
        clean(refprep(*arguments, "--format", "json", env={"REFPREP_CACHE": str(tmp_path / "b")}), 0).out
    )
    assert again["origin"] == "encoded"
    assert path.read_bytes() == before

    done = clean(refprep("verify", voice, env=env), 0)
    assert "codes whole: 1" in done.out
    flip(path, len(before) // 2)
    done = clean(refprep("verify", voice, env=env), 1)
    assert f"codes/{path.name}" in done.out
    done = clean(refprep("lint", voice, "--select", "RP5", env=env), 1)
    assert "RP508 error" in done.out

    done = clean(refprep("cache", "ls", "--format", "json", env=env), 0)
    (row,) = json.loads(done.out)["entries"]
    assert (row["whole"], row["key"]["audio_sha256"]) == (True, first["key"]["audio_sha256"])  # type: ignore[index]
    assert clean(refprep("cache", "verify", env=env), 0).out.strip() == "1 entry, 0 damaged"
    flip(Path(row["path"]), -1)
    assert "does not fit" in clean(refprep("cache", "verify", env=env), 1).out
    clean(refprep("cache", "gc", env=env), 0)
    assert not Path(row["path"]).exists()


def test_two_checkpoints_and_what_is_kept(voice: Path, env: dict[str, str]) -> None:
    for name in ("base-0.6b", "base-1.7b"):
        clean(refprep("encode", voice, "--model", tiny_checkpoint(name), "--device", "cpu", env=env), 0)
    widths = sorted(load_file(p)["speaker_embedding"].shape[0] for p in (voice / "codes").iterdir())
    assert widths == [24, 32]
    done = clean(refprep("cache", "gc", "--keep", voice.parent, "--format", "jsonl", env=env), 0)
    assert done.out == ""
    done = clean(refprep("encode", voice, "--model", tiny_checkpoint("custom-1.7b"), env=env), 2)
    assert "takes no recorded voice" in done.err
    done = clean(refprep("encode", voice, "--model", "qwen3-tts-1.7b-base", env=env), 3)
    assert "refprep models pull qwen3-tts-1.7b-base" in done.err


def test_processes_that_encode_at_once_leave_one_whole_entry(voice: Path, env: dict[str, str]) -> None:
    command = [
        sys.executable, "-m", "refprep", "encode", str(voice), "--model", str(tiny_checkpoint("base-0.6b")),
        "--device", "cpu",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **env}
    running = [
        subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(3)
    ]
    outputs = [p.communicate(timeout=120)[0].decode() for p in running]
    assert [p.returncode for p in running] == [0, 0, 0], outputs
    assert len(list((voice / "codes").iterdir())) == 1
    clean(refprep("verify", voice, env=env), 0)
    assert clean(refprep("cache", "verify", env=env), 0).out.strip() == "1 entry, 0 damaged"
