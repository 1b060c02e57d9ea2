"""Codes to samples, at any precision: whole, or as a stream that is exact for any size of chunk.

name     shape                meaning
codes    (frames, n)          integers, codebook 0 first; any n from 1 to all codebooks decodes
samples  (frames * 1920,)     float32 at 24 kHz; not cut at full scale

Everything is causal with a window of 10 s at every stage, so a state of rings is all that a stream needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import torch

from refprep.errors import BackendError, UsageError
from refprep.moss.codec.int8 import in_decoder, quantize
from refprep.moss.codec.load import DECODER, QUANTIZER, load_network, open_codec
from refprep.moss.codec.precision import Precision, computing
from refprep.moss.codec.stream import CodecState
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME

CHUNK_FRAMES = 16
"""That a state takes at once unless it is asked for another number."""

_WHERE = "codec decoder"
# Frames that ``decode`` pushes at once: enough to read the weights rarely, and few enough to bound the memory.
_DECODE_FRAMES = 50


class OutputDecoder:
    """The decoder of one codec on one device. It cannot encode: what speaks may be rounded, what listens may not.

    Args:
        folder: Of the codec.
        precision: Of the decoder; the codebooks stay float32.
        device: ``cpu`` or ``cuda``; also where the codes and states of ``step`` are.

    Attributes:
        config: Shapes.
        network: Quantizer and decoder.
        dtype: Of states.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: Another codec, files that do not fit each other, or a package that int8 needs.
        DeviceError: The device has too little memory.
    """

    sample_rate_hz = CODE_RATE_HZ
    samples_per_frame = SAMPLES_PER_FRAME

    def __init__(
        self, folder: Path, *, precision: Precision = Precision.FLOAT32, device: str = "cpu"
    ) -> None:
        self.folder, self.precision, self.device = folder, precision, torch.device(device)
        self.network = load_network(folder, self.device, decoder=True, dtype=precision.dtype)
        if precision.is_int8:
            with torch.no_grad():
                quantize(self.network, precision, in_decoder)
        self.network.quantizer.prepare()
        self.config, self.dtype = self.network.config, precision.dtype

    @property
    def weights_sha256(self) -> str:
        """Hash of the quantizer's and the decoder's tensors as they are stored; read from the disk again."""
        return open_codec(self.folder).sha256_of((QUANTIZER, DECODER))

    def encode(self, samples: object) -> NoReturn:
        """Refuse.

        Raises:
            UsageError: Always.
        """
        raise UsageError(
            "this object decodes; codes that it made would be of its own precision, and another voice",
            where=_WHERE,
            fix="Encode with ReferenceEncoder, which is float32.",
        )

    @torch.inference_mode()
    def fresh(self, batch: int = 1, *, chunk_frames: int = CHUNK_FRAMES) -> CodecState:
        """State of streams that have decoded nothing, with room for so many new frames behind a full window."""
        if chunk_frames < 1:
            raise ValueError("chunk_frames must be 1 or more")
        rings = tuple(
            torch.zeros(
                (
                    stack.config.num_layers,
                    2,
                    batch,
                    stack.window - 1 + chunk_frames * stack.per_frame,
                    stack.config.num_heads,
                    stack.head_dim,
                ),
                dtype=self.dtype,
                device=self.device,
            )
            for stack in self.network.decoder_stacks
        )
        frames = torch.zeros(batch, dtype=torch.int64, device=self.device)
        return CodecState(rings, frames, chunk_frames)

    def step(
        self,
        codes: torch.Tensor,
        state: CodecState,
        lengths: torch.Tensor | None = None,
        *,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Decode the next frames of streams.

        Args:
            codes: (batch, n, codebooks) integers on the decoder's device; more frames than the state takes at once are
                decoded in pieces. Their range is checked where that costs nothing, on the CPU; elsewhere the caller
                answers for it.
            state: Changed in place.
            lengths: (batch,) int64 on the device, 0 to n: new frames of each stream; those behind are padding. None:
                all are new.
            rows: (batch,) int64 on the device: streams of the state that step, each named once. None: all.

        Returns:
            (batch, n * 1920) float32 on the decoder's device; zeros where padding was.

        Raises:
            BackendError: Codes of another codec.
            DeviceError: The device ran out of memory; the streams' state is then undefined.
        """
        self._check(codes, dimensions=3)
        batch, n = codes.shape[:2]
        if batch != (state.batch if rows is None else rows.shape[0]):
            raise ValueError(f"{batch} rows of codes for a state of {state.batch} streams, rows {rows}")
        parts: list[torch.Tensor] = []
        with computing(self.precision, self.device, where=_WHERE):
            for start in range(0, n, state.chunk_frames):
                piece = codes[:, start : start + state.chunk_frames].long()
                parts.append(self.network.step(piece, state, rows).float())
                new: torch.Tensor | int = piece.shape[1]
                if lengths is not None:
                    new = (lengths - start).clamp(0, piece.shape[1])
                _count(state, new, rows)
            samples = torch.cat(parts, dim=1) if parts else torch.zeros(batch, 0, device=self.device)
            if lengths is not None:
                at = torch.arange(samples.shape[1], device=self.device)
                samples.masked_fill_(at >= (lengths * SAMPLES_PER_FRAME)[:, None], 0.0)
        return samples

    def decode(
        self, codes: torch.Tensor, *, state: CodecState | None = None, chunk_frames: int | None = None
    ) -> torch.Tensor:
        """Decode all frames of one stream, in bounded memory.

        Args:
            codes: (frames, codebooks) integers.
            state: Of one stream, to go on from and changed in place; a fresh one by default.
            chunk_frames: Frames at once; the result depends on it in the last bits only.

        Returns:
            (frames * 1920,) float32 on the CPU.

        Raises:
            BackendError: Codes of another codec.
            DeviceError: The device ran out of memory.
        """
        self._check(codes.cpu(), dimensions=2)
        if codes.shape[0] == 0:
            return torch.zeros(0)
        size = min(chunk_frames or _DECODE_FRAMES, codes.shape[0])
        state = state or self.fresh(chunk_frames=size)
        parts = [self.step(part[None], state)[0].cpu() for part in torch.split(codes.to(self.device), size)]
        return torch.cat(parts)

    def decode_segments(self, segments: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Decode segments that do not follow each other: each with its own beginning, none left out.

        Args:
            segments: (frames, codebooks) integers each; none may have no frames.

        Returns:
            (frames * 1920,) float32 on the CPU for each, in order.

        Raises:
            BackendError, DeviceError: As ``decode``; nothing is returned unless all are decoded.
        """
        return tuple(self.decode(segment) for segment in segments)

    def _check(self, codes: torch.Tensor, *, dimensions: int) -> None:
        known, size = self.config.quantizer.num_quantizers, self.config.quantizer.codebook_size
        is_integer = not (codes.is_floating_point() or codes.is_complex() or codes.dtype is torch.bool)
        if not is_integer or codes.dim() != dimensions or not 1 <= codes.shape[-1] <= known:
            kind = str(codes.dtype).removeprefix("torch.")
            raise _foreign(f"codes of shape {tuple(codes.shape)} and type {kind}, not 1 to {known} codebooks")
        if codes.device.type == "cpu" and codes.numel():
            low, high = (int(v) for v in codes.aminmax())
            if low < 0 or high >= size:
                raise _foreign(f"codes from {low} to {high}, not within 0 to {size - 1}")


def _count(state: CodecState, new: torch.Tensor | int, rows: torch.Tensor | None) -> None:
    if rows is None:
        state.frames.add_(new)
    else:
        state.frames.index_copy_(0, rows, state.frames.index_select(0, rows) + new)


def _foreign(what: str) -> BackendError:
    return BackendError(
        what,
        where=_WHERE,
        fix="Give codes that the encoder or a generator of MOSS-Audio-Tokenizer v1 made, without padding or delay.",
    )
