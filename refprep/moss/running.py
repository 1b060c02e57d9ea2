"""A request on its way: the one mutable record of the engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from refprep.moss.delay_state import DelayState
from refprep.moss.pattern import Codes
from refprep.moss.prompt import MossPrompt
from refprep.moss.request import MossCodes, MossRequest, MossSampling
from refprep.moss.sampling import Uniforms
from refprep.types import StopReason

Watch = Callable[[Codes, int], StopReason | None]
"""Sees every new frame, (n_vq,) int32, and the odds against an end when it was begun; a reason stops the request."""


@dataclass(slots=True, eq=False)
class Running:
    """A request between its arrival and its last frame.

    Attributes:
        ticket: Number that the caller knows it by.
        request: As it was asked.
        sampling: That holds.
        prompt: Laid out.
        n_vq: Codes of a frame.
        max_rows: Steps at most.
        uniforms: Its random numbers.
        watch: That may stop it early.
        state: Of Delay; None in Local.
        slot: It is generated in; None while it waits.
        steps: Rows written so far.
        is_pending: The last row was written and not read yet.
        context: Frames of the prefix, as far as they are whole.
        frames: New ones, whole.
        odds: Against an end, one for every frame that was begun.
        segments: Of ``frames``.
        cut_frames: Begun and not completed, known at the end.
        stop: Why it ended; None while it runs.
    """

    ticket: int
    request: MossRequest
    sampling: MossSampling
    prompt: MossPrompt
    n_vq: int
    max_rows: int
    uniforms: Uniforms
    watch: Watch | None
    state: DelayState | None
    started_s: float = field(default_factory=time.perf_counter)
    slot: int | None = None
    steps: int = 0
    is_pending: bool = False
    context: list[Codes] = field(default_factory=list)
    frames: list[Codes] = field(default_factory=list)
    odds: list[int] = field(default_factory=list)
    segments: tuple[int, ...] = ()
    cut_frames: int = 0
    stop: StopReason | None = None
    first_frame_s: float | None = None
    wall_s: float = 0.0

    def add(self, frame: Codes) -> StopReason | None:
        """Take a whole frame: the prefix's first, then new ones; a reason of the watch ends the request with it."""
        if len(self.context) < self.prompt.prefix_frames:
            self.context.append(frame)
            return None
        if self.first_frame_s is None:
            self.first_frame_s = time.perf_counter() - self.started_s
        self.frames.append(frame)
        return None if self.watch is None else self.watch(frame, self.odds[len(self.frames) - 1])

    def finish(self, reason: StopReason) -> None:
        """End it; the first reason stays."""
        if self.stop is None:
            self.stop = reason
            self.wall_s = time.perf_counter() - self.started_s

    def result(self) -> MossCodes:
        """What was written, after the end."""
        assert self.stop is not None, "it still runs"
        odds = np.asarray(self.odds[: len(self.frames)], np.int32)
        return MossCodes(
            self._stacked(self.frames),
            odds,
            self.stop,
            self.request.seed,
            self.first_frame_s,
            self.wall_s,
            context=self._stacked(self.context),
            segment_frames=self.segments,
            cut_frames=self.cut_frames,
        )

    def _stacked(self, frames: list[Codes]) -> Codes:
        return np.stack(frames) if frames else np.zeros((0, self.n_vq), np.int32)
