"""A corpus from the command line: real speech, several processes, SIGKILL, and Ray with a worker killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process import ROOT, clean, refprep

pytestmark = [pytest.mark.weights, pytest.mark.speech, pytest.mark.slow]
OPTIONS = ("--min", "6", "--target", "6", "-q")


@pytest.fixture(scope="module")
def manifest(pieces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The utterances of one reading as three people, and one of somebody with too little speech."""
    rows = [json.loads(line) for line in (pieces / "utterances.jsonl").read_text("utf-8").splitlines()]
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, row in enumerate(rows):
            # The second one is short, and all that one of them has.
            speaker = f"book/us/m/take{number % 3}" if number != 1 else "book/us/m/short"
            file.write(
                json.dumps(
                    {
                        "audio": str(pieces / row["audio"]),
                        "text": row["text"],
                        "language": "en",
                        "speaker": speaker,
                        "consent": "public domain reading",
                    }
                )
                + "\n"
            )
    return path


@pytest.fixture(scope="module")
def voices(manifest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process makes of it."""
    folder = tmp_path_factory.mktemp("local") / "voices"
    done = clean(refprep("build", "--manifest", manifest, "-o", folder, *OPTIONS), 0)
    assert done.out.strip().endswith("3 built, 1 refused, 0 failed of 4 speakers")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything but the ledger, which says how long things took."""
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != "ledger.jsonl"
    }


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def test_one_voice_a_speaker_with_consent(voices: Path):
    assert sorted(p.name for p in voices.iterdir() if p.is_dir()) == [
        "book_us_m_take0", "book_us_m_take1", "book_us_m_take2",
    ]  # fmt: skip
    for folder in (p for p in voices.iterdir() if p.is_dir()):
        document = json.loads((folder / "voice.json").read_text("utf-8"))
        assert document["speaker_id"].startswith("book/us/m/take")
        assert document["consent"]["clips_without"] == 0
        assert document["is_verified"] is True
        assert clean(refprep("verify", folder), 0)
    summary = (voices / "summary.csv").read_text("utf-8")
    assert "book/us/m/short,refused" in summary


def test_several_processes_write_the_same_bytes(manifest: Path, voices: Path, tmp_path: Path):
    clean(refprep("build", "--manifest", manifest, "-o", tmp_path / "two", "--jobs", "2", *OPTIONS), 0)
    assert files_of(tmp_path / "two") == files_of(voices)


def test_a_killed_run_goes_on(manifest: Path, voices: Path, tmp_path: Path):
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "refprep", "build", "--manifest", str(manifest), "-o", str(folder)]
    process = subprocess.Popen([*command, *OPTIONS], env=environment(), stdout=subprocess.DEVNULL)
    ledger = folder / "ledger.jsonl"
    while process.poll() is None and not (ledger.is_file() and ledger.read_bytes().count(b"\n") >= 1):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    done = clean(
        refprep("build", "--manifest", manifest, "-o", folder, "--resume", "--format", "json", *OPTIONS),
        0,
    )
    assert json.loads(done.out)["resumed"] >= 1
    assert files_of(folder) == files_of(voices)
    assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def test_on_ray_the_same_bytes_though_a_worker_dies(manifest: Path, voices: Path, tmp_path: Path):
    pytest.importorskip("ray", reason="needs the extra: pip install 'refprep[ray]'")
    folder = tmp_path / "ray"
    command = [sys.executable, "-m", "refprep", "build", "--manifest", str(manifest), "-o", str(folder)]
    process = subprocess.Popen(
        [*command, "--engine", "ray", "--jobs", "2", *OPTIONS],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    killed = kill_a_worker(process)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert killed
    assert out.strip().endswith("3 built, 1 refused, 0 failed of 4 speakers")
    assert files_of(folder) == files_of(voices)


def kill_a_worker(run: subprocess.Popen[str]) -> bool:
    """Wait for a process of Ray's that works on a task, and kill it."""
    own = str(run.pid)
    while run.poll() is None:
        for stat in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if b"ray::build_speaker_here" in stat.read_bytes() and is_below(stat.parent, own):
                    os.kill(int(stat.parent.name), signal.SIGKILL)
                    return True
            except (OSError, ValueError):
                continue
        time.sleep(0.05)
    return False


def is_below(process: Path, ancestor: str) -> bool:
    """It is a descendant of a process."""
    pid = process.name
    while pid not in ("0", "1", ancestor):
        pid = (Path("/proc") / pid / "stat").read_text().rsplit(")", 1)[1].split()[1]
    return pid == ancestor
