"""What a frame costs: rows of our engine, and a peer on the same weights, text and number of frames in between.

Every run is a fresh process, so that peak memory is one engine's; the order is A B B A, so that what drifts on the
machine falls on all. None can end: all runs write the same number of frames.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from refprep.bench.parity_cases import LONG, ParityCase, peer_job
from refprep.bench.peers.process import run_own, run_peer
from refprep.bench.synth_engine import plain_voice
from refprep.bench.synth_facts import compiler, frame_nbytes
from refprep.bench.synth_plan import SynthPlan
from refprep.engine.config import CheckpointConfig, ModelKind, read_config
from refprep.engine.tokenizer import load_tokenizer
from refprep.errors import BackendError
from refprep.types import SpeechRequest

OURS = "refprep"
"""The eager reference; our other rows are named for what they do, behind it."""

FRAMES = 40
COMPILED_NBYTES = 64_000_000
"""Largest layers for which a compiled frame pays on a CPU, and is made within minutes."""

_WORKER = "refprep.bench.peers.synth_worker"
_TIMES = ("ms_per_frame", "codec_ms_per_frame", "prefill_ms", "load_s", "start_s")
_BYTES = ("torch_rss_bytes", "loaded_rss_bytes", "peak_rss_bytes")


def measure_frames(plan: SynthPlan, work: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Time runs of our rows, and of a peer in between.

    Args:
        plan: Of the run.
        work: Folder for jobs and answers.
        tell: Told what is done.

    Returns:
        ``engines``: every run, the median and spread of each figure; ``peer_over_ours``: ratios to the eager reference;
        ``not_run``: rows that were left out, and why.

    Raises:
        WeightsMissing: A file of the checkpoint is not there.
        BackendError: It is no checkpoint of this engine, or a run of the eager reference or the peer fails.
    """
    config = read_config(plan.checkpoint)
    frames = plan.frames or FRAMES
    rows, not_run = choose_rows(plan, config)
    case = _case(config, frames)
    voice = case.requests[0].voice
    vector = None if voice is None else voice.speaker_embedding
    vector = np.zeros(1, np.float32) if vector is None else vector
    save_file({"embedding": vector}, work / "inputs.safetensors")
    job = {
        "task": "synth",
        "checkpoint": str(plan.checkpoint.resolve()),
        "device": plan.device,
        "dtype": plan.dtype,
        "threads": plan.threads,
        "frames": frames,
        "seed": 1,
        "audio": True,
        "tensors": str(work / "inputs.safetensors"),
        **peer_job([case], load_tokenizer(plan.checkpoint, config)),
    }
    engines = (*rows, *([] if plan.peer is None else [plan.peer]))
    found: dict[str, list[Mapping[str, Any]]] = {engine: [] for engine in engines}
    for engine in order(engines, plan.runs):
        if engine in not_run:
            continue
        tell(f"{engine}, run {len(found[engine]) + 1} of {plan.runs}")
        if engine not in rows:
            assert plan.python is not None, "a peer has an interpreter"  # noqa: S101
            answer = run_peer(engine, plan.python, job, work, timeout_s=plan.timeout_s)
        else:
            try:
                answer = run_own(_WORKER, {**job, **rows[engine]}, work, timeout_s=plan.timeout_s)
            except BackendError as error:
                if len(found) == 1 or engine == OURS:
                    raise
                not_run[engine] = f"it failed: {error.what}"  # what the others took is not thrown away
                found.pop(engine)
                continue
        found[engine].append(answer.facts)
    return {"frames": frames, **summarise(found, plan.peer), "not_run": not_run}


def choose_rows(
    plan: SynthPlan, config: CheckpointConfig
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Rows of ours, as changes to the job, and the ones left out with the reason."""
    rows: dict[str, dict[str, Any]] = {}
    not_run: dict[str, str] = {}
    for step in ("eager", "compiled", "graph"):
        name = OURS if step == "eager" else f"{OURS}-{step}"
        if plan.steps is not None:
            reason = None if step in plan.steps else "--steps leaves it out"
        else:
            reason = _unfit(step, plan, config)
        if reason is None:
            rows[name] = {"mode": step}
        else:
            not_run[name] = reason
    if plan.int8:
        rows[f"{OURS}-int8"] = {"mode": "eager", "int8": True}
    else:
        not_run[f"{OURS}-int8"] = "not asked for: --int8"
    return rows, not_run


def _unfit(step: str, plan: SynthPlan, config: CheckpointConfig) -> str | None:
    """Why a row is not run unasked."""
    if step == "graph" and plan.device != "cuda":
        return "CUDA graphs need a GPU"
    if step != "compiled":
        return None
    if plan.device == "cuda":
        return "a GPU replays graphs instead; --steps asks for it"
    nbytes = frame_nbytes(config, plan.dtype)
    if nbytes >= COMPILED_NBYTES:
        return f"{nbytes / 1e6:.0f} MB of layers: it gains nothing there and takes long to make; --steps asks for it"
    if compiler() is None:
        return "there is no C++ compiler (g++ or clang++)"
    return None


def order(engines: Sequence[str], runs: int) -> list[str]:
    """A B B A A B ...: the second of two neighbours goes first in the next pair."""
    return [e for n in range(runs) for e in (engines if n % 2 == 0 else tuple(reversed(engines)))]


def summarise(found: Mapping[str, Sequence[Mapping[str, Any]]], peer: str | None) -> dict[str, Any]:
    """Median and spread of every engine's runs, and the ratios to the eager reference.

    Args:
        found: Facts of every run, by engine.
        peer: The other engine, if any.
    """
    engines = {name: _summary(runs) for name, runs in found.items()}
    ratios = {}
    if peer is not None and OURS in engines:
        ours, theirs = engines[OURS], engines[peer]
        ratios = {
            "ms_per_frame": _quotient(theirs["ms_per_frame"], ours["ms_per_frame"]),
            "ms_per_frame_with_codec": _quotient(
                theirs["ms_per_frame"] + theirs["codec_ms_per_frame"],
                ours["ms_per_frame"] + ours["codec_ms_per_frame"],
            ),
            "codec_ms_per_frame": _quotient(theirs["codec_ms_per_frame"], ours["codec_ms_per_frame"]),
            "prefill_ms": _quotient(theirs["prefill_ms"], ours["prefill_ms"]),
            "peak_rss_bytes": _quotient(theirs["peak_rss_bytes"], ours["peak_rss_bytes"]),
            "peak_rss_beyond_torch_bytes": _quotient(_beyond(theirs), _beyond(ours)),
        }
    return {"engines": engines, "peer_over_ours": ratios}


def _summary(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    lengths = {run["frames"] for run in runs}
    assert len(lengths) == 1, f"runs of different lengths: {lengths}"  # noqa: S101
    summary: dict[str, Any] = {"versions": runs[0]["versions"]}
    for key in _TIMES:
        values = [float(run.get(key, run["load_s"])) for run in runs]  # a peer starts by loading
        summary[key] = round(statistics.median(values), 3)
        summary[f"{key}_runs"] = [round(v, 3) for v in values]
    for key in _BYTES:
        summary[key] = max(int(run[key]) for run in runs)
    return summary


def _beyond(summary: Mapping[str, Any]) -> int:
    """Peak memory without the import of torch: its builds with CUDA take 300 MB more than those without."""
    return int(summary["peak_rss_bytes"] - summary["torch_rss_bytes"])


def _quotient(peer: float, ours: float) -> float:
    return round(peer / ours, 3) if ours else float("inf")


def _case(config: CheckpointConfig, frames: int) -> ParityCase:
    whole_text = config.kind is not ModelKind.BASE
    request = SpeechRequest(LONG, **plain_voice(config), whole_text=whole_text, max_frames=frames)
    return ParityCase("synth", (request,))
