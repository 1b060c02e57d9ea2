"""Clients in front of an engine, in its own process: a closed loop and an open one.

Engine and clients share a thread, so a client that is due while the engine works is served after that step; its times
count from when it was due, and the step's time is in them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from refprep.bench.load_stats import LEFT, OK, Arrival, AudibleGate, RequestRow
from refprep.errors import RefprepError
from refprep.types import GeneratedCodes, Samples, SpeechRequest


class LoadStream(Protocol):
    """What a client holds of its request."""

    @property
    def is_done(self) -> bool:
        """Whether all audio is there, taken or to be taken."""
        ...

    @property
    def generated(self) -> GeneratedCodes | None:
        """The codes, at the end."""
        ...

    def take(self) -> list[Samples]:
        """Chunks since the last call."""
        ...

    def cancel(self) -> None:
        """End it."""
        ...


class LoadEngine(Protocol):
    """What is driven: ``refprep.engine.speech.SpeechEngine``, or a stand-in on a virtual clock."""

    def open(self, request: SpeechRequest) -> LoadStream:
        """Queue a request; an error refuses it."""
        ...

    def step(self) -> None:
        """Move every request on by a frame."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A request to come.

    Attributes:
        name: For its row.
        request: What is asked.
        leaves_after: The client goes after so many chunks; None stays.
    """

    name: str
    request: SpeechRequest
    leaves_after: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LoadRun:
    """A measured window.

    Attributes:
        rows: In the order in which requests ended.
        step_s: Wall time of every step.
        audio: By name; empty where it was not to be kept.
    """

    rows: tuple[RequestRow, ...]
    step_s: tuple[float, ...]
    audio: dict[str, Samples]


@dataclass(slots=True, eq=False)
class _Client:
    planned: Planned
    dispatched_s: float
    stream: LoadStream
    gate: AudibleGate = field(default_factory=AudibleGate)
    chunks: list[Arrival] = field(default_factory=list)
    kept: list[Samples] = field(default_factory=list)


class LoadDriver:
    """Sends requests and notes what comes back.

    Args:
        engine: Idle.
        clock: Seconds.
        wait: Lets so many seconds pass.
        keeps_audio: Whether the audio is kept, to be judged afterwards.
    """

    def __init__(
        self,
        engine: LoadEngine,
        *,
        clock: Callable[[], float] = time.perf_counter,
        wait: Callable[[float], None] = time.sleep,
        keeps_audio: bool = False,
    ) -> None:
        self._engine, self._clock, self._wait, self._keeps_audio = engine, clock, wait, keeps_audio
        self._clients: list[_Client] = []
        self._rows: list[RequestRow] = []
        self._step_s: list[float] = []
        self._audio: dict[str, Samples] = {}

    def closed_loop(self, planned: Sequence[Planned], *, concurrency: int) -> LoadRun:
        """So many clients; each sends its next request when the last one has ended."""
        queue = deque(planned)
        while queue or self._clients:
            while queue and len(self._clients) < concurrency:
                self._send(queue.popleft(), self._clock())
            if self._clients:
                self._step()
        return self._finished()

    def open_loop(self, planned: Sequence[Planned], arrivals_s: Sequence[float]) -> LoadRun:
        """Requests come when they come, whatever the engine does.

        Args:
            planned: In order.
            arrivals_s: Of each, from the start, ascending.
        """
        queue = deque(zip(planned, arrivals_s, strict=True))
        start_s = self._clock()
        while queue or self._clients:
            while queue and start_s + queue[0][1] <= self._clock():
                one, due_s = queue.popleft()
                self._send(one, start_s + due_s)
            if self._clients:
                self._step()
            elif queue:
                self._wait(max(0.0, start_s + queue[0][1] - self._clock()))
        return self._finished()

    def _send(self, planned: Planned, dispatched_s: float) -> None:
        try:
            stream = self._engine.open(planned.request)
        except RefprepError as error:
            self._rows.append(
                RequestRow(planned.name, dispatched_s, self._clock(), status=type(error).__name__)
            )
            return
        self._clients.append(_Client(planned, dispatched_s, stream))

    def _step(self) -> None:
        start_s = self._clock()
        failure: str | None = None
        try:
            self._engine.step()
        except RefprepError as error:
            failure = type(error).__name__
        self._step_s.append(self._clock() - start_s)
        for client in list(self._clients):
            self._receive(client)
            leaves_after = client.planned.leaves_after
            if failure is not None:
                self._end(client, failure)
            elif client.stream.is_done:
                self._end(client, OK)
            elif leaves_after is not None and len(client.chunks) >= leaves_after:
                client.stream.cancel()
                self._receive(client)
                self._end(client, LEFT)

    def _receive(self, client: _Client) -> None:
        for samples in client.stream.take():
            client.chunks.append((self._clock(), len(samples)))
            client.gate.feed(samples)
            if self._keeps_audio:
                client.kept.append(samples)

    def _end(self, client: _Client, status: str) -> None:
        self._clients.remove(client)
        planned, generated = client.planned, client.stream.generated
        if generated is None:  # the step failed, and did not end it
            client.stream.cancel()
        self._rows.append(
            RequestRow(
                name=planned.name,
                dispatched_s=client.dispatched_s,
                ended_s=self._clock(),
                status=status,
                chunks=tuple(client.chunks),
                audible_sample=client.gate.at_sample,
                frames=0 if generated is None else generated.num_frames,
                stop=None if generated is None else generated.stop,
                budget_frames=planned.request.max_frames,
            )
        )
        if client.kept:
            self._audio[planned.name] = np.concatenate(client.kept)

    def _finished(self) -> LoadRun:
        run = LoadRun(tuple(self._rows), tuple(self._step_s), self._audio)
        self._rows, self._step_s, self._audio = [], [], {}
        return run


def poisson_arrivals(count: int, *, per_s: float, seed: int) -> list[float]:
    """Seconds from the start at which requests come, at a mean rate."""
    gaps_s = np.random.Generator(np.random.PCG64(seed)).exponential(1.0 / per_s, count)
    return [float(at_s) for at_s in np.cumsum(gaps_s)]
