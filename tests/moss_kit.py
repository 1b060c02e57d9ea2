"""Tiny MOSS-TTS generators, what upstream's classes made of them, and the recorded prompts as requests of ours."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from refprep.moss.engine import MossEngine
from refprep.moss.load import load_generator
from refprep.moss.random_generator import write_random_generator
from refprep.moss.random_shapes import RECORDED_SEEDS
from refprep.moss.request import MOSS_GREEDY, MossMode, MossRequest

RECORDED = Path(__file__).parent / "golden" / "moss_tts"
GENERATORS = tuple(RECORDED_SEEDS)
PREFIX_TEXT = "The quick brown fox, and the reading of it."

# Rows (Delay) and frames (Local) that the recorded runs were allowed, and their repetition penalties.
_ROWS = {
    "plain": 60,
    "clone.short": 60,
    "fields": 8,
    "clone": 120,
    "clone.penalty": 40,
    "clone.fields": 6,
    "continuation": 120,
    "continuation.short": 6,
    "both": 6,
    "batch": 80,
}
_FRAMES = {"plain": 8, "clone.short": 8, "clone": 40, "clone.penalty": 16, "batch": 8, "batch.stop": 8}
_PENALTY = {"delay": 1.2, "local-1.5": 1.3}


@cache
def _home() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="refprep-moss-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def tiny_generator(name: str) -> Path:
    """The folder of a recorded generator, written once per test run; tests copy it before they change it."""
    folder = _home() / name
    write_random_generator(folder, name, seed=RECORDED_SEEDS[name])
    return folder


@cache
def loaded(name, dtype=torch.float32):
    return load_generator(tiny_generator(name), device=torch.device("cpu"), dtype=dtype)


@cache
def recorded(name):
    """Tensors of a generator: all of them where REFPREP_PARITY_MOSS names the folder, else those kept here."""
    folder = os.environ.get("REFPREP_PARITY_MOSS")
    if folder:
        return load_file(Path(folder) / "golden" / f"{name}.golden.safetensors")
    return load_file(RECORDED / f"{name}.safetensors")


def has_all() -> bool:
    return bool(os.environ.get("REFPREP_PARITY_MOSS"))


def cases(name):
    """Names of a generator's recorded runs."""
    prompts = json.loads((RECORDED / "prompts.json").read_text(encoding="utf-8"))
    return ["clone"] if name == "local-1.5-rope" else list(prompts[name])


def case_requests(name, case):
    """A recorded run as greedy requests: one, or those of a batch."""
    prompts = json.loads((RECORDED / "prompts.json").read_text(encoding="utf-8"))
    known = recorded(name)
    found = []
    for talk in prompts[name.removesuffix("-rope")][case]["conversations"]:
        fields = dict(talk["user"])
        reference = fields.pop("reference", None)
        if reference:
            fields["reference"] = known[reference[0]].numpy().astype(np.int32)
        if talk["assistant_codes"]:
            fields["prefix"] = known[talk["assistant_codes"]].numpy().astype(np.int32)
            fields["prefix_text"] = PREFIX_TEXT
            fields["text"] = fields["text"].removeprefix(PREFIX_TEXT + " ")
        penalty = _PENALTY[name.removesuffix("-rope")] if case == "clone.penalty" else 1.0
        request = MossRequest(
            **fields, sampling=replace(MOSS_GREEDY, audio_repetition_penalty=penalty), max_frames=120
        )
        if name == "delay":
            request = replace(request, max_rows=_ROWS[case])
        else:
            request = replace(request, max_frames=_FRAMES.get(case, 4))
            if request.mode is MossMode.BOTH:
                request = replace(request, reference=None)  # upstream drops it; here it is refused
        found.append(request)
    return found


class RecordingEngine(MossEngine):
    """Keeps every row that a request wrote: ``rows[ticket]`` are (1 + n_vq,) each."""

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.rows = {}
        take = self._writer.take

        def keep(running, row):
            self.rows.setdefault(running.ticket, []).append(row[:-1].copy())
            return take(running, row)

        self._writer.take = keep
