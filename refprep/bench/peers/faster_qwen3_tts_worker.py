"""Runs the ``faster-qwen3-tts`` package, in its own environment: ``PYTHON -I faster_qwen3_tts_worker.py JOB.json``.

It wraps the official package in CUDA graphs, for one stream, and runs on NVIDIA GPUs alone. Jobs are those of
``qwen_tts_worker``, the task "synth"; that script lies beside this one, and nothing else of refprep is imported.

Its public calls are timed as they are: texts are split by its own tokenizer, and the end is put off by asking for as many
frames at least as at most. The first call captures the graphs: it belongs to the start.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

CHUNK_FRAMES = 8
"""Of audio that it gives at once: its own default for streaming."""


class Peer:
    """The package with one checkpoint.

    Attributes:
        torch: Its torch.
        model: Its wrapper.
    """

    def __init__(self, job: dict[str, Any], tools: Any) -> None:  # noqa: ANN401  # the script beside this one
        self.job = job
        self.torch: Any = importlib.import_module("torch")
        self.torch_rss = tools.peak_rss_bytes()
        package: Any = importlib.import_module("faster_qwen3_tts")
        if job.get("device", "cpu") == "cpu":
            sys.exit(f"{tools.UNFIT}it needs CUDA, and the run is on the CPU")
        if not self.torch.cuda.is_available():
            sys.exit(f"{tools.UNFIT}it needs CUDA, and its torch sees no CUDA device")
        safetensors: Any = importlib.import_module("safetensors.torch")
        self.save = safetensors.save_file
        self.inputs: dict[str, Any] = safetensors.load_file(job["tensors"])
        self.dtype = getattr(self.torch, job["dtype"])
        start = time.perf_counter()
        self.model = package.FasterQwen3TTS.from_pretrained(
            job["checkpoint"], device=job["device"], dtype=self.dtype, attn_implementation="sdpa"
        )
        self.load_s = time.perf_counter() - start

    def stream(self) -> Any:  # noqa: ANN401  # the package's generator
        """The public streaming call of the job's case: (audio, rate, times) chunk by chunk."""
        (case,) = self.job["cases"]
        (row,) = case["rows"]
        frames = self.job["frames"]
        common = {
            "text": row["text"],
            "language": row["language"] or "Auto",
            "max_new_tokens": frames,
            "min_new_tokens": frames,
            "chunk_size": CHUNK_FRAMES,
        }
        if row["voice"]:
            return self.model.generate_voice_clone_streaming(
                voice_clone_prompt=self._voice(row), non_streaming_mode=case["whole_text"], **common
            )
        if row["speaker"]:
            return self.model.generate_custom_voice_streaming(
                speaker=row["speaker"], instruct=row["instruct"], **common
            )
        return self.model.generate_voice_design_streaming(instruct=row["instruct"] or "", **common)

    def _voice(self, row: dict[str, Any]) -> dict[str, Any]:
        """A prompt made beforehand, as it takes them."""
        if row["voice"] != "xvec":
            raise ValueError(f"voice {row['voice']!r} is not timed")
        embedding = self.inputs["embedding"].to(self.job["device"], self.dtype)
        return {
            "ref_code": [None],
            "ref_spk_embedding": [embedding],
            "x_vector_only_mode": [True],
            "icl_mode": [False],
        }

    def settle(self) -> float:
        """The time, when everything that was launched is done."""
        self.torch.cuda.synchronize()
        return time.perf_counter()


def run_synth(peer: Peer) -> dict[str, Any]:
    """Times of one generation, after one that captures."""
    start = time.perf_counter()
    for _ in peer.stream():
        pass
    warm_up_s = peer.settle() - start
    peer.torch.manual_seed(peer.job["seed"])
    times: list[dict[str, Any]] = []
    first_s: float | None = None
    start = peer.settle()
    for _audio, _rate, told in peer.stream():
        if first_s is None:
            first_s = peer.settle() - start
        times.append(told)
    whole_s = peer.settle() - start
    frames = sum(told["chunk_steps"] for told in times)
    prefill_ms = times[0]["prefill_ms"]
    decode_ms = sum(told["decode_ms"] for told in times)
    return {
        "frames": frames,
        "prefill_ms": prefill_ms,
        "ms_per_frame": decode_ms / frames,
        # all that is neither prefill nor frames: mostly the codec, with 25 frames of context for every chunk
        "codec_ms_per_frame": max(0.0, 1e3 * whole_s - prefill_ms - decode_ms) / frames,
        "first_audio_ms": None if first_s is None else 1e3 * first_s,
        "chunk_frames": CHUNK_FRAMES,
        "load_s": peer.load_s,
        "start_s": peer.load_s + warm_up_s,
    }


def main() -> None:
    """Carry out one job."""
    sys.path.append(str(Path(__file__).parent))
    tools: Any = importlib.import_module("qwen_tts_worker")
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    try:
        peer = Peer(job, tools)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{tools.MISSING}{error.name}\n")
        raise SystemExit(3) from None
    loaded_rss = tools.peak_rss_bytes()
    facts = run_synth(peer)
    facts |= {
        "versions": tools.versions("faster-qwen3-tts", "qwen-tts", "torch"),
        "texts": [],
        "torch_rss_bytes": peer.torch_rss,
        "loaded_rss_bytes": loaded_rss,
        "peak_rss_bytes": tools.peak_rss_bytes(),
    }
    peer.save({"none": peer.torch.zeros(1)}, f"{job['out']}.safetensors")
    Path(f"{job['out']}.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
