"""From requests to audio, whatever the model: streams that are opened, moved on, ended and forgotten.

``step`` writes a frame of every running request and decodes the chunks that are due; ``speak`` and ``stream`` are loops
around it. What a model adds is how a request is opened and how a chunk is decoded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from refprep.engine.chunk_ramp import ChunkRamp, offline_ramp
from refprep.engine.speech_stream import Clock, Guard, SpeechStream
from refprep.types import GeneratedCodes, Samples, SpeechRequest, StreamEnd, SynthesisResult, freeze

Generated = TypeVar("Generated", bound=GeneratedCodes)
GeneratedOut = TypeVar("GeneratedOut", bound=GeneratedCodes, covariant=True)


class CodesEngine(Protocol[GeneratedOut]):
    """Generates codes for requests; see ``engine.Engine``."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        ...

    def step(self) -> None:
        """Write a frame of every running request."""
        ...

    def cancel(self, ticket: int) -> None:
        """End a request; its frames so far stay."""
        ...

    def take(self, ticket: int) -> GeneratedOut | None:
        """The result of a finished request, once."""
        ...


class SpeechLoop(ABC, Generic[Generated]):
    """The cycle of streams around an engine of codes."""

    def __init__(self, engine: CodesEngine[Generated], *, device: str, clock: Clock) -> None:
        """Start with no stream.

        Args:
            engine: Whose requests the streams are.
            device: Type of the codec's device.
            clock: Of all times in results.
        """
        self._codes, self._device, self._clock = engine, device, clock
        self._open: dict[int, SpeechStream] = {}

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits, runs or is being decoded."""
        return self._codes.is_idle and not self._open

    @abstractmethod
    def check(self, request: SpeechRequest) -> None:
        """Refuse what the checkpoint cannot do, before anything runs.

        Raises:
            UsageError: Names what does not fit.
            TextInputError: A text is empty, or holds a control token.
        """

    @abstractmethod
    def open(self, request: SpeechRequest, guard: Guard | None = None) -> SpeechStream:
        """Queue a request for somebody who listens; nothing of it runs before the next ``step``."""

    @abstractmethod
    def _queued(self, request: SpeechRequest, guard: Guard | None, ramp: ChunkRamp) -> SpeechStream:
        """Queue a request, with chunks of some ramp."""

    @abstractmethod
    def _decode(self) -> None:
        """Decode what is due, until nothing is; a chunk that fails ends its stream and raises."""

    @abstractmethod
    def _release(self, stream: SpeechStream) -> None:
        """Nothing more is decoded of it."""

    def _note_end(self, stream: SpeechStream, generated: Generated) -> None:  # most have nothing to note
        """The engine is done with it; its last chunks are not decoded yet."""

    def step(self) -> None:
        """Write one frame of every running request, then decode every chunk that is due.

        Raises:
            DeviceError: The device ran out of memory. Requests in flight are cancelled; what was decoded is theirs.
        """
        try:
            self._codes.step()
        finally:
            self._advance()

    def speak(
        self,
        requests: Sequence[SpeechRequest],
        guards: Sequence[Guard | None] | None = None,
        on_step: Callable[[], None] | None = None,
    ) -> list[SynthesisResult]:
        """Speak all requests, side by side; results are in their order.

        Args:
            requests: Checked, all of them, before the first frame.
            guards: One a request, or None.
            on_step: Called after every frame.

        Raises:
            UsageError: A request does not fit the checkpoint.
            TextInputError: A text is empty or too long.
            DeviceError: The device ran out of memory.
        """
        for request in requests:
            self.check(request)
        streams: list[SpeechStream] = []
        try:
            for request, guard in zip(requests, guards or [None] * len(requests), strict=True):
                ramp = offline_ramp(self._device, is_guarded=guard is not None)
                streams.append(self._queued(request, guard, ramp))
            while not all(stream.is_done for stream in streams):
                self.step()
                if on_step is not None:
                    on_step()
        finally:
            for stream in streams:
                self._forget(stream)
        return [_result(stream) for stream in streams]

    def stream(self, request: SpeechRequest, guard: Guard | None = None) -> Iterator[Samples | StreamEnd]:
        """Samples as they are decoded, then the record of them. Closing the iterator ends the request.

        Nothing that was given away is kept: memory does not grow with the audio.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: Its text is empty or too long.
            DeviceError: The device ran out of memory.
        """
        stream = self.open(request, guard)
        try:
            while not stream.is_done:
                self.step()
                yield from stream.take()
            yield from stream.take()
            yield stream.outcome()
        finally:
            self._forget(stream)

    def _cancel(self, stream: SpeechStream) -> None:
        self._codes.cancel(stream.ticket)
        self._advance()
        stream.poll(wait=True)

    def _forget(self, stream: SpeechStream) -> None:
        """Nobody waits for it any more; one that is done was forgotten before."""
        if self._open.pop(stream.ticket, None) is None:
            return
        self._codes.cancel(stream.ticket)
        self._codes.take(stream.ticket)
        self._release(stream)

    def _advance(self) -> None:
        """Let ended requests know, decode what is due, look what has arrived."""
        self._collect_ends()
        try:
            self._decode()
        finally:
            self._collect_ends()  # of those that the codec failed
            must_wait = self._codes.is_idle  # no further step would look
            for stream in list(self._open.values()):
                if stream.is_launched:
                    self._release(stream)
                stream.poll(wait=must_wait)
                if stream.is_done:
                    del self._open[stream.ticket]

    def _collect_ends(self) -> None:
        for stream in self._open.values():
            generated = self._codes.take(stream.ticket)
            if generated is not None:
                self._note_end(stream, generated)
                stream.end(generated)


def _result(stream: SpeechStream) -> SynthesisResult:
    end, parts = stream.outcome(), stream.take()
    samples = freeze(np.concatenate(parts) if parts else np.zeros(0, np.float32))
    return SynthesisResult(
        samples, end.sample_rate_hz, end.text, end.generated, end.first_audio_s, end.wall_s
    )
