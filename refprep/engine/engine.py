"""Requests in, codes out: admit, run one frame of every request, look, repeat.

Start reading here. A request waits until a slot is free, its prompt is read into the slot (``runner.prefill``), and
every ``step`` writes one frame of each running request. Requests of any kind and length run side by side; what one gets
does not depend on the others.

Each row runs by itself: matrix libraries pick another order of additions for another number of rows, and a sum that differs
in its last bit is, sooner or later, another code. ``rows_together`` trades that for speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from refprep.engine.decoder import Rotary
from refprep.engine.model import TalkerCheckpoint
from refprep.engine.prompt import build_prompt
from refprep.engine.request import Frame, Running, Watch
from refprep.engine.runner import choose_first, complete_frame, prefill, suppressed_ids
from refprep.engine.slots import Slots
from refprep.errors import DeviceError, TextInputError
from refprep.types import GeneratedCodes, SamplingParams, SpeechRequest, StopReason

_BLOCK = 256
"""Room in slots grows by this many positions or frames, so that it grows seldom."""


class Engine:
    """Generates codes for requests.

    Attributes:
        checkpoint: Whose talker it runs.
        max_batch: Requests that run side by side; further ones wait.
        rows_together: Whether the rows of a batch share their matrix products.
        never_ends: EOS is never chosen, so that every request takes its whole budget: for measurements.
    """

    def __init__(
        self,
        checkpoint: TalkerCheckpoint,
        *,
        max_batch: int = 8,
        rows_together: bool = False,
        never_ends: bool = False,
    ) -> None:
        self.checkpoint = checkpoint
        self.max_batch = max_batch
        talker = checkpoint.talker
        self.rows_together = rows_together
        self.never_ends = never_ends
        self._talker = talker
        self._suppressed = suppressed_ids(talker, never_ends=never_ends)
        self._slots = Slots.empty(talker, slots=max_batch)
        self._rotary: Rotary = talker.rotary(0)
        self._waiting: list[Running] = []
        self._running: dict[int, Running] = {}
        self._done: dict[int, Running] = {}
        self._next_ticket = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return not self._waiting and not self._running

    @torch.inference_mode()
    def add(self, request: SpeechRequest, watch: Watch | None = None) -> int:
        """Take a request.

        Args:
            request: What to speak.
            watch: Sees every frame, may stop the request.

        Returns:
            A ticket for ``take``, ``frames`` and ``cancel``.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: Its text is empty, or too long for the context.
        """
        checkpoint = self.checkpoint
        prompt = build_prompt(request, checkpoint.config, self._talker, checkpoint.tokenizer)
        needed = prompt.embeds.shape[0] + request.max_frames
        limit = checkpoint.config.talker_config.max_position_embeddings
        if needed > limit:
            raise TextInputError(
                f"prompt and budget need {needed} positions, the model has {limit}",
                where="the text to speak",
                fix="Split the text, or lower the budget of frames.",
            )
        ticket = self._next_ticket
        self._next_ticket += 1
        self._waiting.append(Running(ticket, request, prompt, watch))
        return ticket

    @torch.inference_mode()
    def step(self) -> None:
        """Admit what fits, then write one frame of every running request.

        Raises:
            DeviceError: The device ran out of memory; every request in flight is cancelled.
        """
        try:
            self._admit()
            for rows in self._groups():
                self._run(rows)
        except torch.OutOfMemoryError as error:
            for running in (*self._waiting, *self._running.values()):
                running.finish(StopReason.CANCELLED)
            self._collect()
            raise DeviceError(
                "the device ran out of memory",
                where=str(self._talker.device),
                fix="Speak fewer texts at once, or use --device cpu.",
            ) from error
        self._collect()

    def cancel(self, ticket: int) -> None:
        """End a request that waits or runs; its frames so far stay."""
        for running in (*self._waiting, *self._running.values()):
            if running.ticket == ticket:
                running.finish(StopReason.CANCELLED)
        self._collect()

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
        tickets = [self.add(request, watch) for request, watch in pairs]
        while not all(ticket in self._done for ticket in tickets):
            self.step()
            if on_step is not None:
                on_step()
        return [self._done.pop(ticket).result() for ticket in tickets]

    def stream(self, request: SpeechRequest, watch: Watch | None = None) -> Iterator[Frame | GeneratedCodes]:
        """Frames as they are written, then the result. Closing the iterator cancels the request."""
        ticket = self.add(request, watch)
        running = self._waiting[-1]
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

    def _admit(self) -> None:
        free = [slot for slot in range(self.max_batch) if slot not in self._running]
        admitted = self._waiting[: len(free)]
        if not admitted:
            return
        del self._waiting[: len(free)]
        self._reserve(admitted)
        for slot, running in zip(free, admitted, strict=False):
            running.slot = slot
            self._running[slot] = running
        idle = SamplingParams(do_sample=False, subtalker_do_sample=False)
        sampling = [
            self._running[s].request.sampling if s in self._running else idle for s in range(self.max_batch)
        ]
        self._slots.set_sampling(sampling, self._talker.config)
        for running in admitted:
            self._read_prompt(running)

    def _reserve(self, admitted: Sequence[Running]) -> None:
        tokens = max(r.prompt.embeds.shape[0] + r.request.max_frames for r in admitted)
        frames = max(r.request.max_frames for r in admitted) + 1  # one more choice tells EOS from the budget
        steps = max(r.prompt.trailing.shape[0] for r in admitted)
        tokens = -(-tokens // _BLOCK) * _BLOCK
        self._slots.reserve(tokens=tokens, frames=-(-frames // _BLOCK) * _BLOCK, steps=steps)
        if self._rotary[0].shape[0] < tokens:
            self._rotary = self._talker.rotary(tokens)

    def _read_prompt(self, running: Running) -> None:
        assert running.slot is not None
        request = running.request
        self._slots.occupy(
            running.slot, running.prompt, request.sampling, seed=request.seed, frames=request.max_frames + 1
        )
        row = self._slots.rows(slice(running.slot, running.slot + 1))
        prefill(self._talker, row, running.prompt.embeds, self._rotary)

    def _groups(self) -> list[slice]:
        """Rows that run in one pass."""
        if self.rows_together:
            return [slice(0, max(self._running) + 1)] if self._running else []
        return [slice(slot, slot + 1) for slot in sorted(self._running)]

    def _run(self, rows: slice) -> None:
        """One frame of the requests in some slots."""
        here = {slot - rows.start: r for slot, r in self._running.items() if rows.start <= slot < rows.stop}
        slots = self._slots.rows(rows)
        first = choose_first(self._talker, slots, self._suppressed)
        chosen = first.tolist()
        for row, running in here.items():
            if chosen[row] == self._talker.config.codec_eos_token_id:
                running.finish(StopReason.EOS)
            elif len(running.frames) >= running.request.max_frames:
                running.finish(StopReason.MAX_FRAMES)
        alive = {row: running for row, running in here.items() if running.stop is None}
        if not alive:
            return
        limit = 1 + max(r.prompt.embeds.shape[0] + len(r.frames) for r in alive.values())
        complete_frame(
            self._talker, slots, first, self._rotary, limit=limit, is_exact=rows.stop - rows.start == 1
        )
        for row, running in alive.items():
            at = len(running.frames)
            frame = slots.codes[row, at].to("cpu", torch.int32).numpy().astype(np.int32)
            running.add(frame, int(slots.eos_ranks[row, at]))

    def _collect(self) -> None:
        for running in [r for r in (*self._waiting, *self._running.values()) if r.stop is not None]:
            if running.slot is None:
                self._waiting.remove(running)
            else:
                del self._running[running.slot]
                # An idle row is still computed beside running ones: it must point inside the tensors.
                self._slots.position[running.slot] = 0
                self._slots.frame[running.slot] = 0
            self._done[running.ticket] = running
