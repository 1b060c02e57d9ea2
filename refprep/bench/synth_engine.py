"""A checkpoint as the workers of `bench synth` load it, and what their process holds meanwhile."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from refprep.engine.codec import CodecDecoder, load_codec_decoder
from refprep.engine.config import CheckpointConfig, ModelKind
from refprep.engine.engine import Engine
from refprep.engine.model import DTYPES, TalkerCheckpoint, load_checkpoint
from refprep.engine.prompt import plan_prompt
from refprep.engine.speech import SpeechEngine
from refprep.engine.steps import StepMode
from refprep.errors import UsageError
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

_BLOCK = 256  # slots grow by it


@dataclass(frozen=True, slots=True, eq=False)
class LoadedModel:
    """What a worker measures.

    Attributes:
        checkpoint: On its device, int8 where that was asked for.
        decoder: Of its codec, float32.
        load_s: That loading took.
    """

    checkpoint: TalkerCheckpoint
    decoder: CodecDecoder
    load_s: float


def load_model(job: Mapping[str, Any]) -> LoadedModel:
    """Load what a job names: ``checkpoint``, ``device``, ``dtype``, ``int8``, ``threads``.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files do not fit each other, or this CPU has no int8 products.
        UsageError: int8 is for float32 on a CPU.
    """
    torch.set_num_threads(job["threads"])
    start = time.perf_counter()
    folder, device = Path(job["checkpoint"]), torch.device(job.get("device", "cpu"))
    checkpoint = load_checkpoint(folder, device=device, dtype=DTYPES[job["dtype"]])
    if job.get("int8"):
        _quantize(checkpoint, job)
    decoder = load_codec_decoder(folder, device)
    settle(device)
    return LoadedModel(checkpoint, decoder, time.perf_counter() - start)


def context_for(checkpoint: TalkerCheckpoint, mode: StepMode, requests: list[SpeechRequest]) -> int | None:
    """Positions to reserve, so that nothing grows, compiles or is captured while it is measured; None: no need."""
    if mode is StepMode.EAGER:
        return None
    needed = max(
        plan_prompt(request, checkpoint.config, checkpoint.tokenizer).num_positions + request.max_frames + 2
        for request in requests
    )
    return -(-needed // _BLOCK) * _BLOCK


def plain_voice(config: CheckpointConfig) -> dict[str, Any]:
    """``voice`` and ``speaker`` of a request that holds no reference: what any checkpoint can do without one."""
    if config.kind is ModelKind.BASE:
        width = config.talker_config.hidden_size
        vector = np.random.Generator(np.random.PCG64(3)).standard_normal(width).astype(np.float32)
        return {"voice": VoicePrompt(CloneMode.X_VECTOR, vector), "speaker": None}
    speaker = config.speakers[0] if config.kind is ModelKind.CUSTOM_VOICE else None
    return {"voice": None, "speaker": speaker}


def programs(engine: Engine | SpeechEngine) -> int:
    """Frames captured or compiled so far in this process: none may be added while something is timed."""
    compiled = 0
    if "torch._dynamo.utils" in sys.modules:
        compiled = int(sys.modules["torch._dynamo.utils"].counters["stats"]["unique_graphs"])
    return engine.captures + compiled


def settle(device: torch.device) -> None:
    """Wait for what was launched."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _quantize(checkpoint: TalkerCheckpoint, job: Mapping[str, Any]) -> None:
    if job.get("device", "cpu") != "cpu" or job["dtype"] != "float32":
        raise UsageError(
            "int8 products are for float32 checkpoints on a CPU",
            where="--int8",
            fix="Take it with --device cpu --dtype float32.",
        )
    from refprep.engine.int8 import quantize_int8

    quantize_int8(checkpoint)
