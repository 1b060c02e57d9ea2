"""Requests in, codes out: admit, run one frame of every request, look, repeat.

Start reading here. A request waits until the scheduler gives it a slot, its prompt is read into the slot, and every
``step`` writes one frame of each running request. Requests of any kind and length run side by side; what one gets does not
depend on the others.

On a CPU each row runs by itself: matrix libraries pick another order of additions for another number of rows, and a sum
that differs in its last bit is, sooner or later, another code. ``rows_together`` trades that for speed. On a GPU rows
always run together, and the host looks at a frame only after it has launched the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import torch

from refprep.engine.cuda_graph import CapturedStep, GraphRecorder, Recorder, usual_profiles
from refprep.engine.model import TalkerCheckpoint
from refprep.engine.prefill import BUCKETS, prompt_capacity, read_prompt
from refprep.engine.prefix_cache import PrefixCache
from refprep.engine.prompt import embed_prompt, plan_prompt
from refprep.engine.request import Frame, Running, Watch
from refprep.engine.runner import suppressed_ids
from refprep.engine.scheduler import Scheduler
from refprep.engine.slots import Slots, Stop
from refprep.engine.steps import CompiledStep, EagerStep, FrameStep, Report, StepMode
from refprep.errors import DeviceError, TextInputError, UsageError
from refprep.types import GeneratedCodes, SamplingParams, SpeechRequest, StopReason

_BLOCK = 256
"""Room in slots grows by this many positions or frames, so that it grows seldom."""

_IDLE = SamplingParams(do_sample=False, subtalker_do_sample=False)
_REASONS = {Stop.EOS: StopReason.EOS, Stop.BUDGET: StopReason.MAX_FRAMES}


@dataclass(frozen=True, slots=True, eq=False)
class _Launch:
    """A frame that was started: of whom, and what will be known of it."""

    running: dict[int, Running]
    report: Report


class EngineOptions(TypedDict, total=False):
    """What ``Engine`` takes beside a checkpoint, for those who hand it on; it says there what each means."""

    max_batch: int
    rows_together: bool
    never_ends: bool
    mode: StepMode | None
    context: int | None
    captures_ahead: bool
    max_waiting: int | None
    prefix_nbytes: int | None
    clock: Callable[[], float]


class Engine:
    """Generates codes for requests.

    Attributes:
        checkpoint: Whose talker it runs.
        scheduler: Who waits and who runs.
        prefixes: What the voices' prompts begin with, read before.
        max_batch: Requests that run side by side; further ones wait.
        rows_together: Whether the rows of a batch share their matrix products.
        never_ends: EOS is never chosen, so that every request takes its whole budget: for measurements.
        mode: How frames are run.
    """

    def __init__(
        self,
        checkpoint: TalkerCheckpoint,
        *,
        max_batch: int = 8,
        rows_together: bool = False,
        never_ends: bool = False,
        mode: StepMode | None = None,
        context: int | None = None,
        captures_ahead: bool = True,
        max_waiting: int | None = None,
        prefix_nbytes: int | None = None,
        record: Recorder | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Make room.

        Args:
            checkpoint: Loaded.
            max_batch: Slots.
            rows_together: Of a CPU; a GPU always runs rows together.
            never_ends: For measurements.
            mode: None captures graphs on a GPU and runs eagerly on a CPU.
            context: Positions to reserve in every slot, and to capture graphs for; None: 2048 with graphs, otherwise slots
                grow with what comes.
            captures_ahead: Make all graphs now, as a server should: one costs a third of a second when it is first needed.
            max_waiting: Requests that may wait; more are refused. None: any number.
            prefix_nbytes: Budget of ``prefixes``; None: what suits the device.
            record: Makes the graphs; None captures them on the GPU.
            clock: Of deadlines.
        """
        talker = checkpoint.talker
        is_gpu = talker.device.type == "cuda"
        self.checkpoint, self.max_batch, self.never_ends = checkpoint, max_batch, never_ends
        self.mode = StepMode(mode or (StepMode.GRAPH if is_gpu else StepMode.EAGER))
        if self.mode is StepMode.GRAPH and not is_gpu and record is None:
            raise UsageError(
                "CUDA graphs are captured on a GPU",
                where=f"step mode {self.mode.value}",
                fix="Use --step-mode eager or compiled, or --device cuda.",
            )
        self._looks_late = is_gpu or self.mode is StepMode.GRAPH
        self.rows_together = rows_together or self._looks_late
        self.scheduler = Scheduler(max_batch, max_waiting=max_waiting)
        self.prefixes = (
            PrefixCache.default(talker.device) if prefix_nbytes is None else PrefixCache(prefix_nbytes)
        )
        self._talker, self._clock = talker, clock
        self._buckets = BUCKETS if self._looks_late else None
        self._slots = Slots.empty(talker, slots=max_batch)
        self._step = self._frame_step(context, record, captures_ahead=captures_ahead)
        self._running: dict[int, Running] = {}  # by ticket, waiting ones among them
        self._done: dict[int, Running] = {}
        self._flying: list[_Launch] = []
        self._next_ticket = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return self.scheduler.is_idle

    @property
    def captures(self) -> int:
        """CUDA graphs captured so far; a measurement checks that it stays."""
        return self._step.captures if isinstance(self._step, CapturedStep) else 0

    @torch.inference_mode()
    def add(
        self,
        request: SpeechRequest,
        watch: Watch | None = None,
        *,
        deadline_s: float | None = None,
        client: Hashable = None,
    ) -> int:
        """Take a request.

        Args:
            request: What to speak.
            watch: Sees every frame, may stop the request.
            deadline_s: On the engine's clock; from then on it is cancelled. None: never.
            client: Whose it is: clients take turns.

        Returns:
            A ticket for ``take``, ``frames`` and ``cancel``.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: Its text is empty, or too long for the context.
            BusyError: As many wait as may.
        """
        checkpoint = self.checkpoint
        plan = plan_prompt(request, checkpoint.config, checkpoint.tokenizer)
        needed = plan.num_positions + request.max_frames
        limit = checkpoint.config.talker_config.max_position_embeddings
        if needed > limit:
            raise TextInputError(
                f"prompt and budget need {needed} positions, the model has {limit}",
                where="the text to speak",
                fix="Split the text, or lower the budget of frames.",
            )
        ticket = self._next_ticket
        self.scheduler.submit(ticket, now_s=self._clock(), deadline_s=deadline_s, client=client)
        self._next_ticket += 1
        self._running[ticket] = Running(ticket, request, plan, watch)
        return ticket

    @torch.inference_mode()
    def step(self) -> None:
        """Admit what fits, then write one frame of every running request.

        Raises:
            DeviceError: The device ran out of memory; every request in flight is cancelled.
        """
        try:
            for ticket in self.scheduler.expired(self._clock()):
                self._end(self._running[ticket], StopReason.CANCELLED)
            self._admit()
            launched = [self._launch(rows) for rows in self._groups()]
            if self._looks_late:
                launched, self._flying = self._flying, launched
            for launch in launched:
                self._look(launch)
        except torch.OutOfMemoryError as error:
            for running in list(self._running.values()):
                self.cancel(running.ticket)
            self._flying.clear()
            raise DeviceError(
                "the device ran out of memory",
                where=str(self._talker.device),
                fix="Speak fewer texts at once, or use --device cpu.",
            ) from error

    @torch.inference_mode()
    def cancel(self, ticket: int) -> None:
        """End a request that waits or runs; its frames so far stay."""
        running = self._running.get(ticket)
        if running is not None:
            self.scheduler.cancel(ticket, self._clock())
            self._end(running, StopReason.CANCELLED)

    def take(self, ticket: int) -> GeneratedCodes | None:
        """The result of a finished request, once; None while it runs."""
        running = self._done.pop(ticket, None)
        return None if running is None else running.result()

    def generate(
        self,
        requests: Sequence[SpeechRequest],
        watches: Sequence[Watch | None] | None = None,
        on_step: Callable[[], None] | None = None,
    ) -> list[GeneratedCodes]:
        """Generate all requests; results are in their order.

        Args:
            requests: Checked, all of them, before the first frame.
            watches: One a request, or None.
            on_step: Called after every frame.
        """
        pairs = zip(requests, watches or [None] * len(requests), strict=True)
        tickets: list[int] = []
        try:
            for request, watch in pairs:
                tickets.append(self.add(request, watch))
        except BaseException:
            for ticket in tickets:
                self.cancel(ticket)
                self.take(ticket)
            raise
        while not all(ticket in self._done for ticket in tickets):
            self.step()
            if on_step is not None:
                on_step()
        return [self._done.pop(ticket).result() for ticket in tickets]

    def stream(self, request: SpeechRequest, watch: Watch | None = None) -> Iterator[Frame | GeneratedCodes]:
        """Frames as they are written, then the result. Closing the iterator cancels the request."""
        ticket = self.add(request, watch)
        running = self._running[ticket]
        given = 0
        try:
            while running.stop is None:
                self.step()
                yield from running.frames[given:]
                given = len(running.frames)
        finally:
            self.cancel(ticket)
        result = self.take(ticket)
        assert result is not None
        yield result

    def _frame_step(self, context: int | None, record: Recorder | None, *, captures_ahead: bool) -> FrameStep:
        talker, slots = self._talker, self._slots
        suppressed = suppressed_ids(talker, never_ends=self.never_ends)
        if context is None and self.mode is StepMode.GRAPH:
            context = 2048
        if context is not None:
            slots.reserve(talker, tokens=context, frames=context, steps=context)
        if self.mode is StepMode.EAGER:
            return EagerStep(talker, slots, suppressed)
        if self.mode is StepMode.COMPILED:
            return CompiledStep(talker, slots, suppressed)
        slots.set_sampling([self.checkpoint.sampling] * self.max_batch, talker.config)
        step = CapturedStep(
            talker, slots, suppressed, usual=usual_profiles(slots), record=record or GraphRecorder()
        )
        if captures_ahead:
            with torch.inference_mode():
                step.capture()
        return step

    def _admit(self) -> None:
        admissions = self.scheduler.admit(self._clock())
        if admissions:
            admitted = [self._running[admission.ticket] for admission in admissions]
            self._reserve(admitted)
            for admission, running in zip(admissions, admitted, strict=True):
                running.slot = admission.slot
            self._set_sampling()
            for running in admitted:
                self._read_prompt(running)
        elif self.rows_together and (move := self.scheduler.compaction()) is not None:
            self._slots.move(*move)
            self.scheduler.move(*move)
            self._running[self.scheduler.running[move[1]]].slot = move[1]

    def _set_sampling(self) -> None:
        rows = [_IDLE] * self.max_batch
        for slot, ticket in self.scheduler.running.items():
            rows[slot] = self._running[ticket].sampling
        self._slots.set_sampling(rows, self._talker.config)

    def _reserve(self, admitted: Sequence[Running]) -> None:
        plans = [(r.plan, r.request.max_frames) for r in admitted]
        tokens = max(
            max(p.num_positions + frames + 1, prompt_capacity(p.num_positions, p.split, self._buckets))
            for p, frames in plans
        )
        frames = max(frames for _, frames in plans) + 1  # one more choice tells EOS from the budget
        self._slots.reserve(
            self._talker,
            tokens=-(-tokens // _BLOCK) * _BLOCK,
            frames=-(-frames // _BLOCK) * _BLOCK,
            steps=max(len(p.later) for p, _ in plans),
        )

    def _read_prompt(self, running: Running) -> None:
        assert running.slot is not None
        request, slots = running.request, self._slots
        prompt = embed_prompt(running.plan, self._talker, self.prefixes)
        slots.occupy(running.slot, prompt, running.sampling, seed=request.seed, frames=request.max_frames)
        row = slots.rows(slice(running.slot, running.slot + 1))
        hidden = read_prompt(
            self._talker, row.cache, prompt, slots.rotary, self.prefixes, buckets=self._buckets
        )
        row.hidden.copy_(hidden)

    def _groups(self) -> list[slice]:
        """Rows that run in one pass."""
        if self.rows_together:
            rows = self.scheduler.rows
            return [slice(0, min(self.scheduler.bucket(rows), self.max_batch))] if rows else []
        return [slice(slot, slot + 1) for slot in sorted(self.scheduler.running)]

    def _launch(self, rows: slice) -> _Launch:
        """Start one frame of the requests in some slots."""
        tickets = self.scheduler.running
        here = {
            slot - rows.start: self._running[tickets[slot]]
            for slot in range(rows.start, rows.stop)
            if slot in tickets
        }
        limit = 1 + max(r.plan.num_positions + r.launched for r in here.values())
        self._step(rows, limit=limit)
        for running in here.values():
            running.launched += 1
        return _Launch(here, Report(self._slots.report[rows]))

    def _look(self, launch: _Launch) -> None:
        """Take in what a frame brought; one that ended meanwhile does not get it."""
        if all(running.stop is not None for running in launch.running.values()):
            return
        numbers = launch.report.read()
        for row, running in launch.running.items():
            if running.stop is not None:
                continue
            stop, eos_rank = int(numbers[row, 0]), int(numbers[row, 1])
            reason = _REASONS.get(Stop(stop))
            if reason is None:
                reason = running.add(numbers[row, 2:].astype(np.int32), eos_rank)
            if reason is not None:
                self.scheduler.finish(running.ticket, self._clock())
                self._end(running, reason)

    def _end(self, running: Running, reason: StopReason) -> None:
        """It is out of the scheduler's books: out of its slot, too."""
        running.finish(reason)
        if running.slot is not None:
            self._slots.vacate(running.slot)
        self._done[running.ticket] = self._running.pop(running.ticket)
