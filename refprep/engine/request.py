"""A request on its way: the one mutable record of the engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from refprep.engine.prompt import PromptPlan
from refprep.types import GeneratedCodes, SamplingParams, SpeechRequest, StopReason

Frame = npt.NDArray[np.int32]
"""(16,) int32, codebook 0 first."""

Watch = Callable[[Frame, int], StopReason | None]
"""Sees every frame and how many ids were likelier than EOS; a reason that it returns stops the request."""


@dataclass(slots=True, eq=False)
class Running:
    """A request between its arrival and its last frame.

    Attributes:
        ticket: Number that the caller knows it by.
        request: As it was asked.
        plan: Its prompt, laid out.
        watch: That may stop it early.
        slot: It is generated in; None while it waits.
        launched: Frames that were started; the host sees them later.
        frames: Written so far.
        eos_ranks: One a frame.
        stop: Why it ended; None while it runs.
    """

    ticket: int
    request: SpeechRequest
    plan: PromptPlan
    watch: Watch | None
    started_s: float = field(default_factory=time.perf_counter)
    slot: int | None = None
    launched: int = 0
    frames: list[Frame] = field(default_factory=list)
    eos_ranks: list[int] = field(default_factory=list)
    stop: StopReason | None = None
    first_frame_s: float | None = None
    wall_s: float = 0.0

    @property
    def sampling(self) -> SamplingParams:
        """Of the request; another kind was refused."""
        assert isinstance(self.request.sampling, SamplingParams)
        return self.request.sampling

    def add(self, frame: Frame, eos_rank: int) -> StopReason | None:
        """Take a frame; a reason of the watch ends the request with it."""
        if self.first_frame_s is None:
            self.first_frame_s = time.perf_counter() - self.started_s
        self.frames.append(frame)
        self.eos_ranks.append(eos_rank)
        return None if self.watch is None else self.watch(frame, eos_rank)

    def finish(self, reason: StopReason) -> None:
        """End it; the first reason stays."""
        if self.stop is None:
            self.stop = reason
            self.wall_s = time.perf_counter() - self.started_s

    def result(self) -> GeneratedCodes:
        """What was written, after the end."""
        assert self.stop is not None, "it still runs"
        groups = self.frames[0].shape[0] if self.frames else 0
        codes = np.stack(self.frames) if self.frames else np.zeros((0, groups), np.int32)
        ranks = np.asarray(self.eos_ranks, np.int32)
        return GeneratedCodes(codes, ranks, self.stop, self.request.seed, self.first_frame_s, self.wall_s)
