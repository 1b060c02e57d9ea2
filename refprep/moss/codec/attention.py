"""What a query may look at: itself and the ``window - 1`` positions before it, in memory that is linear in the length.

name      shape                       meaning
queries   (batch, m, heads, D)        of new positions, after rotary; keys and values likewise
at        (batch or 1, m) int64       position of each, from the start of its stream
ring      (2, rows, size, heads, D)   keys after rotary, and values; position p is in slot p modulo size
mask      (batch or 1, 1, m, keys)    bool, True where a query may look

A ring of ``window - 1 + chunk`` slots holds, whenever up to ``chunk`` positions were written, every key that any of them
may see. With fewer slots the first positions of a chunk would lose the oldest part of their window.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

_BLOCK = 500  # queries at once where a clip is longer than a window: at 100 Hz three quarters of a megabyte of mask


class View(Protocol):
    """What one stage sees of its past during one pass.

    Attributes:
        at: (batch or 1, m) int64, positions of the new steps.
    """

    at: torch.Tensor

    def attend(
        self, layer: int, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """(batch, m, heads, D) each, to the same shape."""
        ...


class WholeView:
    """A clip from its start to its end; nothing is kept.

    Args:
        length: Positions.
        window: That a query sees, itself included.
        device: Of the clip.
        short_ring: Positions of a chunk, to see what a ring of exactly ``window`` slots leaves visible: the keys that
            the chunk itself overwrites are gone. For comparisons alone; None sees the whole window.
    """

    def __init__(
        self, length: int, window: int, device: torch.device, *, short_ring: int | None = None
    ) -> None:
        self.at = torch.arange(length, device=device)[None]
        self._length, self._window, self._short_ring = length, window, short_ring
        self._masks: dict[tuple[int, int], torch.Tensor] = {}

    def attend(
        self, layer: int, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """See ``View``."""
        queries, keys, values = (x.transpose(1, 2) for x in (queries, keys, values))
        if self._length <= self._window and self._short_ring is None:
            return F.scaled_dot_product_attention(queries, keys, values, is_causal=True).transpose(1, 2)
        parts: list[torch.Tensor] = []
        block = self._short_ring or _BLOCK
        for start in range(0, self._length, block):
            end = min(start + block, self._length)
            first = max(0, (end - self._window) if self._short_ring else (start - self._window + 1))
            seen = F.scaled_dot_product_attention(
                queries[:, :, start:end],
                keys[:, :, first:end],
                values[:, :, first:end],
                attn_mask=self._mask(start - first, end - start),
            )
            parts.append(seen)
        return torch.cat(parts, dim=2).transpose(1, 2)

    def _mask(self, older: int, new: int) -> torch.Tensor:
        """(new, older + new): blocks behind the first window all share one."""
        if (older, new) not in self._masks:
            index = torch.arange(older + new, device=self.at.device)
            back = index[older:, None] - index
            self._masks[older, new] = (back >= 0) & (back < self._window)
        return self._masks[older, new]


class RingView:
    """The next positions of streams, behind a ring of what they saw.

    Nothing here looks at a number from the host, so one captured graph serves streams at any point. Positions of padding are
    written like others: the slots they take are those of keys that nobody sees any more, and they are overwritten
    before their own turn comes.

    Args:
        ring: (layers, 2, rows, size, heads, D); ``attend`` writes into it.
        before: (batch,) int64, positions of each stream before these.
        new: Positions of each, at most ``size - window + 1``.
        window: That a query sees, itself included.
        rows: (batch,) int64, rows of the ring; None: all, in order.
    """

    def __init__(
        self, ring: torch.Tensor, before: torch.Tensor, new: int, window: int, rows: torch.Tensor | None
    ) -> None:
        size = ring.shape[3]
        if new > size - window + 1:
            raise ValueError(f"{new} positions do not fit a ring of {size} behind a window of {window}")
        self._ring, self._rows = ring, rows
        self.at = before[:, None] + torch.arange(new, device=ring.device)
        places = torch.arange(ring.shape[2], device=ring.device) if rows is None else rows
        self._slots = (places[:, None], self.at % size)
        last = self.at[:, -1:]
        held = last - (last - torch.arange(size, device=ring.device)) % size
        back = self.at[:, :, None] - held[:, None]
        self._mask = ((back >= 0) & (back < window) & (held >= 0)[:, None])[:, None]

    def attend(
        self, layer: int, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """See ``View``."""
        held = self._ring[layer]
        for memory, fresh in zip(held, (keys, values), strict=True):
            memory.index_put_(self._slots, fresh)
        if self._rows is not None:
            held = held.index_select(1, self._rows)
        seen = F.scaled_dot_product_attention(
            queries.transpose(1, 2),
            held[0].transpose(1, 2),
            held[1].transpose(1, 2),
            attn_mask=self._mask,
        )
        return seen.transpose(1, 2)
