"""A job for a peer: written to a folder, run by the peer's interpreter, read back."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from refprep.bench.peers.qwen_tts_worker import MISSING, UNFIT
from refprep.errors import BackendError, DeviceError, MachineError, UsageError

Array = npt.NDArray[np.generic]

PEERS = {"qwen-tts": "qwen_tts_worker.py", "faster-qwen3-tts": "faster_qwen3_tts_worker.py"}
"""Name of a peer and the script that runs it."""

_INSTALL = {
    "qwen-tts": "pip install torch transformers==4.57.3 accelerate librosa soundfile einops, then "
    "pip install --no-deps qwen-tts==0.1.1",
    "faster-qwen3-tts": "pip install faster-qwen3-tts, with a torch for the GPU's CUDA",
}
_SHOWN_LINES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a worker found.

    Attributes:
        facts: Of its JSON.
        tensors: By name.
    """

    facts: Mapping[str, Any]
    tensors: Mapping[str, Array]


def find_python(named: str) -> Path:
    """The peer's interpreter.

    Raises:
        UsageError: It is not there.
    """
    found = shutil.which(named)
    if found is None:
        raise UsageError(
            "no such interpreter",
            where=f"--peer-python {named}",
            fix="Name the python of the virtual environment that holds the peer: VENV/bin/python.",
        )
    return Path(found)


def run_peer(name: str, python: Path, job: Mapping[str, Any], folder: Path, *, timeout_s: float) -> Answer:
    """Let a peer's own interpreter carry out a job.

    Args:
        name: Of ``PEERS``.
        python: Its interpreter.
        job: Without ``out``.
        folder: For the job and the answer.
        timeout_s: Wall time it may take.

    Raises:
        BackendError: The interpreter lacks the package, fails, takes too long or answers with something else.
        DeviceError: The peer needs a device that is not there.
    """
    # -I: the peer sees its own packages alone, nothing of this process's path and settings
    with as_file(files("refprep.bench.peers")) as scripts:
        command = [str(python), "-I", str(scripts / PEERS[name])]
        return _run(command, job, folder, who=name, timeout_s=timeout_s)


def run_own(module: str, job: Mapping[str, Any], folder: Path, *, timeout_s: float) -> Answer:
    """Let a fresh process of this interpreter carry out a job.

    Raises:
        BackendError: It fails or takes too long.
    """
    return _run([sys.executable, "-m", module], job, folder, who="refprep", timeout_s=timeout_s)


def _run(
    command: Sequence[str], job: Mapping[str, Any], folder: Path, *, who: str, timeout_s: float
) -> Answer:
    out = folder / "out"
    for suffix in (".json", ".safetensors"):
        out.with_suffix(suffix).unlink(missing_ok=True)
    # Both engines get the same threads from the start, whatever this shell says.
    (folder / "job.json").write_text(json.dumps({**job, "out": str(out)}), encoding="utf-8")
    try:
        done = subprocess.run(
            [*command, str(folder / "job.json")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "OMP_NUM_THREADS": str(job.get("threads", 1))},
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BackendError(
            f"it did not finish within {timeout_s:g} s",
            where=who,
            fix="Ask for fewer --frames, or give it longer with --timeout.",
        ) from error
    except OSError as error:
        raise BackendError(
            f"{command[0]} does not run: {error.strerror or error}",
            where=who,
            fix="Name the python of a virtual environment with --peer-python.",
        ) from error
    said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
    if done.returncode:
        raise _failed(who, command[0], done.returncode, said)
    return _read(out, who, said)


def _failed(who: str, python: str, code: int, said: Sequence[str]) -> MachineError:
    if said and said[-1].startswith(MISSING):
        missing = said[-1].removeprefix(MISSING)
        return BackendError(
            f"the environment of {python} has no module {missing!r}",
            where=who,
            fix=f"Install it there: {_INSTALL.get(who, 'refprep as it is here')}.",
        )
    if said and said[-1].startswith(UNFIT):
        return DeviceError(
            said[-1].removeprefix(UNFIT),
            where=who,
            fix="Run it on a machine with an NVIDIA GPU, with --device cuda, or leave --against out.",
        )
    ended = f"was ended by signal {-code}" if code < 0 else f"exited with {code}"
    last = "\n  ".join(said[-_SHOWN_LINES:]) or "(nothing on stderr)"
    return BackendError(
        f"{python} {ended}; its last words:\n  {last}",
        where=who,
        fix="Check that this environment loads the checkpoint by itself, and that memory is enough.",
    )


def _read(out: Path, who: str, said: Sequence[str]) -> Answer:
    facts: Any = None
    tensors: dict[str, Array] = {}
    with contextlib.suppress(OSError, ValueError, SafetensorError):
        facts = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
        tensors = load_file(out.with_suffix(".safetensors"))
    if not isinstance(facts, dict):
        last = "\n  ".join(said[-_SHOWN_LINES:]) or "(nothing on stderr)"
        raise BackendError(
            f"it ended without an answer; its last words:\n  {last}",
            where=who,
            fix="Name the python of a virtual environment with --peer-python.",
        )
    return Answer(facts, tensors)
