"""Requests in, codes out: admit, write one row of every request, look, repeat.

Start reading here. A request waits until the scheduler gives it a slot, its prompt is read into the slot, and every
``step`` writes one row of each running request. A frame leaves as soon as all its codes are there: at once in Local,
n_vq - 1 rows after its first code in Delay. What a request gets does not depend on the others.

On a CPU each row runs by itself: matrix libraries pick another order of additions for another number of rows, and a sum
that differs in its last bit is, sooner or later, another code. On a GPU rows run together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence

import torch

from refprep.engine.scheduler import Scheduler
from refprep.errors import DeviceError, TextInputError
from refprep.moss.delay import DelayModel
from refprep.moss.delay_writer import DelayWriter
from refprep.moss.load import MossCheckpoint
from refprep.moss.local_writer import LocalWriter
from refprep.moss.pattern import Codes
from refprep.moss.prompt import build_prompt
from refprep.moss.request import MossCodes, MossRequest
from refprep.moss.running import Running, Watch
from refprep.moss.sampling import Uniforms
from refprep.moss.writer import Writer
from refprep.types import StopReason


class MossEngine:
    """Generates codes for requests.

    Attributes:
        checkpoint: Whose generator it runs.
        scheduler: Who waits and who runs.
        max_batch: Requests that run side by side; further ones wait.
        rows_together: Whether the rows of a batch share their matrix products.
    """

    def __init__(
        self,
        checkpoint: MossCheckpoint,
        *,
        max_batch: int = 8,
        rows_together: bool = False,
        max_waiting: int | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Make room.

        Args:
            checkpoint: Loaded.
            max_batch: Slots.
            rows_together: Of a CPU; a GPU always runs rows together.
            max_waiting: Requests that may wait; more are refused. None: any number.
            clock: Of deadlines.
        """
        model = checkpoint.model
        self.checkpoint, self.max_batch = checkpoint, max_batch
        self.rows_together = rows_together or model.device.type == "cuda"
        self.scheduler = Scheduler(max_batch, max_waiting=max_waiting)
        self._clock, self._device = clock, model.device
        self._writer: Writer
        with torch.inference_mode():
            if isinstance(model, DelayModel):
                self._writer = DelayWriter(model, slots=max_batch)
            else:
                self._writer = LocalWriter(model, slots=max_batch)
        self._running: dict[int, Running] = {}  # by ticket, waiting ones among them
        self._done: dict[int, Running] = {}
        self._next_ticket = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return self.scheduler.is_idle

    def add(
        self,
        request: MossRequest,
        watch: Watch | None = None,
        *,
        deadline_s: float | None = None,
        client: Hashable = None,
    ) -> int:
        """Take a request.

        Args:
            request: What to speak.
            watch: Sees every new frame, may stop the request.
            deadline_s: On the engine's clock; from then on it is cancelled. None: never.
            client: Whose it is: clients take turns.

        Returns:
            A ticket for ``take``, ``frames``, ``context`` and ``cancel``.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: Its text is empty, holds a control token, or is too long for the context.
            BusyError: As many wait as may.
        """
        config = self.checkpoint.config
        prompt = build_prompt(request, config, self.checkpoint.tokenizer)
        rows = self._writer.rows_needed(request)
        limit = config.backbone.max_position_embeddings
        if len(prompt) + rows > limit:
            raise TextInputError(
                f"prompt and budget need {len(prompt) + rows} positions, the model has {limit}",
                where="the text to speak",
                fix="Split the text, or lower the budget of frames.",
            )
        ticket = self._next_ticket
        self.scheduler.submit(ticket, now_s=self._clock(), deadline_s=deadline_s, client=client)
        self._next_ticket += 1
        self._running[ticket] = Running(
            ticket=ticket,
            request=request,
            sampling=request.sampling or self.checkpoint.sampling,
            prompt=prompt,
            n_vq=config.n_vq,
            max_rows=rows,
            uniforms=Uniforms(request.seed, config.n_vq),
            watch=watch,
            state=None,
        )
        return ticket

    @torch.inference_mode()
    def step(self) -> None:
        """Admit what fits, then write one row of every running request.

        Raises:
            DeviceError: The device ran out of memory; every request in flight is cancelled.
        """
        try:
            for ticket in self.scheduler.expired(self._clock()):
                self._end(self._running[ticket], StopReason.CANCELLED)
            self._admit()
            for rows in self._groups():
                self._write(rows)
        except torch.OutOfMemoryError as error:
            for running in list(self._running.values()):
                self.cancel(running.ticket)
            raise DeviceError(
                "the device ran out of memory",
                where=str(self._device),
                fix="Speak fewer texts at once, or use --device cpu.",
            ) from error

    def cancel(self, ticket: int) -> None:
        """End a request that waits or runs; its whole frames so far stay."""
        running = self._running.get(ticket)
        if running is not None:
            self.scheduler.cancel(ticket, self._clock())
            self._end(running, StopReason.CANCELLED)

    def take(self, ticket: int) -> MossCodes | None:
        """The result of a finished request, once; None while it runs."""
        running = self._done.pop(ticket, None)
        return None if running is None else running.result()

    def frames(self, ticket: int) -> list[Codes]:
        """New frames of a request so far; do not change the list."""
        return self._find(ticket).frames

    def context(self, ticket: int) -> list[Codes]:
        """Frames of the prefix, as the decoder should hear them before the first new one; whole once there is one."""
        return self._find(ticket).context

    def generate(
        self,
        requests: Sequence[MossRequest],
        watches: Sequence[Watch | None] | None = None,
        on_step: Callable[[], None] | None = None,
    ) -> list[MossCodes]:
        """Generate all requests; results are in their order.

        Args:
            requests: Checked, all of them, before the first row.
            watches: One a request, or None.
            on_step: Called after every row.
        """
        pairs = zip(requests, watches or [None] * len(requests), strict=True)
        tickets: list[int] = []
        try:
            for request, watch in pairs:
                tickets.append(self.add(request, watch))
            while not all(ticket in self._done for ticket in tickets):
                self.step()
                if on_step is not None:
                    on_step()
        except BaseException:
            for ticket in tickets:
                self.cancel(ticket)
                self.take(ticket)
            raise
        return [self._done.pop(ticket).result() for ticket in tickets]

    def stream(
        self,
        request: MossRequest,
        watch: Watch | None = None,
        on_context: Callable[[list[Codes]], None] | None = None,
    ) -> Iterator[Codes | MossCodes]:
        """New frames as they are whole, then the result. Closing the iterator cancels the request.

        Args:
            request: What to speak.
            watch: As in ``add``.
            on_context: Given the frames of the prefix before the first new one leaves; not called without a prefix.
        """
        ticket = self.add(request, watch)
        running = self._running[ticket]
        given = 0
        try:
            while running.stop is None:
                self.step()
                fresh = running.frames[given:]
                if fresh and not given and running.context and on_context is not None:
                    on_context(running.context)
                given += len(fresh)
                yield from fresh
        finally:
            self.cancel(ticket)
            result = self.take(ticket)
        assert result is not None
        yield result

    def _find(self, ticket: int) -> Running:
        return self._running[ticket] if ticket in self._running else self._done[ticket]

    def _admit(self) -> None:
        admissions = self.scheduler.admit(self._clock())
        if not admissions:
            return
        admitted = [(self._running[a.ticket], a.slot) for a in admissions]
        self._writer.reserve(max(len(r.prompt) + r.max_rows for r, _ in admitted))
        for running, slot in admitted:
            running.slot = slot
            self._writer.read_prompt(slot, running.prompt)
            self._writer.begin(running)

    def _groups(self) -> list[slice]:
        """Rows that run in one pass."""
        if self.rows_together:
            rows = self.scheduler.rows
            return [slice(0, rows)] if rows else []
        return [slice(slot, slot + 1) for slot in sorted(self.scheduler.running)]

    def _write(self, rows: slice) -> None:
        tickets = self.scheduler.running
        here = {
            slot - rows.start: self._running[t]
            for slot, t in tickets.items()
            if rows.start <= slot < rows.stop
        }
        self._writer.read_rows(rows, here)
        chosen = self._writer.choose(rows, here)
        for place, running in here.items():
            reason = self._writer.take(running, chosen[place])
            if reason is not None:
                self.scheduler.finish(running.ticket, self._clock())
                self._end(running, reason)

    def _end(self, running: Running, reason: StopReason) -> None:
        """It is out of the scheduler's books."""
        running.finish(reason)
        self._writer.close(running)
        self._done[running.ticket] = self._running.pop(running.ticket)
