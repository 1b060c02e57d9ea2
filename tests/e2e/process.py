"""Run refprep as people do: as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Done:
    """A finished process."""

    code: int
    out: str
    err: str


def refprep(*args: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """Run ``python -m refprep`` and wait."""
    return run([sys.executable, "-m", "refprep", *map(str, args)], cwd=cwd, env=env)


def clean(done: Done, *codes: int) -> Done:
    """It ended with one of the codes, and with no traceback."""
    assert done.code in codes, (done.code, done.err[-2000:])
    assert "Traceback" not in done.err + done.out
    assert "bug in refprep" not in done.err
    return done


def run(command: list[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """Run a command with this checkout on the path, and wait."""
    done = subprocess.run(
        command,
        cwd=cwd or ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)
