"""What a figure belongs to: machine, versions, checkpoint. Without them it is no figure."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refprep import __version__
from refprep.bench.parity_cases import weights_label
from refprep.engine.config import CheckpointConfig
from refprep.engine.loader import open_weights
from refprep.engine.random_checkpoint import REAL, TINY, CheckpointShapes, StackShape

SCHEMA = "refprep.bench.synth/1"

_PACKAGE = Path(__file__).resolve().parents[1]
_GPU_FIELDS = ("name", "driver_version", "memory.total", "clocks.sm", "clocks.mem", "clocks.max.sm")


def run_facts(device: str) -> dict[str, Any]:
    """Of this machine and this moment.

    Args:
        device: ``cpu`` or ``cuda``; a GPU that is not used is no fact of the run.
    """
    return {
        "schema": SCHEMA,
        "refprep_version": __version__,
        "git": _revision(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "host": {
            "cpu": _cpu_name(),
            "cores": os.cpu_count(),
            "ram": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
            if hasattr(os, "sysconf")
            else None,
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "gpu": _gpu() if device == "cuda" else None,
        "torch": importlib.metadata.version("torch"),
        "triton": _version("triton"),
        "cuda": _cuda_version() if device == "cuda" else None,
    }


def model_facts(folder: Path, config: CheckpointConfig) -> dict[str, Any]:
    """Of a checkpoint. The hash is that of names, shapes and bytes of its tensors, codec left out.

    Raises:
        WeightsMissing: They are not there.
    """
    return {
        "id": folder.resolve().name,
        "revision": None,
        "kind": config.kind.value,
        "size": config.tts_model_size,
        "shapes": shapes_label(config),
        "weights": weights_of(folder),
        "sha256": open_weights(folder).sha256(),
    }


def weights_of(folder: Path) -> str:
    """``random`` where a checkpoint says so of itself, else ``real``."""
    return "random" if weights_label(folder) == "random" else "real"


def shapes_label(config: CheckpointConfig) -> str:
    """``tiny``, ``0.6b`` or ``1.7b`` where a talker has exactly those widths and depths, else ``other``."""
    named = [*(("tiny", shapes) for shapes in TINY.values()), ("0.6b", REAL["0b6"]), ("1.7b", REAL["1b7"])]
    return next((name for name, shapes in named if _is_shaped(config, shapes)), "other")


def frame_nbytes(config: CheckpointConfig, dtype: str) -> int:
    """Bytes of the layers that a frame reads: those of the talker once, those of the predictor 15 times, counted once."""
    talker, predictor = config.talker_config, config.talker_config.code_predictor_config
    numbers = sum(
        stack.num_hidden_layers
        * stack.hidden_size
        * (
            stack.head_dim * (2 * stack.num_attention_heads + 2 * stack.num_key_value_heads)
            + 3 * stack.intermediate_size
        )
        for stack in (talker, predictor)
    )
    return numbers * (2 if dtype == "bfloat16" else 4)


def compiler() -> str | None:
    """A C++ compiler that ``torch.compile`` would find."""
    names = [os.environ.get("CXX", ""), "g++", "clang++", "c++"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


def _is_shaped(config: CheckpointConfig, shapes: CheckpointShapes) -> bool:
    talker = config.talker_config
    stacks: Sequence[tuple[Any, StackShape]] = (
        (talker, shapes.talker),
        (talker.code_predictor_config, shapes.predictor),
    )
    return all(
        getattr(stack, name) == getattr(shape, name)
        for stack, shape in stacks
        for name in StackShape.__dataclass_fields__
    )


def _revision() -> str | None:
    """Of the checkout that the package runs from; None where it is installed."""
    if not (_PACKAGE.parent / ".git").exists():
        return None
    said = _say(["git", "-C", str(_PACKAGE), "rev-parse", "--short=12", "HEAD"])
    if said is None:
        return None
    changed = _say(["git", "-C", str(_PACKAGE), "status", "--porcelain", "--", "."])
    return f"{said}+changes" if changed else said


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _gpu() -> dict[str, Any]:
    said = _say(["nvidia-smi", f"--query-gpu={','.join(_GPU_FIELDS)}", "--format=csv,noheader"])
    if said:
        values = [part.strip() for part in said.splitlines()[0].split(",")]
        found = dict(zip(_GPU_FIELDS, values, strict=False))
        return {
            "name": found.get("name"),
            "driver": found.get("driver_version"),
            "vram": found.get("memory.total"),
            "clocks": {name: found.get(name) for name in _GPU_FIELDS[3:]},
        }
    import torch

    name = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {"name": name, "driver": None, "vram": None, "clocks": None}


def _cuda_version() -> str | None:
    import torch

    version: str | None = torch.version.cuda
    return version


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _say(command: Sequence[str]) -> str | None:
    """What a program prints; None where it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
