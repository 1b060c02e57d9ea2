"""Tiny MOSS codecs of random weights, byte for byte the one that the recorded goldens were made with, and their wave."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from refprep.moss.random_codec import write_random_codec

SAMPLES_PER_FRAME = 1920


@cache
def _home() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="refprep-moss-codecs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def tiny_codec(context_s: float = 10.0) -> Path:
    """The folder of the recorded codec, or of one whose window is another; tests copy it before they change it."""
    folder = _home() / f"codec-{context_s:g}"
    write_random_codec(folder)
    if context_s != 10.0:
        edit_config(folder, causal_transformer_context_duration=context_s)
    return folder


def edit_config(folder: Path, **changes: object) -> None:
    """Change keys of a config.json; None removes one."""
    path = folder / "config.json"
    values = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps({k: v for k, v in values.items() if v is not None}), encoding="utf-8")


def copied(folder: Path, to: Path) -> Path:
    """A codec of one's own to change."""
    shutil.copytree(folder, to)
    return to


@cache
def fixed_wave() -> npt.NDArray[np.float32]:
    """(288000,) float32: 12 s of a chirp, a modulated tone and noise, on the grid of 16 bits."""
    n = 12 * 24_000
    t = np.arange(n) / 24_000
    noise = np.random.Generator(np.random.PCG64(7)).standard_normal(n)
    tone = 0.25 * np.sin(2 * np.pi * (110 * t + 15 * t * t)) + 0.15 * np.sin(
        2 * np.pi * 1870 * t + 3 * np.sin(9 * t)
    )
    wave = tone * (0.6 + 0.4 * np.sin(2 * np.pi * 2.5 * t)) + 0.02 * noise
    fixed = (np.round(wave * 32768) / 32768).astype(np.float32)
    fixed.flags.writeable = False
    return fixed


def moss_parity_folder() -> Path | None:
    """Where the whole recording is, if REFPREP_PARITY_MOSS names it."""
    named = os.environ.get("REFPREP_PARITY_MOSS")
    return Path(named) / "golden" if named else None
