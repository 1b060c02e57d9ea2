"""Requests in, audio out: the talker's codes go through the streaming codec as they are written.

Start reading here. ``open`` queues a request, ``step`` writes one frame of every running request and decodes the chunks
that are due, ``SpeechStream.take`` gives the audio away. ``speak`` and ``stream`` are loops
around these (``speech_loop.py``).

A voice in context is decoded into the codec's state first, so that the first new sample follows on the last one of the
reference; that state is kept for the next request of the voice. On a CPU each chunk is decoded by itself, in chunks that are
the same in every run: the audio of a request is to the bit what it is alone. Where rows run together, chunks share their
passes, too; the audio of the same codes is then within one step of 16-bit PCM of that.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Unpack

import torch

from refprep.engine.chunk_decoder import Chunk, ChunkDecoder
from refprep.engine.chunk_ramp import ChunkRamp, live_ramp
from refprep.engine.codec import CodecDecoder, load_codec_decoder
from refprep.engine.engine import Engine, EngineOptions
from refprep.engine.int8 import Int8Report, quantize_int8
from refprep.engine.model import DTYPES, TalkerCheckpoint, load_checkpoint
from refprep.engine.prompt import check_request
from refprep.engine.speech_loop import SpeechLoop
from refprep.engine.speech_stream import Guard, SpeechStream
from refprep.engine.steps import StepMode
from refprep.engine.voice_states import VOICES_NBYTES
from refprep.errors import UsageError
from refprep.types import GeneratedCodes, SamplingParams, SpeechRequest

INT8 = "int8"


class SpeechEngine(SpeechLoop[GeneratedCodes]):
    """A checkpoint that speaks.

    Args:
        checkpoint: Loaded.
        decoder: Of its codec.
        ramp: Of the chunks of a stream; None takes what suits the device.
        voices_nbytes: Budget for the codec's states after references.
        options: Of ``Engine``; its clock is this one's, too.

    Attributes:
        checkpoint: Its talker and tokenizer.
        name: Of the checkpoint's folder.
        sample_rate_hz: Of the audio.
        ramp: Of the chunks of a stream that somebody listens to.
        int8: How its layers were made int8; None where they were not.
    """

    def __init__(
        self,
        checkpoint: TalkerCheckpoint,
        decoder: CodecDecoder,
        *,
        ramp: ChunkRamp | None = None,
        voices_nbytes: int = VOICES_NBYTES,
        **options: Unpack[EngineOptions],
    ) -> None:
        self.checkpoint = checkpoint
        self.name = checkpoint.folder.resolve().name
        self.sample_rate_hz = decoder.sample_rate_hz
        self._engine = Engine(checkpoint, **options)
        super().__init__(
            self._engine, device=decoder.device.type, clock=options.get("clock", time.perf_counter)
        )
        together = self._engine.rows_together
        self.ramp = ramp or live_ramp(self._device, rows_together=together)
        self._chunks = ChunkDecoder(decoder, rows_together=together, voices_nbytes=voices_nbytes)
        self.int8: Int8Report | None = None

    @property
    def captures(self) -> int:
        """CUDA graphs captured so far; a measurement checks that it stays."""
        return self._engine.captures

    @property
    def sampling(self) -> SamplingParams:
        """The checkpoint's own."""
        return self.checkpoint.sampling

    @property
    def facts(self) -> Mapping[str, Any]:
        """How it is run, for records."""
        return {
            "model": self.name,
            "weights": "random" if self.checkpoint.has_random_weights else "as given",
            "quantization": None if self.int8 is None else dataclasses.asdict(self.int8),
            "step_mode": self.mode.value,
        }

    @property
    def mode(self) -> StepMode:
        """How its frames are run."""
        return self._engine.mode

    def check(self, request: SpeechRequest) -> None:
        """Refuse what the checkpoint cannot do, before anything runs.

        Raises:
            UsageError: Names what does not fit.
            TextInputError: A text is empty, or holds a control token.
        """
        check_request(request, self.checkpoint.config)
        self.checkpoint.tokenizer.target(request.text)
        if request.instruct and request.instruct.strip():
            self.checkpoint.tokenizer.instruction(request.instruct)

    def open(
        self,
        request: SpeechRequest,
        guard: Guard | None = None,
        *,
        deadline_s: float | None = None,
        client: Hashable = None,
    ) -> SpeechStream:
        """Queue a request for somebody who listens; nothing of it runs before the next ``step``.

        Args:
            request: What to speak.
            guard: That may stop it.
            deadline_s: Seconds from now, after which nobody needs it: it is cancelled; None: never.
            client: Whose it is: clients take turns.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: A text is empty or too long.
            BusyError: The queue is full.
            DeviceError: The device ran out of memory.
        """
        return self._opened(request, guard, self.ramp, deadline_s, client)

    def _queued(self, request: SpeechRequest, guard: Guard | None, ramp: ChunkRamp) -> SpeechStream:
        return self._opened(request, guard, ramp)

    def _opened(
        self,
        request: SpeechRequest,
        guard: Guard | None,
        ramp: ChunkRamp,
        deadline_s: float | None = None,
        client: Hashable = None,
    ) -> SpeechStream:
        self.check(request)
        until_s = None if deadline_s is None else self._clock() + deadline_s
        stream = SpeechStream(request, guard, ramp, clock=self._clock, on_cancel=self._cancel)
        stream.ticket = self._engine.add(request, stream.watch, deadline_s=until_s, client=client)
        self._open[stream.ticket] = stream
        try:
            self._chunks.prepare(request.voice)
        except BaseException:
            self._forget(stream)
            raise
        return stream

    def _decode(self) -> None:
        """Chunk by chunk of every stream, those of different streams together, until nothing is due."""
        now_s = self._clock()
        while True:
            num_streams = sum(s.row is not None for s in self._open.values())
            counts = [(s, s.due_frames(now_s, num_streams)) for s in self._open.values()]
            due = [(stream, count) for stream, count in counts if count]
            if not due:
                return
            try:
                decoded = self._chunks.decode([self._next_chunk(s, count) for s, count in due])
            except BaseException:
                for stream, _ in due:
                    stream.fail()
                    self._engine.cancel(stream.ticket)
                raise
            for (stream, count), chunk in zip(due, decoded, strict=True):
                stream.launched(chunk, count)

    def _next_chunk(self, stream: SpeechStream, count: int) -> Chunk:
        if stream.row is None:
            stream.row = self._chunks.admit(stream.request.voice)
        return Chunk(stream.row, stream.pending_frames(count))

    def _release(self, stream: SpeechStream) -> None:
        if stream.row is not None:
            self._chunks.release(stream.row)
            stream.row = None


def load_speech_engine(
    folder: Path,
    *,
    device: torch.device | str,
    dtype: torch.dtype | str,
    quantize: str | None = None,
    **options: Unpack[EngineOptions],
) -> SpeechEngine:
    """Load a checkpoint and the decoder of its codec; the codec stays in float32.

    Args:
        folder: Of the checkpoint.
        device: ``cpu`` or ``cuda``.
        dtype: Of the talker: ``float32`` or ``bfloat16``.
        quantize: ``int8`` for the layers of talker and code predictor, on a CPU; None leaves them as they are.
        options: Of ``Engine``.

    Raises:
        UsageError: A dtype that the talker is not run in, or an unknown quantization.
        WeightsMissing: A file is not there.
        BackendError: The files do not fit each other, or hold another model; int8 would change what it says.
        DeviceError: The device is out of memory.
    """
    if quantize not in (None, INT8):
        raise UsageError(
            f"quantization {quantize!r} is unknown", where="--quantize", fix=f"Use {INT8}, or leave it out."
        )
    if isinstance(dtype, str) and dtype not in DTYPES:
        raise UsageError(
            f"dtype {dtype!r} is unknown", where="--dtype", fix=f"Choose of {', '.join(DTYPES)}."
        )
    kind = DTYPES[dtype] if isinstance(dtype, str) else dtype
    checkpoint = load_checkpoint(folder, device=torch.device(device), dtype=kind)
    int8 = quantize_int8(checkpoint) if quantize else None
    decoder = load_codec_decoder(folder / "speech_tokenizer", device)
    engine = SpeechEngine(checkpoint, decoder, **options)
    engine.int8 = int8
    return engine
