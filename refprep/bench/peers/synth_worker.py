"""Times our engine in a process of its own, by the same kind of job as a peer's worker: ``... synth_worker JOB.json``.

The end is never chosen, so that every run writes the same number of frames.
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
from refprep.engine.codec import load_codec_decoder
from refprep.engine.engine import Engine
from refprep.engine.kv_cache import KVCache
from refprep.engine.model import DTYPES, TalkerCheckpoint, load_checkpoint
from refprep.engine.prompt import build_prompt
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

CPU = torch.device("cpu")


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Load, write frames, decode them."""
    imports_rss = peak_rss_bytes()
    torch.set_num_threads(job["threads"])
    start = time.perf_counter()
    folder = Path(job["checkpoint"])
    checkpoint = load_checkpoint(folder, device=CPU, dtype=DTYPES[job["dtype"]])
    decoder = load_codec_decoder(folder, CPU)
    loaded_s = time.perf_counter() - start
    gc.collect()
    loaded_rss = peak_rss_bytes()
    engine = Engine(checkpoint, max_batch=1, never_ends=True)
    frames: list[np.ndarray[Any, Any]] = []
    ticks = [time.perf_counter()]

    def watch(frame: np.ndarray[Any, Any], eos_rank: int) -> None:
        frames.append(frame)
        ticks.append(time.perf_counter())

    prefill_ms = _prefill_ms(checkpoint, _request(job, checkpoint, frames=1))
    engine.generate([_request(job, checkpoint, frames=job["frames"])], [watch])
    codes = torch.from_numpy(np.stack(frames))
    start = time.perf_counter()
    decoder.decode(codes)
    codec_s = time.perf_counter() - start
    return {
        "frames": len(frames),
        "prefill_ms": prefill_ms,
        "ms_per_frame": 1e3 * (ticks[-1] - ticks[1]) / (len(ticks) - 2),
        "codec_ms_per_frame": 1e3 * codec_s / len(frames),
        "versions": {"refprep": __version__, **versions("torch")},
        "load_s": loaded_s,
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
    start = time.perf_counter()
    talker.prefill(prompt.embeds[None], rotary, cache)
    return 1e3 * (time.perf_counter() - start)


def main() -> None:
    """Carry out one job."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    facts = run(job)
    save_file({"none": np.zeros(1, np.float32)}, f"{job['out']}.safetensors")
    Path(f"{job['out']}.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
