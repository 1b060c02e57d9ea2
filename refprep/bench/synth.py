"""Speed of synthesis: a frame's cost beside a peer, first audio and throughput under load, clones cold and cached.

Every part is measured in fresh processes. The JSON holds machine, versions, checkpoint and load beside every figure.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from refprep.bench.load_judge import open_judge
from refprep.bench.peers.process import run_own
from refprep.bench.synth_facts import model_facts, run_facts, weights_of
from refprep.bench.synth_frame import measure_frames
from refprep.bench.synth_plan import SynthPlan
from refprep.bench.synth_ratios import ratios_of
from refprep.engine.config import ModelKind, read_config
from refprep.errors import UsageError

LOAD_FRAMES = 86
"""6.88 s: what a sentence takes in published figures."""

REFERENCE_FRAMES = 150
"""12 s."""

_REAL_BUDGET = 750
_CPU_REQUESTS, _CPU_CLONE_FRAMES = 16, 12
_WORKER = "refprep.bench.load_worker"


def run_synth(
    plan: SynthPlan,
    *,
    asr: str | None = None,
    encoder: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure what a plan asks for.

    Args:
        plan: Of the run.
        asr: Recogniser that hears the closed loops' audio after the window; None: nobody does.
        encoder: Speaker encoder, likewise.
        tell: Told what is done.

    Returns:
        The document; every measurement has ``rows``, the requests one by one, which belong into a side file.

    Raises:
        WeightsMissing: A file of the checkpoint, or a model that is to listen, is not there.
        BackendError: It is no checkpoint of this engine, or a run fails.
        UsageError: Outputs are to be judged that hold no speech.
    """
    config = read_config(plan.checkpoint)
    has_speech = weights_of(plan.checkpoint) == "real" and config.kind is not ModelKind.BASE
    if (asr or encoder) and not has_speech:
        raise UsageError(
            "random weights, and voices made of random numbers, speak noise",
            where="--wer, --similarity",
            fix="Name a CustomVoice or VoiceDesign checkpoint with its published weights.",
        )
    judge = open_judge(asr, encoder, device=plan.device) if asr or encoder else None
    model = model_facts(plan.checkpoint, config)
    document: dict[str, Any] = {
        "schema_version": 1,
        **run_facts(plan.device),
        "checkpoint": plan.checkpoint.resolve().name,
        "kind": config.kind.value,
        "size": config.tts_model_size,
        "weights": model["weights"],
        "model": model,
        "dtype": plan.dtype,
        "dtypes": {"talker": plan.dtype, "predictor": plan.dtype, "codec": "float32", "ref_encoder": None},
        "frames": plan.frames,
        "threads": plan.threads,
        "runs": plan.runs,
        "device": plan.device,
        "sentences": {"sha256": plan.sentences.sha256, "count": len(plan.sentences.lines)},
        "engines": {},
        "peer_over_ours": {},
    }
    not_run: dict[str, str] = {}
    measurements: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="refprep-synth-") as name:
        work = Path(name)
        if "frame" in plan.parts:
            found = measure_frames(plan, work, tell)
            not_run |= found.pop("not_run")
            document |= found
        else:
            not_run["frame"] = "--parts leaves it out"
        for part in ("load", "clone"):
            if part not in plan.parts:
                not_run[part] = "--parts leaves it out"
            elif part == "clone" and config.kind is not ModelKind.BASE:
                not_run[part] = f"a {config.kind.value} checkpoint takes no reference"
            else:
                tell("requests under load" if part == "load" else "clones, cold and cached")
                job = load_job(plan, part, is_random=model["weights"] == "random")
                answer = run_own(_WORKER, job, work, timeout_s=plan.timeout_s)
                new = [_labelled(m, plan, model["weights"]) for m in answer.facts["measurements"]]
                if judge is not None and part == "load":
                    tell("listening to the outputs")
                    judge.judge(new, answer.tensors, plan.sentences.lines)
                measurements += new
    document["measurements"] = measurements
    document["not_run"] = not_run
    document |= ratios_of(model["shapes"], document["engines"], plan.peer, measurements)
    return document


def load_job(plan: SynthPlan, part: str, *, is_random: bool) -> dict[str, Any]:
    """What ``load_worker`` is asked for.

    Args:
        plan: Of the run.
        part: ``load`` or ``clone``.
        is_random: The weights are; their end means nothing, so every request takes its whole budget.
    """
    is_cpu = plan.device == "cpu"
    frames = (plan.frames or LOAD_FRAMES) if is_random else _REAL_BUDGET
    if part == "clone" and is_random and is_cpu:
        frames = min(frames, _CPU_CLONE_FRAMES)  # it is the first audio that counts
    most = len(plan.sentences.lines) * plan.repeats
    requests = plan.requests or (min(most, _CPU_REQUESTS) if is_cpu else most)
    steps = plan.steps or (("eager",) if is_cpu else ("graph",))
    return {
        "task": part,
        "checkpoint": str(plan.checkpoint.resolve()),
        "device": plan.device,
        "dtype": plan.dtype,
        "threads": plan.threads,
        "mode": next(step for step in ("graph", "eager", "compiled") if step in steps),
        "never_ends": is_random,
        "frames": frames,
        "sentences": list(plan.sentences.lines),
        "requests": requests,
        "concurrency": list(plan.concurrency) if part == "load" else [1],
        "rps": list(plan.rps) if part == "load" else [],
        "seeds": list(range(1, plan.seeds + 1)),
        "max_waiting": plan.max_waiting if part == "load" else None,
        "leave_ratio": plan.leave_ratio,
        "reference_frames": REFERENCE_FRAMES,
        "voices": plan.voices,
        "keeps_audio": plan.keeps_audio and part == "load",
        "seed": 1,
    }


def _labelled(measurement: Mapping[str, Any], plan: SynthPlan, weights: str) -> dict[str, Any]:
    load = {
        **measurement["load"],
        "sentences_sha256": plan.sentences.sha256,
        "repeats": plan.repeats,
    }
    return {**measurement, "weights": weights, "load": load}
