"""What a frame costs: our engine by itself, or beside a peer on the same weights, text and number of frames.

Every run is a fresh process, so that peak memory is one engine's; the order is A B B A, so that what drifts on the
machine falls on both. Neither can end: all runs write the same number of frames.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from refprep.bench.parity_cases import LONG, ParityCase, peer_job, weights_label
from refprep.bench.peers.process import run_own, run_peer
from refprep.engine.config import CheckpointConfig, ModelKind, read_config
from refprep.engine.tokenizer import load_tokenizer
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

OURS = "refprep"
_WORKER = "refprep.bench.peers.synth_worker"
_TIMES = ("ms_per_frame", "codec_ms_per_frame", "prefill_ms", "load_s")
_BYTES = ("torch_rss_bytes", "loaded_rss_bytes", "peak_rss_bytes")


def run_synth(
    folder: Path,
    *,
    peer: str | None,
    python: Path | None,
    dtype: str,
    frames: int,
    threads: int,
    runs: int,
    timeout_s: float,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Time runs of our engine, and of a peer in between.

    Args:
        folder: Of the checkpoint.
        peer: Name of the other engine; None measures ours alone.
        python: Its interpreter.
        dtype: Of the talker.
        frames: Of every run.
        threads: Of both.
        runs: Of each engine.
        timeout_s: For one run.
        tell: Told what is done.

    Returns:
        Every run, the median and spread of each figure, and the ratios peer over ours.

    Raises:
        WeightsMissing: A file of the checkpoint is not there.
        BackendError: It is no checkpoint of this engine, or a run fails.
    """
    config = read_config(folder)
    case = _case(config, frames)
    engines = (OURS,) if peer is None else (OURS, peer)
    found: dict[str, list[Mapping[str, Any]]] = {engine: [] for engine in engines}
    with tempfile.TemporaryDirectory(prefix="refprep-synth-") as name:
        work = Path(name)
        voice = case.requests[0].voice
        vector = np.zeros(1, np.float32) if voice is None else voice.speaker_embedding
        save_file({"embedding": vector}, work / "inputs.safetensors")
        job = {
            "task": "synth",
            "checkpoint": str(folder.resolve()),
            "dtype": dtype,
            "threads": threads,
            "frames": frames,
            "seed": 1,
            "audio": True,
            "tensors": str(work / "inputs.safetensors"),
            **peer_job([case], load_tokenizer(folder, config)),
        }
        for engine in order(engines, runs):
            tell(f"{engine}, run {len(found[engine]) + 1} of {runs}")
            if engine == OURS:
                answer = run_own(_WORKER, job, work, timeout_s=timeout_s)
            else:
                assert python is not None, "a peer has an interpreter"  # noqa: S101
                answer = run_peer(engine, python, job, work, timeout_s=timeout_s)
            found[engine].append(answer.facts)
    return {
        "schema_version": 1,
        "checkpoint": folder.resolve().name,
        "kind": config.kind.value,
        "size": config.tts_model_size,
        "weights": weights_label(folder),
        "dtype": dtype,
        "frames": frames,
        "threads": threads,
        "runs": runs,
        "device": "cpu",
        **summarise(found, peer),
    }


def order(engines: Sequence[str], runs: int) -> list[str]:
    """A B B A A B ...: the second of two neighbours goes first in the next pair."""
    return [e for n in range(runs) for e in (engines if n % 2 == 0 else tuple(reversed(engines)))]


def summarise(found: Mapping[str, Sequence[Mapping[str, Any]]], peer: str | None) -> dict[str, Any]:
    """Median and spread of every engine's runs, and the ratios.

    Args:
        found: Facts of every run, by engine.
        peer: The other engine, if any.
    """
    engines = {name: _summary(runs) for name, runs in found.items()}
    ratios = {}
    if peer is not None:
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
        values = [float(run[key]) for run in runs]
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
    voice, speaker = None, None
    if config.kind is ModelKind.BASE:
        width = config.talker_config.hidden_size
        vector = np.random.Generator(np.random.PCG64(3)).standard_normal(width).astype(np.float32)
        voice = VoicePrompt(CloneMode.X_VECTOR, vector)
    elif config.kind is ModelKind.CUSTOM_VOICE:
        speaker = config.speakers[0]
    whole_text = config.kind is not ModelKind.BASE
    request = SpeechRequest(LONG, voice=voice, speaker=speaker, whole_text=whole_text, max_frames=frames)
    return ParityCase("synth", (request,))
