"""What only a GPU can show of the engine, in under eight minutes: capture, equality, time. One JSON, resumable.

python examples/gpu_check.py OUTPUT.json [--work DIR] [--only STEP ...] [--limit-s 470] [--shapes real|tiny] [--device cuda]

Every step is a process of its own with its own limit, so that one that hangs or crashes costs nothing but itself. What is
known is in OUTPUT.json after every step; the next call goes on with what is missing. Weights are random: times hold,
speech does not. On a machine without a GPU `--device cpu --shapes tiny` runs the same steps, to see that they do.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # torch is imported by the steps: the parent process leaves the card alone
    from refprep.engine.engine import Engine, EngineOptions
    from refprep.engine.speech import SpeechEngine
    from refprep.types import SpeechRequest

Facts = dict[str, Any]
Codes = npt.NDArray[np.int32]

SEEDS = (0, 1, 2**63)
BUCKETS = (1, 8, 32)
FRAMES = 86  # 6.88 s, the length of a sentence in published measurements
REFERENCE_FRAMES = 150  # 12 s
TEXT = "The ferry leaves at seven, and the last bus waits for nobody on the quay."
OTHER = "A kettle sings in the next room while the rain writes upon the window."


@dataclass(frozen=True)
class Setting:
    """What all steps share."""

    work: Path
    device: str
    shapes: str

    @property
    def dtype(self) -> str:
        """Published checkpoints are bfloat16; a CPU computes in float32."""
        return "bfloat16" if self.device == "cuda" else "float32"

    @property
    def frames(self) -> int:
        """Shorter where it is only to be seen that it runs."""
        return FRAMES if self.shapes == "real" else 12

    @property
    def batches(self) -> tuple[int, ...]:
        """Likewise."""
        return BUCKETS if self.shapes == "real" else (1, 4)

    @property
    def repeats(self) -> int:
        """Likewise."""
        return 200 if self.shapes == "real" else 5


# --- steps: each runs in its own process and returns what it found


def device(setting: Setting) -> Facts:
    """Who measures: versions, the card, and what a copy and a product reach on it."""
    import torch

    facts: Facts = {"host": platform.platform(), "torch": torch.__version__, "cuda": torch.version.cuda}
    if setting.device == "cuda":
        card = torch.cuda.get_device_properties(0)
        facts |= {
            "gpu": card.name,
            "memory_bytes": card.total_memory,
            "capability": f"{card.major}.{card.minor}",
        }
    size = 1 << (28 if setting.device == "cuda" else 20)
    source = torch.empty(size, dtype=torch.float32, device=setting.device)
    target = torch.empty_like(source)
    facts["copy_gb_per_s"] = 8e-9 * size / (1e-3 * median_ms(lambda: target.copy_(source), setting, 20))
    side = 8192 if setting.device == "cuda" else 256
    square = torch.randn(side, side, device=setting.device).to(torch.bfloat16)
    facts["matmul_tflop_per_s"] = 2e-12 * side**3 / (1e-3 * median_ms(lambda: square @ square, setting, 20))
    return facts


def write(setting: Setting, size: str) -> Facts:
    """Random checkpoints of the published shapes."""
    from refprep.engine.random_checkpoint import write_random_checkpoint
    from refprep.engine.random_checkpoint.shapes import REAL, TINY

    shapes = REAL if setting.shapes == "real" else TINY
    write_random_checkpoint(setting.work / size, "base", size, shapes=shapes)
    return {}


def device_equals_cpu(setting: Setting) -> Facts:
    """A tiny model in float32: the same codes on the device as on the CPU, drawn and greedy."""
    from refprep.engine.random_checkpoint import write_random_checkpoint
    from refprep.types import GREEDY

    folder = setting.work / "tiny"
    write_random_checkpoint(folder, "base", "0b6")
    requests = [request(folder, seed=s, frames=12) for s in SEEDS]
    requests.append(replace(requests[0], sampling=GREEDY))
    there, here = (codes_of(engine(folder, kind, "float32"), requests) for kind in (setting.device, "cpu"))
    return {"equal": [bool(np.array_equal(a, b)) for a, b in zip(there, here, strict=True)]}


def equality(setting: Setting, size: str) -> Facts:
    """Replay equals the eager frames; codes are the same in every bucket, slot and company."""
    import torch

    from refprep.engine.steps import StepMode

    folder = setting.work / size
    requests = [request(folder, seed=s, frames=setting.frames) for s in SEEDS]
    crowd = [request(folder, seed=100 + n, frames=setting.frames) for n in range(max(setting.batches) - 3)]
    runs = {
        "eager": codes_of(
            engine(folder, setting.device, setting.dtype, mode=StepMode.EAGER, max_batch=4), requests
        ),
    }
    start = time.perf_counter()
    captured = engine(folder, setting.device, setting.dtype, max_batch=max(setting.batches))
    facts: Facts = {"capture_and_load_s": time.perf_counter() - start, "captures": captured.captures}
    runs["alone"] = [codes_of(captured, [one])[0] for one in requests]
    runs["together"] = codes_of(captured, requests)
    runs["crowded"] = codes_of(captured, [*crowd, *requests])[len(crowd) :]
    for name, codes in runs.items():
        pairs = list(zip(codes, runs["alone"], strict=True))
        facts[f"{name}_equal"] = [bool(np.array_equal(a, b)) for a, b in pairs]
        # Where a bf16 sum falls another way the draws part: how far they went together.
        facts[f"{name}_first_difference"] = [first_difference(a, b) for a, b in pairs]
    if setting.device == "cuda":
        facts["memory_peak_bytes"] = torch.cuda.max_memory_allocated()
    return facts


def frame_time(setting: Setting, size: str) -> Facts:
    """Milliseconds a frame, eager and replayed, by batch."""
    from refprep.engine.steps import StepMode

    facts: Facts = {}
    folder = setting.work / size
    for mode in (StepMode.EAGER, None):
        for batch in setting.batches:
            made = engine(folder, setting.device, setting.dtype, mode=mode, max_batch=batch, never_ends=True)
            for n in range(batch):
                made.add(request(folder, seed=n, frames=setting.repeats + 20))
            for _ in range(batch + 10):  # prompts are read one a frame
                made.step()
            runs = 40 if mode and setting.shapes == "real" else setting.repeats
            times = [median_ms(made.step, setting, runs) for _ in range(2)]
            facts[f"{'eager' if mode else 'default'}_{batch}"] = {
                "ms_per_frame": times,
                "captures": made.captures,
            }
    return facts


def codec(setting: Setting, size: str) -> Facts:
    """The codec's milliseconds a frame, by chunk and batch; any partition gives the same samples."""
    import torch

    from refprep.engine.codec import load_codec_decoder

    decoder = load_codec_decoder(setting.work / size / "speech_tokenizer", setting.device)
    generator = torch.Generator().manual_seed(0)
    codes = torch.randint(0, 2048, (1, 50, 16), generator=generator).to(setting.device)
    whole = decoder.step(codes, decoder.fresh())
    facts: Facts = {}
    for parts in ((1,) * 50, (1, 2, 4, 8, 12, 12, 11), (25, 25)):
        state = decoder.fresh()
        joined = torch.cat(
            [decoder.step(part, state) for part in torch.split(codes, list(parts), dim=1)], dim=1
        )
        facts[f"lsb_off_in_{len(parts)}_parts"] = float((joined - whole).abs().max()) * 32768
    for chunk in (1, 4, 12):
        for batch in setting.batches:
            state, some = decoder.fresh(batch), codes[:, :chunk].expand(batch, -1, -1)
            spent_ms = median_ms(lambda s=some, st=state: decoder.step(s, st), setting, 10)  # type: ignore[misc]
            facts[f"ms_per_frame_chunk_{chunk}_batch_{batch}"] = spent_ms / chunk / batch
    return facts


def first_audio(setting: Setting, size: str) -> Facts:
    """Milliseconds to the first samples of a clone in context: the first request of a voice, and later ones."""
    speech = speech_engine(setting, size, max_batch=1)
    folder = setting.work / size
    list(speech.stream(request(folder, seed=9, frames=4)))  # kernels and workspaces
    times: list[float] = []
    for n in range(21 if setting.shapes == "real" else 3):
        asked = replace(clone_request(folder, seed=n, frames=8), text=TEXT if n % 2 else OTHER)
        start = time.perf_counter()
        stream = speech.open(asked)
        while not stream.take():
            speech.step()
        times.append(1e3 * (time.perf_counter() - start))
        stream.cancel()
    later = sorted(times[1:])
    return {"first_ms": times[0], "cached_p50_ms": statistics.median(later), "cached_max_ms": later[-1]}


def throughput(setting: Setting, size: str) -> Facts:
    """Closed loop: seconds of audio a second, and whether all of it came."""
    facts: Facts = {}
    for batch in setting.batches:
        speech = speech_engine(setting, size, max_batch=batch, never_ends=True)
        folder = setting.work / size
        todo = [clone_request(folder, seed=n, frames=setting.frames) for n in range(3 * batch)]
        speech.speak(todo[:batch])
        start = time.perf_counter()
        running = [speech.open(todo.pop()) for _ in range(batch)]
        firsts_s: list[float] = []
        samples = frames = requests = 0
        while running:
            speech.step()
            for stream in list(running):
                samples += sum(len(part) for part in stream.take())
                if stream.generated is not None:
                    running.remove(stream)
                    frames += stream.generated.num_frames
                    requests += 1
                    firsts_s.append(stream.first_audio_s or 0.0)
                    if todo:
                        running.append(speech.open(todo.pop()))
        wall_s = time.perf_counter() - start
        facts[str(batch)] = {
            "audio_s_per_s": samples / 24_000 / wall_s,
            "rtf": wall_s * batch / (samples / 24_000),
            "first_audio_p50_ms": 1e3 * statistics.median(firsts_s),
            "requests": requests,
            "is_complete": samples == 1920 * frames == 1920 * setting.frames * requests,
        }
    return facts


def soak(setting: Setting, size: str) -> Facts:
    """Random arrivals, lengths and cancellations for a while: no slot leaks, no sample is missing."""
    speech = speech_engine(setting, size, max_batch=max(setting.batches), never_ends=True)
    folder = setting.work / size
    numbers = np.random.default_rng(0)
    streams: list[Any] = []
    samples: dict[int, int] = {}
    asked = cancelled = bad = 0
    until_s = time.perf_counter() + (30 if setting.shapes == "real" else 3)
    while time.perf_counter() < until_s or streams:
        if (
            time.perf_counter() < until_s
            and len(streams) < 2 * max(setting.batches)
            and numbers.random() < 0.3
        ):
            make = clone_request if numbers.random() < 0.5 else request
            streams.append(speech.open(make(folder, seed=asked, frames=int(numbers.integers(1, 60)))))
            asked += 1
        speech.step()
        for stream in list(streams):
            samples[id(stream)] = samples.get(id(stream), 0) + sum(len(part) for part in stream.take())
            if not stream.is_done and numbers.random() < 0.002:
                stream.cancel()
                cancelled += 1
                samples[id(stream)] += sum(len(part) for part in stream.take())
            if stream.is_done:
                bad += samples.pop(id(stream)) != 1920 * stream.generated.num_frames
                streams.remove(stream)
    return {"requests": asked, "cancelled": cancelled, "incomplete": bad, "is_idle": speech.is_idle}


def steps() -> dict[str, tuple[float, Callable[[Setting], Facts]]]:
    """Name -> (limit in seconds, what runs)."""

    def of(step: Callable[[Setting, str], Facts], size: str) -> Callable[[Setting], Facts]:
        return lambda setting: step(setting, size)

    return {
        "device": (40, device),
        "write-0b6": (60, of(write, "0b6")),
        "device-equals-cpu": (40, device_equals_cpu),
        "equality-0b6": (60, of(equality, "0b6")),
        "frame-0b6": (70, of(frame_time, "0b6")),
        "codec": (40, of(codec, "0b6")),
        "first-audio-0b6": (40, of(first_audio, "0b6")),
        "throughput-0b6": (70, of(throughput, "0b6")),
        "write-1b7": (90, of(write, "1b7")),
        "frame-1b7": (70, of(frame_time, "1b7")),
        "first-audio-1b7": (40, of(first_audio, "1b7")),
        "throughput-1b7": (70, of(throughput, "1b7")),
        "equality-1b7": (60, of(equality, "1b7")),
        "soak-0b6": (60, of(soak, "0b6")),
    }


# --- what the steps are made of


def engine(folder: Path, device: str, dtype: str, **options: Unpack[EngineOptions]) -> Engine:
    """A talker alone."""
    import torch

    from refprep.engine.engine import Engine
    from refprep.engine.model import DTYPES, load_checkpoint

    checkpoint = load_checkpoint(folder, device=torch.device(device), dtype=DTYPES[dtype])
    context = 512 if device == "cuda" else None
    own: EngineOptions = {"context": context, "rows_together": True, **options}
    return Engine(checkpoint, **own)


def speech_engine(setting: Setting, size: str, **options: Unpack[EngineOptions]) -> SpeechEngine:
    """A talker and its codec."""
    from refprep.engine.speech import load_speech_engine

    context = 512 if setting.device == "cuda" else None
    own: EngineOptions = {"context": context, "rows_together": True, **options}
    return load_speech_engine(setting.work / size, device=setting.device, dtype=setting.dtype, **own)


def request(folder: Path, *, seed: int, frames: int) -> SpeechRequest:
    """A voice known by its speaker embedding."""
    from refprep.types import CloneMode, SpeechRequest, VoicePrompt

    voice = VoicePrompt(CloneMode.X_VECTOR, embedding(folder))
    return SpeechRequest(TEXT, voice=voice, seed=seed, max_frames=frames)


def clone_request(folder: Path, *, seed: int, frames: int) -> SpeechRequest:
    """A voice in context: 12 s of reference, encoded before."""
    from refprep.types import CloneMode, SpeechRequest, VoicePrompt

    codes = np.random.default_rng(4).integers(0, 2048, (REFERENCE_FRAMES, 16)).astype(np.int32)
    voice = VoicePrompt(CloneMode.ICL, embedding(folder), f"{OTHER} {TEXT}", codes)
    return SpeechRequest(TEXT, voice=voice, seed=seed, max_frames=frames)


def embedding(folder: Path) -> npt.NDArray[np.float32]:
    """Of nobody, as wide as the talker."""
    width = json.loads((folder / "config.json").read_text("utf-8"))["talker_config"]["hidden_size"]
    vector: npt.NDArray[np.float32] = np.random.default_rng(3).standard_normal(width).astype(np.float32)
    return vector


def codes_of(made: Engine, requests: Sequence[SpeechRequest]) -> list[Codes]:
    """Codes of requests that run side by side."""
    return [found.codes for found in made.generate(requests)]


def first_difference(one: Codes, other: Codes) -> int | None:
    """Frame at which two runs part; None where they do not."""
    least = min(len(one), len(other))
    apart = np.flatnonzero((one[:least] != other[:least]).any(axis=1))
    if len(apart):
        return int(apart[0])
    return None if len(one) == len(other) else least


def median_ms(run: Callable[[], Any], setting: Setting, repeats: int) -> float:
    """Median wall time of a call, the device's work included."""
    import torch

    run()
    times = []
    for _ in range(min(repeats, setting.repeats) if setting.shapes != "real" else repeats):
        if setting.device == "cuda":
            torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        if setting.device == "cuda":
            torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


# --- running them


def main() -> int:
    """Run what is missing, write what is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument(
        "--work", type=Path, help="keeps the random checkpoints; a temporary folder by default"
    )
    parser.add_argument(
        "--only", nargs="+", choices=list(steps()), help="these steps, also if they are known"
    )
    parser.add_argument("--limit-s", type=float, default=470.0, help="for all steps together")
    parser.add_argument("--shapes", choices=("real", "tiny"), default="real")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        setting = Setting(options.work, options.device, options.shapes)
        print(json.dumps(steps()[options.step][1](setting)))
        return 0
    import torch

    if options.device == "cuda" and not torch.cuda.is_available():
        print(
            "no CUDA device is here; `--device cpu --shapes tiny` shows that the steps run", file=sys.stderr
        )
        return 3
    with tempfile.TemporaryDirectory(prefix="refprep-gpu-check-") as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        return run_steps(options, work)


def run_steps(options: argparse.Namespace, work: Path) -> int:
    """Each in a process of its own."""
    found: dict[str, Facts] = {}
    if options.output.exists():
        found = json.loads(options.output.read_text("utf-8"))
    until_s = time.monotonic() + options.limit_s
    for name, (limit_s, _) in steps().items():
        is_due = name in options.only if options.only else not found.get(name, {}).get("ok")
        is_written = name.startswith("write-") and (work / name.removeprefix("write-")).is_dir()
        if is_written or not (is_due or (name.startswith("write-") and not options.only)):
            continue
        left_s = min(limit_s, until_s - time.monotonic())
        found[name] = run_step(name, options, work, left_s) if left_s > 5 else {"error": "no time was left"}
        options.output.write_text(json.dumps(found, indent=2), encoding="utf-8")
        print(f"{name:20} {json.dumps(found[name])}", flush=True)
    return 0 if all(facts.get("ok") for facts in found.values()) else 1


def run_step(name: str, options: argparse.Namespace, work: Path, limit_s: float) -> Facts:
    """What a step found, or why it did not."""
    command = [sys.executable, __file__, str(options.output), "--step", name, "--work", str(work)]
    command += ["--device", options.device, "--shapes", options.shapes]
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"it did not end within {limit_s:.0f} s"}
    spent = {"wall_s": round(time.monotonic() - start, 1)}
    if done.returncode:
        return {"error": "\n".join(done.stderr.strip().splitlines()[-6:]), **spent}
    return {"ok": True, **spent, **json.loads(done.stdout.strip().splitlines()[-1])}


if __name__ == "__main__":
    sys.exit(main())
