"""Requests in, audio out: the talker's codes go through the streaming codec as they are written.

A voice in context is decoded into the codec's state first, so that the first new sample follows on the last one of the
reference; that state is kept for the next request of the voice. Each request has its own state, and its frames are
decoded in chunks: the first ones short, so that audio starts early, the later ones long, which is cheaper.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from refprep.engine.codec import CodecDecoder, CodecState, load_codec_decoder
from refprep.engine.engine import Engine
from refprep.engine.model import DTYPES, TalkerCheckpoint, load_checkpoint
from refprep.engine.prompt import check_request
from refprep.engine.request import Frame
from refprep.errors import UsageError
from refprep.types import (
    CloneMode,
    GeneratedCodes,
    Samples,
    SpeechRequest,
    StopReason,
    SynthesisResult,
    VoicePrompt,
    freeze,
)

CHUNK_RAMP = (2, 4, 8, 12)
"""Frames in the first, second, ... chunk of a request; the last number stays."""

_VOICES_KEPT = 4


class Guard(Protocol):
    """Watches one request; see ``refprep.guard``."""

    def on_frame(self, frame: Frame, eos_rank: int) -> StopReason | None:
        """Take a frame; a reason stops the request."""
        ...

    def on_audio(self, samples: Samples) -> StopReason | None:
        """Take decoded samples, in order; a reason stops the request."""
        ...


class _Track:
    """Decodes one request's frames as they come."""

    def __init__(
        self, decoder: CodecDecoder, state: CodecState, guard: Guard | None, ramp: Sequence[int]
    ) -> None:
        self._decoder, self._state, self._guard, self._ramp = decoder, state, guard, ramp
        self._pending: list[Frame] = []
        self._chunks = 0
        self.parts: list[Samples] = []
        self.started_s = time.perf_counter()
        self.first_audio_s: float | None = None

    def watch(self, frame: Frame, eos_rank: int) -> StopReason | None:
        """Take a frame, decode when a chunk is full, ask the guard about both."""
        self._pending.append(frame)
        reason = None if self._guard is None else self._guard.on_frame(frame, eos_rank)
        if len(self._pending) < self._ramp[min(self._chunks, len(self._ramp) - 1)]:
            return reason
        samples = self.flush()
        if reason is None and self._guard is not None:
            reason = self._guard.on_audio(samples)
        return reason

    def flush(self) -> Samples:
        """Decode what is left."""
        if not self._pending:
            return np.zeros(0, np.float32)
        codes = torch.from_numpy(np.stack(self._pending)).to(self._decoder.device)
        samples = freeze(self._decoder.step(codes[None], self._state)[0].cpu().numpy())
        self._pending.clear()
        self._chunks += 1
        self.parts.append(samples)
        if self.first_audio_s is None:
            self.first_audio_s = time.perf_counter() - self.started_s
        return samples

    def result(self, request: SpeechRequest, generated: GeneratedCodes) -> SynthesisResult:
        """Everything, after the last frame."""
        self.flush()
        samples = freeze(np.concatenate(self.parts) if self.parts else np.zeros(0, np.float32))
        assert len(samples) == generated.num_frames * self._decoder.samples_per_frame
        wall_s = time.perf_counter() - self.started_s
        return SynthesisResult(
            samples, self._decoder.sample_rate_hz, request.text, generated, self.first_audio_s, wall_s
        )


class SpeechEngine:
    """A checkpoint that speaks.

    Attributes:
        checkpoint: Its talker and tokenizer.
        name: Of the checkpoint's folder.
        sample_rate_hz: Of the audio.
        ramp: Frames in a request's successive chunks.
    """

    def __init__(
        self,
        checkpoint: TalkerCheckpoint,
        decoder: CodecDecoder,
        *,
        max_batch: int = 8,
        rows_together: bool = False,
        ramp: Sequence[int] = CHUNK_RAMP,
    ) -> None:
        self.checkpoint = checkpoint
        self.ramp = tuple(ramp)
        self.name = checkpoint.folder.resolve().name
        self.sample_rate_hz = decoder.sample_rate_hz
        self._decoder = decoder
        self._engine = Engine(checkpoint, max_batch=max_batch, rows_together=rows_together)
        self._voices: OrderedDict[bytes, CodecState] = OrderedDict()

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
        guarded = zip(requests, guards or [None] * len(requests), strict=True)
        tracks = [self._track(request, guard) for request, guard in guarded]
        codes = self._engine.generate(requests, [t.watch for t in tracks], on_step)
        return [t.result(r, c) for t, r, c in zip(tracks, requests, codes, strict=True)]

    def stream(
        self, request: SpeechRequest, guard: Guard | None = None
    ) -> Iterator[Samples | SynthesisResult]:
        """Samples as they are decoded, then the result. Closing the iterator ends the request.

        Raises:
            UsageError: The request does not fit the checkpoint.
            TextInputError: Its text is empty or too long.
            DeviceError: The device ran out of memory.
        """
        self.check(request)
        track = self._track(request, guard)
        given = 0
        for item in self._engine.stream(request, track.watch):
            if isinstance(item, GeneratedCodes):
                result = track.result(request, item)
                yield from track.parts[given:]
                yield result
            else:
                yield from track.parts[given:]
                given = len(track.parts)

    def _track(self, request: SpeechRequest, guard: Guard | None) -> _Track:
        return _Track(self._decoder, self._start(request.voice), guard, self.ramp)

    def _start(self, voice: VoicePrompt | None) -> CodecState:
        """The codec's state before a request: after the reference where it speaks in context."""
        if voice is None or voice.mode is not CloneMode.ICL or voice.codes is None:
            return self._decoder.fresh()
        key = voice.codes.tobytes()
        if key not in self._voices:
            state = self._decoder.fresh()
            self._decoder.decode(torch.from_numpy(voice.codes.copy()), state=state)
            self._voices[key] = state
            if len(self._voices) > _VOICES_KEPT:
                self._voices.popitem(last=False)
        self._voices.move_to_end(key)
        return self._voices[key].clone()


def load_speech_engine(
    folder: Path,
    *,
    device: torch.device | str,
    dtype: torch.dtype | str,
    max_batch: int = 8,
    rows_together: bool = False,
) -> SpeechEngine:
    """Load a checkpoint and the decoder of its codec; the codec stays in float32.

    Args:
        folder: Of the checkpoint.
        device: ``cpu`` or ``cuda``.
        dtype: Of the talker: ``float32`` or ``bfloat16``.
        max_batch: Requests that run side by side.
        rows_together: Whether they share their matrix products: faster, and no longer equal to the bit to a request alone.

    Raises:
        UsageError: A dtype that the talker is not run in.
        WeightsMissing: A file is not there.
        BackendError: The files do not fit each other, or hold another model.
        DeviceError: The device is out of memory.
    """
    if isinstance(dtype, str) and dtype not in DTYPES:
        raise UsageError(
            f"dtype {dtype!r} is unknown", where="--dtype", fix=f"Choose of {', '.join(DTYPES)}."
        )
    kind = DTYPES[dtype] if isinstance(dtype, str) else dtype
    checkpoint = load_checkpoint(folder, device=torch.device(device), dtype=kind)
    decoder = load_codec_decoder(folder / "speech_tokenizer", device)
    return SpeechEngine(checkpoint, decoder, max_batch=max_batch, rows_together=rows_together)
