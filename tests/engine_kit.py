"""Tiny checkpoints of random weights, byte for byte those that the recorded goldens were made with."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from refprep.engine.random_checkpoint import write_random_checkpoint

# Seeds without near ties between the two best choices, in any recorded greedy step.
RECORDED_CHECKPOINTS = {
    "base-0.6b": ("base", "0b6", 0),
    "base-1.7b": ("base", "1b7", 0),
    "custom-1.7b": ("custom_voice", "1b7", 3),
    "design-1.7b": ("voice_design", "1b7", 4),
}


@cache
def _home() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="refprep-checkpoints-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def tiny_checkpoint(name: str) -> Path:
    """The folder of a recorded checkpoint, written once per test run; tests copy it before they change it."""
    kind, size, seed = RECORDED_CHECKPOINTS[name]
    folder = _home() / name
    write_random_checkpoint(folder, kind, size, seed=seed)
    return folder


def parity_folder() -> Path | None:
    """Where the whole recording is, if REFPREP_PARITY names it."""
    named = os.environ.get("REFPREP_PARITY")
    return Path(named) / "golden" if named else None
