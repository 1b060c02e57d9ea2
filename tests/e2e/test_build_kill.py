"""kill -9 at twenty moments of a build over an older voice: the folder is the old voice or the new one, never half."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from build_kit import ordinary_scene
from kill_kit import build
from process import ROOT

from refprep.voice import verify_voice

pytestmark = pytest.mark.skipif(not hasattr(os, "kill") or sys.platform == "win32", reason="needs SIGKILL")

OLD, NEW = ("old/en/m/reader", 6.0), ("new/en/m/reader", 9.0)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


class Child:
    """The building process, and the lines it has printed."""

    def __init__(self, clips: Path, folder: Path) -> None:
        kit = Path(__file__).with_name("kill_kit.py")
        self.begun_s = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, str(kit), str(clips), str(folder), NEW[0], str(NEW[1])],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, step: str) -> float:
        """Read lines up to a step; when it came, in seconds of the process's life."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(step):
                return time.monotonic() - self.begun_s
        raise AssertionError(f"the child ended before {step!r}")

    def kill(self) -> None:
        """SIGKILL: no handler, no finally runs."""
        self.process.kill()
        assert self.process.wait(timeout=30) == -9
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def state_of(folder: Path, old: dict[str, bytes], new: dict[str, bytes]) -> str:
    """``old`` or ``new``; anything else fails."""
    found = verify_voice(folder)
    assert found.problems == ()
    assert found.notes == ()
    now = snapshot(folder)
    assert now in (old, new)
    speaker = json.loads(now["voice.json"])["speaker_id"]
    assert speaker == (OLD if now == old else NEW)[0]
    return "old" if now == old else "new"


def test_a_killed_build_leaves_the_old_voice_or_the_new_one(tmp_path):
    clips = tmp_path / "clips"
    ordinary_scene(clips)
    build(clips, tmp_path / "whole_old" / "ana", *OLD)
    build(clips, tmp_path / "whole_new" / "ana", *NEW)
    old, new = snapshot(tmp_path / "whole_old" / "ana"), snapshot(tmp_path / "whole_new" / "ana")
    assert old["reference.wav"] != new["reference.wav"]

    def with_old_voice(name: str) -> Path:
        shutil.copytree(tmp_path / "whole_old" / "ana", tmp_path / name / "ana")
        return tmp_path / name / "ana"

    child = Child(clips, with_old_voice("timing"))
    start_s, write_s, done_s = (child.wait_for(step) for step in ("start", "write", "done"))
    child.kill()

    # (line to wait for, seconds to let pass): three while it starts, four while it works, twelve while it writes, one
    # when it is through.
    moments = [("", start_s * share) for share in (0.1, 0.5, 0.9)]
    moments += [("start", (write_s - start_s) * share) for share in (0.05, 0.3, 0.6, 0.9)]
    moments += [("write", (done_s - write_s) * k / 11) for k in range(12)]
    moments += [("done", 0.0)]
    assert len(moments) == 20

    outcomes: list[str] = []
    leftovers = 0
    for number, (step, delay_s) in enumerate(moments):
        folder = with_old_voice(f"kill_{number:02}")
        child = Child(clips, folder)
        if step:
            child.wait_for(step)
        time.sleep(delay_s)
        child.kill()
        outcomes.append(state_of(folder, old, new))
        leftovers += len(list(folder.parent.glob(".ana.refprep-*")))
        build(clips, folder, *NEW)
        assert state_of(folder, old, new) == "new"
        assert sorted(p.name for p in folder.parent.iterdir()) == ["ana"]
    assert set(outcomes[:7]) == {"old"}
    assert outcomes[-1] == "new"
    assert set(outcomes) == {"old", "new"}
    assert leftovers, "no kill hit the write phase: the moments are badly chosen"
