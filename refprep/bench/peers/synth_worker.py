"""Times our engine in a process of its own, by the same kind of job as a peer's worker: ``... synth_worker JOB.json``.

The end is never chosen, so that every run writes the same number of frames. A frame that is compiled or captured is made
beforehand: the same request runs once, and that is part of ``start_s``.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

from refprep import __version__
from refprep.bench.peers.qwen_tts_worker import peak_rss_bytes, versions
from refprep.bench.synth_engine import context_for, load_model, programs, settle
from refprep.engine.engine import Engine
from refprep.engine.kv_cache import KVCache
from refprep.engine.model import TalkerCheckpoint
from refprep.engine.prompt import build_prompt
from refprep.engine.steps import StepMode
from refprep.errors import BackendError
from refprep.types import CloneMode, SpeechRequest, VoicePrompt


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Load, write frames, decode them.

    Raises:
        BackendError: Something was compiled or captured while it was timed, or does not compile.
    """
    imports_rss = peak_rss_bytes()
    start = time.perf_counter()
    model = load_model(job)
    checkpoint, device = model.checkpoint, model.checkpoint.talker.device
    gc.collect()
    loaded_rss = peak_rss_bytes()
    request = _request(job, checkpoint, frames=job["frames"])
    mode = StepMode(job.get("mode", StepMode.EAGER))
    context = context_for(checkpoint, mode, [request])
    engine = Engine(checkpoint, max_batch=1, never_ends=True, mode=mode, context=context)
    if mode is not StepMode.EAGER:
        engine.generate([request])
    start_s = time.perf_counter() - start
    frames: list[np.ndarray[Any, Any]] = []

    def watch(frame: np.ndarray[Any, Any], eos_rank: int) -> None:
        frames.append(frame)
        ticks.append(time.perf_counter())

    prefill_ms = _prefill_ms(checkpoint, _request(job, checkpoint, frames=1))
    made = programs(engine)
    ticks = [time.perf_counter()]
    engine.generate([request], [watch])
    if programs(engine) != made:
        raise BackendError(
            "a frame was compiled or captured while it was timed",
            where=f"mode {mode.value}",
            fix="Ask for fewer --frames.",
        )
    codes = torch.from_numpy(np.stack(frames)).to(device)
    start = time.perf_counter()
    model.decoder.decode(codes)
    settle(device)
    codec_s = time.perf_counter() - start
    return {
        "frames": len(frames),
        "prefill_ms": prefill_ms,
        "ms_per_frame": 1e3 * (ticks[-1] - ticks[1]) / (len(ticks) - 2),
        "codec_ms_per_frame": 1e3 * codec_s / len(frames),
        "versions": {"refprep": __version__, **versions("torch")},
        "load_s": model.load_s,
        "start_s": start_s,
        "torch_rss_bytes": imports_rss,
        "loaded_rss_bytes": loaded_rss,
        "peak_rss_bytes": peak_rss_bytes(),
    }


def _request(job: Mapping[str, Any], checkpoint: TalkerCheckpoint, *, frames: int) -> SpeechRequest:
    (case,) = job["cases"]
    (row,) = case["rows"]
    voice = None
    if row["voice"]:
        voice = VoicePrompt(CloneMode.X_VECTOR, load_file(job["tensors"])["embedding"])
    return SpeechRequest(
        row["text"],
        voice=voice,
        speaker=row["speaker"],
        instruct=row["instruct"],
        language=row["language"],
        whole_text=case["whole_text"],
        sampling=checkpoint.sampling,
        seed=job["seed"],
        max_frames=frames,
    )


@torch.inference_mode()
def _prefill_ms(checkpoint: TalkerCheckpoint, request: SpeechRequest) -> float:
    """The prompt's pass through the talker, as the first token's in a run."""
    talker = checkpoint.talker
    prompt = build_prompt(request, checkpoint.config, talker, checkpoint.tokenizer)
    cache = KVCache.empty(
        talker.config, slots=1, capacity=len(prompt.embeds), dtype=talker.dtype, device=talker.device
    )
    rotary = talker.rotary(len(prompt.embeds))
    settle(talker.device)
    start = time.perf_counter()
    talker.prefill(prompt.embeds[None], rotary, cache)
    settle(talker.device)
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    """Carry out one job."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    facts = run(job)
    save_file({"none": np.zeros(1, np.float32)}, f"{job['out']}.safetensors")
    Path(f"{job['out']}.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
