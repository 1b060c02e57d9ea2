"""What a stream of decoded frames remembers: the exact state, so that no frame is decoded twice.

name    shape                                     meaning
rings   per transformer stage                     (layers, 2, batch, size, heads, D): see ``attention``
frames  (batch,) int64                            decoded so far

The ring of a stage has ``window - 1 + chunk`` slots, in steps of that stage; so chunks of any size up to ``chunk_frames``
see all of their window, and longer ones are decoded in pieces of that size. At the real size a state for single frames
is 170 MB in float32. Rows are streams: they are taken out, put back and copied by index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, eq=False)
class CodecState:
    """State of a batch of streams; ``OutputDecoder.step`` changes the tensors in place.

    Attributes:
        rings: Of every transformer stage, in order.
        frames: Decoded by each stream.
        chunk_frames: That fit behind a full window.
    """

    rings: tuple[torch.Tensor, ...]
    frames: torch.Tensor
    chunk_frames: int

    @property
    def batch(self) -> int:
        """Streams in it."""
        return self.frames.shape[0]

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(t.nbytes for t in (*self.rings, self.frames))

    @torch.inference_mode()
    def clone(self) -> CodecState:
        """A snapshot: later steps of either leave the other alone."""
        return CodecState(tuple(r.clone() for r in self.rings), self.frames.clone(), self.chunk_frames)

    def view(self, row: int) -> CodecState:
        """One stream, without a copy: what steps through the view steps here."""
        rings = tuple(r[:, :, row : row + 1] for r in self.rings)
        return CodecState(rings, self.frames[row : row + 1], self.chunk_frames)

    @torch.inference_mode()
    def copy_(self, other: CodecState) -> None:
        """Take over the streams of another state, as many as these."""
        self._check(other, self.batch)
        for mine, theirs in zip(self.rings, other.rings, strict=True):
            mine.copy_(theirs)
        self.frames.copy_(other.frames)

    @torch.inference_mode()
    def take(self, rows: Sequence[int] | torch.Tensor) -> CodecState:
        """A copy of some streams, in the given order; a row may be named more than once."""
        index = self._index(rows)
        rings = tuple(r.index_select(2, index) for r in self.rings)
        return CodecState(rings, self.frames.index_select(0, index), self.chunk_frames)

    @torch.inference_mode()
    def put(self, rows: Sequence[int] | torch.Tensor, other: CodecState) -> None:
        """Overwrite some streams with those of another state of the same decoder, in order."""
        index = self._index(rows)
        self._check(other, index.shape[0])
        for mine, theirs in zip(self.rings, other.rings, strict=True):
            mine.index_copy_(2, index, theirs)
        self.frames.index_copy_(0, index, other.frames)

    def _check(self, other: CodecState, batch: int) -> None:
        if other.batch != batch or other.chunk_frames != self.chunk_frames:
            raise ValueError(
                f"a state of {other.batch} streams and chunks of {other.chunk_frames} frames does not fit {batch} streams "
                f"and chunks of {self.chunk_frames}"
            )

    def _index(self, rows: Sequence[int] | torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(rows, dtype=torch.int64, device=self.frames.device)
