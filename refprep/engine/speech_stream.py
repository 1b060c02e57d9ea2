"""The audio of one request: frames in, chunks through the codec, samples out and forgotten.

A request's life has two ends. The talker's comes first: no further frame. The audio's comes when the last chunk has left
the codec; samples are then 1920 for every frame of ``generated``, however it ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from refprep.engine.chunk_decoder import DecodedChunk
from refprep.engine.chunk_ramp import ChunkRamp, PlaybackClock
from refprep.engine.request import Frame
from refprep.types import GeneratedCodes, Samples, SpeechRequest, StopReason, StreamEnd
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME

Clock = Callable[[], float]
"""Seconds from any fixed moment."""


class Guard(Protocol):
    """Watches one request; see ``refprep.guard``."""

    def on_frame(self, frame: Frame, eos_rank: int | None) -> StopReason | None:
        """Take a frame; a reason stops the request."""
        ...

    def on_audio(self, samples: Samples) -> StopReason | None:
        """Take decoded samples, in order; a reason stops the request."""
        ...


class SpeechStream:
    """One request on its way; ``SpeechEngine.open`` makes it, ``SpeechEngine.step`` moves it on.

    Attributes:
        request: As it was asked.
        ramp: Of its chunks.
        ticket: The talker engine's number for it.
        row: Of the codec's state; None before the first chunk and after the last.
        generated: The codes, once all audio is there; None before.
        first_audio_s: Wall time from the opening to the first samples; None before.
        wall_s: Likewise to the last.
        num_samples: Decoded so far.
    """

    def __init__(
        self,
        request: SpeechRequest,
        guard: Guard | None,
        ramp: ChunkRamp,
        *,
        clock: Clock,
        on_cancel: Callable[[SpeechStream], None],
    ) -> None:
        self.request, self.ramp = request, ramp
        self.ticket = -1
        self.row: int | None = None
        self.generated: GeneratedCodes | None = None
        self.first_audio_s: float | None = None
        self.wall_s = 0.0
        self.num_samples = 0
        self._guard, self._clock, self._on_cancel = guard, clock, on_cancel
        self._started_s = clock()
        self._first_frame_s: float | None = None
        self._playback = PlaybackClock()
        self._pending: list[Frame] = []
        self._flying: deque[DecodedChunk] = deque()
        self._ready: list[Samples] = []
        self._num_frames = self._num_launched = self._num_chunks = 0
        self._verdict: StopReason | None = None
        self._ended: GeneratedCodes | None = None
        self._is_failed = False

    @property
    def is_done(self) -> bool:
        """Whether all audio is there, taken or to be taken."""
        return self.generated is not None

    def take(self) -> list[Samples]:
        """Chunks that were decoded since the last call, in order. They are not kept."""
        self.poll()
        ready, self._ready = self._ready, []
        return ready

    def cancel(self) -> None:
        """End it now. Frames that were written are decoded, so that the audio is whole; take it, or let it go."""
        if not self.is_done:
            self._on_cancel(self)

    def outcome(self) -> StreamEnd:
        """What is to be said at the end, without the samples."""
        assert self.generated is not None, "it still runs"
        return StreamEnd(
            self.num_samples, CODE_RATE_HZ, self.request.text, self.generated, self.first_audio_s, self.wall_s
        )

    def watch(self, frame: Frame, eos_rank: int | None) -> StopReason | None:
        """Take a frame from the talker, and answer for the guard; a talker without an EOS among its codes has no rank.

        What the guard hears is decoded after the frame: its word about the audio comes with the next one.
        """
        if self._first_frame_s is None:
            self._first_frame_s = self._clock()
        self._num_frames += 1
        self._pending.append(frame)
        reason = None if self._guard is None else self._guard.on_frame(frame, eos_rank)
        return reason or self._verdict

    def end(self, generated: GeneratedCodes) -> None:
        """The talker is done with it; what is not decoded yet is due."""
        if self._is_failed:
            kept = slice(self._num_launched)
            codes, ranks = generated.codes[kept], generated.eos_ranks[kept]
            generated = replace(generated, codes=codes, eos_ranks=ranks, stop=StopReason.CANCELLED)
        assert self._num_launched <= generated.num_frames, (self._num_launched, generated.num_frames)
        self._pending = list(generated.codes[self._num_launched :])
        self._ended = generated

    def fail(self) -> None:
        """The codec could not go on: the request is cancelled, and keeps the frames that were decoded."""
        self._is_failed = True
        self._pending.clear()
        if self._ended is not None:
            self.end(self._ended)

    def due_frames(self, now_s: float, num_streams: int) -> int:
        """Frames of its next chunk, if it is time; otherwise 0."""
        pending = len(self._pending)
        if pending == 0 or self._is_failed:
            return 0
        since_s = now_s - (now_s if self._first_frame_s is None else self._first_frame_s)
        due = self.ramp.due_frames(
            self._num_chunks,
            pending,
            slack_s=self._playback.slack_s(now_s),
            frame_s=since_s / max(self._num_frames - 1, 1),
            num_streams=num_streams,
        )
        return due or (pending if self._ended is not None else 0)

    def pending_frames(self, count: int) -> npt.NDArray[np.int32]:
        """(count, codebooks): the next frames; they stay until they are ``launched``."""
        return np.stack(self._pending[:count])

    def launched(self, chunk: DecodedChunk, count: int) -> None:
        """The codec has so many of its frames."""
        del self._pending[:count]
        self._flying.append(chunk)
        self._num_launched += count
        self._num_chunks += 1

    @property
    def is_launched(self) -> bool:
        """Whether nothing is left to be decoded."""
        return self._ended is not None and not self._pending

    def poll(self, *, wait: bool = False) -> None:
        """Look which chunks have arrived, and let the guard hear them.

        Args:
            wait: For those that have not.
        """
        while self._flying and (wait or self._flying[0].is_ready()):
            samples = self._flying.popleft().samples()
            now_s = self._clock()
            if self.first_audio_s is None:
                self.first_audio_s = now_s - self._started_s
            self._playback.give(len(samples) / CODE_RATE_HZ, now_s)
            self.num_samples += len(samples)
            self._ready.append(samples)
            if self._guard is not None and self._ended is None and self._verdict is None:
                self._verdict = self._guard.on_audio(samples)
        if self.is_launched and not self._flying and self.generated is None:
            self.generated = self._ended
            self.wall_s = self._clock() - self._started_s
            assert self.num_samples == SAMPLES_PER_FRAME * self.outcome().generated.num_frames
