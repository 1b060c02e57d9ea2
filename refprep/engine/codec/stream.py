"""What a stream of decoded frames remembers: the exact state, so that no frame is decoded twice.

name       shape                                     meaning
histories  tuple of (reach, batch, channels)         last inputs of every convolution with a reach
memory     (layers, 2, batch, heads, window - 1, D)  keys after rotary, and values; the newest last
frames     (batch,) int64                            decoded so far; slots of ``memory`` older than that are empty

At the real size that is 1,298,496 numbers, 5.2 MB in float32, per stream. Rows are streams: they are taken out, put
back and copied by index, so a state after a voice's reference is kept once and starts every request of that voice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, eq=False)
class CodecState:
    """State of a batch of streams; ``CodecDecoder.step`` changes the tensors in place."""

    histories: tuple[torch.Tensor, ...]
    memory: torch.Tensor
    frames: torch.Tensor

    @property
    def batch(self) -> int:
        """Streams in it."""
        return self.frames.shape[0]

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(t.nbytes for t in (*self.histories, self.memory, self.frames))

    @torch.inference_mode()
    def clone(self) -> CodecState:
        """A snapshot: later steps of either leave the other alone."""
        return CodecState(tuple(h.clone() for h in self.histories), self.memory.clone(), self.frames.clone())

    def view(self, row: int) -> CodecState:
        """One stream, without a copy: what steps through the view steps here."""
        return CodecState(
            tuple(h[:, row : row + 1] for h in self.histories),
            self.memory[:, :, row : row + 1],
            self.frames[row : row + 1],
        )

    @torch.inference_mode()
    def copy_(self, other: CodecState) -> None:
        """Take over the streams of another state, as many as these."""
        assert self.batch == other.batch, (self.batch, other.batch)
        for mine, theirs in zip(self.histories, other.histories, strict=True):
            mine.copy_(theirs)
        self.memory.copy_(other.memory)
        self.frames.copy_(other.frames)

    @torch.inference_mode()
    def take(self, rows: Sequence[int] | torch.Tensor) -> CodecState:
        """A copy of some streams, in the given order; a row may be named more than once."""
        index = self._index(rows)
        return CodecState(
            tuple(h.index_select(1, index) for h in self.histories),
            self.memory.index_select(2, index),
            self.frames.index_select(0, index),
        )

    @torch.inference_mode()
    def put(self, rows: Sequence[int] | torch.Tensor, other: CodecState) -> None:
        """Overwrite some streams with those of another state of the same decoder, in order."""
        index = self._index(rows)
        assert index.shape[0] == other.batch, (index.shape[0], other.batch)
        for mine, theirs in zip(self.histories, other.histories, strict=True):
            mine.index_copy_(1, index, theirs)
        self.memory.index_copy_(2, index, other.memory)
        self.frames.index_copy_(0, index, other.frames)

    def _index(self, rows: Sequence[int] | torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(rows, dtype=torch.int64, device=self.frames.device)
