"""Requests in, audio out: a generator's frames go through the codec's streaming decoder as they are whole.

The same cycle as that of ``refprep.engine.speech``: ``step`` writes one row of every running request and decodes the chunks
that are due, ``speak`` and ``stream`` are loops around it. Every stream has a decoder state of its own, and every segment
of its audio goes through it, in order: samples are 1920 for every new frame, in any chunks to within one step of 16-bit PCM.

In a continuation the prefix is decoded first and its audio dropped: the first new sample follows on the last one of the
reference. Delay writes the end of the prefix anew, so what is decoded is the engine's ``context``, not the request's codes.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from refprep.engine.chunk_decoder import DecodedChunk
from refprep.engine.chunk_ramp import ChunkRamp, live_ramp
from refprep.engine.side_stream import SideStream
from refprep.engine.speech_loop import SpeechLoop
from refprep.engine.speech_stream import Clock, Guard, SpeechStream
from refprep.moss.codec import CodecState, OutputDecoder
from refprep.moss.engine import MossEngine
from refprep.moss.load import MossCheckpoint
from refprep.moss.prompt import build_prompt
from refprep.moss.request import MossCodes
from refprep.moss.speech_request import moss_request
from refprep.types import (
    MossSampling,
    SpeechRequest,
    StopReason,
)
from refprep.units import SAMPLES_PER_FRAME


class MossSynthesizer(SpeechLoop[MossCodes]):
    """A MOSS-TTS checkpoint that speaks: the generator at any precision, the codec's decoder at its own.

    Args:
        checkpoint: Loaded.
        decoder: Of its codec.
        ramp: Of the chunks of a stream; None takes what suits the device.
        max_batch: Requests that run side by side; further ones wait.
        rows_together: Whether they share their matrix products on a CPU.
        clock: Of all times in results.

    Attributes:
        checkpoint: Its model and tokenizer.
        decoder: As given.
        name: Of the checkpoint's folder.
        sample_rate_hz: Of the audio.
        ramp: Of the chunks of a stream that somebody listens to.
    """

    def __init__(
        self,
        checkpoint: MossCheckpoint,
        decoder: OutputDecoder,
        *,
        ramp: ChunkRamp | None = None,
        max_batch: int = 8,
        rows_together: bool = False,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.checkpoint, self.decoder = checkpoint, decoder
        self.name = checkpoint.folder.resolve().name
        self.sample_rate_hz = decoder.sample_rate_hz
        self._engine = MossEngine(checkpoint, max_batch=max_batch, rows_together=rows_together, clock=clock)
        super().__init__(self._engine, device=decoder.device.type, clock=clock)
        self.ramp = ramp or live_ramp(self._device, rows_together=self._engine.rows_together)
        self._side = SideStream(decoder.device)
        self._states: dict[int, CodecState] = {}
        self._contexts: dict[
            int, npt.NDArray[np.int32]
        ] = {}  # of requests that ended before their first chunk

    @property
    def sampling(self) -> MossSampling:
        """By the publisher."""
        return self.checkpoint.sampling

    @property
    def facts(self) -> Mapping[str, Any]:
        """See ``refprep.protocols.LoadedSynthesizer``."""
        quantization = self.checkpoint.config.quantization
        return {
            "model": self.name,
            "weights": "random" if self.checkpoint.has_random_weights else "as given",
            "step_mode": "eager",
            "quantization": None,
            "generator_quantization": None if quantization is None else str(quantization.get("quant_method")),
            "codec": self.decoder.folder.resolve().name,
            "decoder_precision": self.decoder.precision.value,
        }

    def check(self, request: SpeechRequest) -> None:
        """Refuse what the checkpoint cannot do, before anything runs.

        Raises:
            UsageError: A field or a mode that it does not have, or codes that may not be spoken with.
            TextInputError: A text is empty, or holds a control token.
        """
        config = self.checkpoint.config
        build_prompt(moss_request(request, config), config, self.checkpoint.tokenizer)

    def open(
        self, request: SpeechRequest, guard: Guard | None = None, *, ramp: ChunkRamp | None = None
    ) -> SpeechStream:
        """Queue a request for somebody who listens; nothing of it runs before the next ``step``.

        Args:
            request: What to speak.
            guard: That may stop it; it is told no rank of EOS, since the end is a choice of two, made at every frame.
            ramp: Of its chunks; ``self.ramp`` when None.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: Its text is empty or too long.
        """
        return self._queued(request, guard, ramp or self.ramp)

    def _queued(self, request: SpeechRequest, guard: Guard | None, ramp: ChunkRamp) -> SpeechStream:
        asked = moss_request(request, self.checkpoint.config)
        stream = SpeechStream(request, guard, ramp, clock=self._clock, on_cancel=self._cancel)

        def watch(frame: npt.NDArray[np.int32], _odds: int) -> StopReason | None:
            return stream.watch(frame, None)

        stream.ticket = self._engine.add(asked, watch)
        self._open[stream.ticket] = stream
        return stream

    def _release(self, stream: SpeechStream) -> None:
        self._states.pop(stream.ticket, None)
        self._contexts.pop(stream.ticket, None)

    def _note_end(self, stream: SpeechStream, generated: MossCodes) -> None:
        self._contexts[stream.ticket] = generated.context

    def _decode(self) -> None:
        while self._decode_once():
            pass

    def _decode_once(self) -> bool:
        """One chunk of every stream that has one due; whether there was any."""
        now_s = self._clock()
        due = [(s, n) for s in self._open.values() if (n := s.due_frames(now_s, len(self._open)))]
        for stream, count in due:
            try:
                with self._side.entered():
                    fetched = self._side.fetch(self._step(stream.pending_frames(count), self._state(stream)))
            except BaseException:
                stream.fail()
                self._engine.cancel(stream.ticket)
                raise
            stream.launched(DecodedChunk(fetched, 0, count * SAMPLES_PER_FRAME), count)
        return bool(due)

    def _state(self, stream: SpeechStream) -> CodecState:
        """Of a stream; behind the prefix where it has one."""
        state = self._states.get(stream.ticket)
        if state is None:
            size = max(stream.ramp.rungs)
            state = self._states[stream.ticket] = self.decoder.fresh(chunk_frames=size)
            context = self._contexts.get(stream.ticket)
            if context is None:
                frames = self._engine.context(stream.ticket)
                context = np.stack(frames) if frames else np.zeros((0, 1), np.int32)
            for start in range(0, len(context), size):
                self._step(context[start : start + size], state)
        return state

    def _step(self, frames: npt.NDArray[np.int32], state: CodecState) -> torch.Tensor:
        return self.decoder.step(self._side.upload(frames[None].astype(np.int64)), state)
