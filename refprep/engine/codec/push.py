"""New frames on their way through the decoder: which streams they belong to, and what each of them leaves behind.

name     shape           meaning
rows     (batch,) int64  streams of the state, each at most once; None: all, in order
lengths  (batch,) int64  new frames of each stream, the first of n; None: n of each

Streams are at different points of their chunks, so a batch is padded to the longest of them. Everything is causal: what
a padded frame computes stands behind the real ones, and what is kept is read off before it. A stream with no new frame keeps
its state to the bit. Reading rows by index costs nothing: history and new steps are copied into one buffer anyhow.

Nothing here looks at ``rows`` or ``lengths`` from the host, so one captured graph for each (batch, n) serves any of them:
rows that have nothing to do point at a spare stream, with length 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from refprep.engine.codec.stream import CodecState


@dataclass(frozen=True, slots=True, eq=False)
class Push:
    """n frames of a batch of streams; see the table above. ``num_frames`` is n."""

    state: CodecState
    num_frames: int
    rows: torch.Tensor | None = None
    lengths: torch.Tensor | None = None

    def frames(self) -> torch.Tensor:
        """(batch,) int64: frames of each stream before these."""
        frames = self.state.frames
        return frames if self.rows is None else frames.index_select(0, self.rows)

    def count(self, before: torch.Tensor) -> None:
        """Count the new frames, once; ``before`` is what ``frames`` gave."""
        new: torch.Tensor | int = self.num_frames if self.lengths is None else self.lengths
        if self.rows is None:
            self.state.frames.add_(new)
        else:
            self.state.frames.index_copy_(0, self.rows, before + new)

    def history(self, slot: int) -> torch.Tensor:
        """(reach, batch, channels) of a convolution; perhaps a view."""
        history = self.state.histories[slot]
        return history if self.rows is None else history.index_select(1, self.rows)

    def keep_history(self, slot: int, buffer: torch.Tensor, steps: int) -> None:
        """Move a history on.

        Args:
            slot: Of the convolution.
            buffer: (reach + steps, batch, channels): history and new steps.
            steps: New ones at the rate of the convolution, padding included.
        """
        history = self.state.histories[slot]
        kept = buffer[steps:]
        if self.lengths is not None:
            first = self.lengths * (steps // self.num_frames)
            index = first + torch.arange(history.shape[0], device=first.device)[:, None]
            kept = buffer.gather(0, index[:, :, None].expand(-1, -1, buffer.shape[2]))
        if self.rows is None:
            history.copy_(kept)
        else:
            history.index_copy_(1, self.rows, kept)

    def memory(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """(batch, heads, window - 1, D) twice: keys and values of a layer; perhaps views."""
        keys, values = self.state.memory[layer]
        if self.rows is None:
            return keys, values
        return keys.index_select(0, self.rows), values.index_select(0, self.rows)

    def keep_memory(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Move a layer's memory on; keys and values are (batch, heads, window - 1 + n, D), old and new ones."""
        for memory, both in zip(self.state.memory[layer], (keys, values), strict=True):
            kept = both[:, :, self.num_frames :]
            if self.lengths is not None:
                steps = torch.arange(memory.shape[2], device=both.device)
                index = (self.lengths[:, None] + steps)[:, None, :, None]
                kept = both.gather(2, index.expand(-1, both.shape[1], -1, both.shape[3]))
            if self.rows is None:
                memory.copy_(kept)
            else:
                memory.index_copy_(0, self.rows, kept)

    def cut(self, samples: torch.Tensor) -> torch.Tensor:
        """Silence what padded frames of (batch, n x 1920) decoded to."""
        if self.lengths is None:
            return samples
        per_frame = samples.shape[1] // self.num_frames
        at = torch.arange(samples.shape[1], device=samples.device)
        return samples.masked_fill(at >= (self.lengths * per_frame)[:, None], 0.0)
