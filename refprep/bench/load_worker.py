"""Our engine under load, in a process of its own: ``... load_worker JOB.json``.

A job is what ``synth_engine.load_model`` reads, and

    task          "load": closed and open loops; "clone": voices in context, first and second request
    mode          of the frames: "eager", "compiled" or "graph"
    never_ends    EOS is never chosen: random weights, whose end means nothing
    frames        budget of a request; with ``never_ends`` its length
    sentences     that are spoken, in this order
    requests      of every loop
    concurrency   of the closed loops
    rps, seeds    of the open loops: every rate with every seed
    max_waiting   length of the queue, or null
    leave_ratio   of the clients, that go after their first chunk
    reference_frames, voices   of the clones
    keeps_audio   whether the closed loops' audio is written beside the facts
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file

from refprep import __version__
from refprep.bench.load import LoadDriver, LoadRun, Planned, poisson_arrivals
from refprep.bench.load_stats import row_document, sample_of, summarise_load
from refprep.bench.peers.qwen_tts_worker import peak_rss_bytes, versions
from refprep.bench.synth_engine import context_for, load_model, plain_voice, programs
from refprep.engine.scheduler import BUCKETS
from refprep.engine.speech import SpeechEngine
from refprep.engine.steps import StepMode
from refprep.errors import BackendError
from refprep.types import CloneMode, Samples, SpeechRequest, StopReason, VoicePrompt

WARM_UPS = 3
"""Requests before a window."""

REFERENCE_TEXT = (
    "On the first day of March the ferry came an hour early, and hardly anybody was at the pier to meet it."
)
"""About twelve seconds when it is read out without haste."""


class LoadBench:
    """One loaded engine and what is asked of it.

    Args:
        job: See the module.
    """

    def __init__(self, job: Mapping[str, Any]) -> None:
        start = time.perf_counter()
        self._job = job
        self._model = load_model(job)
        checkpoint, mode = self._model.checkpoint, StepMode(job["mode"])
        self._is_cuda = checkpoint.talker.device.type == "cuda"
        self._seed = int(job["seed"])
        self._plain = plain_voice(checkpoint.config)
        self.expected = StopReason.MAX_FRAMES if job["never_ends"] else StopReason.EOS
        longest = [self._request(text, 0) for text in job["sentences"]]
        if job["task"] == "clone":
            longest = [self._request(text, 0, voice=self._reference(0)) for text in job["sentences"]]
        self._context = context_for(checkpoint, mode, longest)
        self.max_batch = max([*job["concurrency"], 8 if job["rps"] else 1])
        self.engine = SpeechEngine(
            checkpoint,
            self._model.decoder,
            max_batch=self.max_batch,
            rows_together=True,
            never_ends=job["never_ends"],
            mode=mode,
            context=self._context,
            max_waiting=job["max_waiting"],
        )
        self._driver = LoadDriver(self.engine, keeps_audio=job["keeps_audio"])
        self.start_s = time.perf_counter() - start
        self.audio: dict[str, Samples] = {}

    @property
    def facts(self) -> dict[str, Any]:
        """Of the engine, for every measurement."""
        job = self._job
        return {
            "name": "refprep",
            "version": __version__,
            "flags": {
                "mode": job["mode"],
                "int8": bool(job.get("int8")),
                "rows_together": True,
                "max_batch": self.max_batch,
                "max_waiting": job["max_waiting"],
                "never_ends": job["never_ends"],
                "context": self._context,
                "threads": job["threads"],
            },
            "ramp": list(self.engine.ramp.rungs),
            "ramp_busy": list(self.engine.ramp.busy_rungs),
            "buckets": [n for n in BUCKETS if n <= self.max_batch],
            "client": "in process",
        }

    def closed(self, concurrency: int) -> dict[str, Any]:
        """A closed loop, after its warm-up."""
        start_s = self._warm_up(concurrency)
        planned = self._planned(f"c{concurrency}")
        load = {"kind": "closed", "c": concurrency, "rps": None, "seed": self._seed}
        run = self._watched(lambda: self._driver.closed_loop(planned, concurrency=concurrency))
        self.audio |= run.audio
        return self._measurement(load, run, len(planned), start_s)

    def open(self, rps: float, seed: int) -> dict[str, Any]:
        """An open loop, after a warm-up in which every slot is taken."""
        start_s = self._warm_up(self.max_batch)
        planned = self._planned(f"rps{rps:g}/s{seed}")
        arrivals = poisson_arrivals(len(planned), per_s=rps, seed=seed)
        load = {"kind": "open", "c": None, "rps": rps, "seed": seed}
        run = self._watched(lambda: self._driver.open_loop(planned, arrivals))
        return self._measurement(load, run, len(planned), start_s)

    def clones(self) -> list[dict[str, Any]]:
        """Voices in context: the first request of each, that reads the reference, and the second, that need not."""
        start = time.perf_counter()
        first_text, second_text = self._pair()
        for number in range(WARM_UPS):  # a voice that does not come again
            self._driver.closed_loop(
                [Planned("warm-up", self._request(first_text, number, voice=self._reference(0)))],
                concurrency=1,
            )
        start_s = self.start_s + time.perf_counter() - start
        cold: list[LoadRun] = []
        cached: list[LoadRun] = []
        for voice in range(1, self._job["voices"] + 1):
            for text, runs, name in ((first_text, cold, "cold"), (second_text, cached, "cached")):
                request = self._request(text, self._seed + voice, voice=self._reference(voice))
                planned = [Planned(f"{name}/voice{voice}", request)]
                runs.append(
                    self._watched(lambda planned=planned: self._driver.closed_loop(planned, concurrency=1))
                )
        found = []
        for name, runs in (("cold", cold), ("cached", cached)):
            rows = tuple(row for run in runs for row in run.rows)
            steps = tuple(s for run in runs for s in run.step_s)
            load = {
                "kind": "clone",
                "c": 1,
                "rps": None,
                "seed": self._seed,
                "reference": name,
                "reference_frames": self._job["reference_frames"],
            }
            found.append(self._measurement(load, LoadRun(rows, steps, {}), len(rows), start_s))
        for measurement in found:
            # requests of two kinds take turns, so the wall of one kind is not the window's
            measurement["results"]["audio_s_per_s"] = None
        return found

    def _measurement(
        self, load: Mapping[str, Any], run: LoadRun, count: int, start_s: float
    ) -> dict[str, Any]:
        results = summarise_load(run.rows, expected=self.expected, step_s=run.step_s)
        results |= {
            "start_s": round(start_s, 3),
            "rss_peak": peak_rss_bytes(),
            "vram_peak": torch.cuda.max_memory_allocated() if self._is_cuda else None,
        }
        rows = [row_document(row) for row in run.rows]
        return {
            "engine": self.facts,
            "load": {
                **load,
                "requests": count,
                "warmup": max(WARM_UPS, load["c"] or self.max_batch),
                "frames": self._job["frames"],
            },
            "results": results,
            "samples": [sample_of(row) for row in rows],
            "rows": rows,
        }

    def _watched(self, work: Any) -> LoadRun:  # noqa: ANN401  # a call without arguments
        """Run a window in which nothing may be compiled or captured."""
        made = programs(self.engine)
        gc.collect()
        if self._is_cuda:
            torch.cuda.reset_peak_memory_stats()
        run: LoadRun = work()
        if programs(self.engine) != made:
            raise BackendError(
                "a frame was compiled or captured within the measured window",
                where=f"mode {self._job['mode']}",
                fix="Ask for fewer --frames, so that the warm-up reaches every length.",
            )
        return run

    def _warm_up(self, concurrency: int) -> float:
        """As many requests as will run at once, and so long that they do; seconds spent, from loading on."""
        start = time.perf_counter()
        frames = self._job["frames"]
        if self._job["mode"] == StepMode.EAGER:
            frames = min(frames, concurrency + 2)
        texts = self._job["sentences"]
        planned = [
            Planned("warm-up", self._request(texts[n % len(texts)], n, frames=frames))
            for n in range(max(WARM_UPS, concurrency))
        ]
        LoadDriver(self.engine).closed_loop(planned, concurrency=concurrency)
        return self.start_s + time.perf_counter() - start

    def _planned(self, loop: str) -> list[Planned]:
        texts, leave_ratio = self._job["sentences"], self._job["leave_ratio"]
        leaves = np.random.Generator(np.random.PCG64(self._seed)).random(self._job["requests"]) < leave_ratio
        return [
            Planned(
                f"{loop}/{n % len(texts)}/{n // len(texts)}",
                self._request(texts[n % len(texts)], self._seed + n),
                leaves_after=1 if leaves[n] else None,
            )
            for n in range(self._job["requests"])
        ]

    def _request(
        self, text: str, seed: int, *, frames: int | None = None, voice: VoicePrompt | None = None
    ) -> SpeechRequest:
        return SpeechRequest(
            text,
            voice=voice or self._plain["voice"],
            speaker=self._plain["speaker"],
            sampling=self._model.checkpoint.sampling,
            seed=seed,
            max_frames=frames or self._job["frames"],
        )

    def _reference(self, number: int) -> VoicePrompt:
        """A made-up voice: random codes, which cost what real ones cost."""
        config = self._model.checkpoint.config.talker_config
        rng = np.random.Generator(np.random.PCG64(100 + number))
        entries = config.code_predictor_config.vocab_size
        shape = (self._job["reference_frames"], config.num_code_groups)
        return VoicePrompt(
            CloneMode.ICL,
            rng.standard_normal(config.hidden_size).astype(np.float32),
            REFERENCE_TEXT,
            rng.integers(0, entries, shape).astype(np.int32),
        )

    def _pair(self) -> tuple[str, str]:
        """Two sentences of the same length in tokens, or as near as there are."""
        tokenizer, texts = self._model.checkpoint.tokenizer, self._job["sentences"]
        lengths = sorted((len(tokenizer.target(text)[1]), text) for text in dict.fromkeys(texts))
        if len(lengths) == 1:
            return texts[0], texts[0]
        pairs = itertools.pairwise(lengths)
        (_, one), (_, other) = min(pairs, key=lambda pair: pair[1][0] - pair[0][0])
        return one, other


def run(job: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Samples]]:
    """Carry out a job: facts, and audio by name."""
    bench = LoadBench(job)
    measurements: Sequence[dict[str, Any]]
    if job["task"] == "clone":
        measurements = bench.clones()
    else:
        measurements = [bench.closed(c) for c in job["concurrency"]]
        measurements += [bench.open(rps, seed) for rps in job["rps"] for seed in job["seeds"]]
    return {"measurements": measurements, "versions": versions("torch")}, bench.audio


def main() -> None:
    """Carry out one job."""
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    facts, audio = run(job)
    save_file({**audio, "none": np.zeros(1, np.float32)}, f"{job['out']}.safetensors")
    Path(f"{job['out']}.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main()
