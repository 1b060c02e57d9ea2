"""Static key-value cache: one slot a request, written in place.

name    shape                              meaning
keys    (layers, slots, heads, capacity, D)  after rotary, model dtype
values  (layers, slots, heads, capacity, D)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from refprep.engine.config import DecoderShape


@dataclass(frozen=True, slots=True, eq=False)
class KVCache:
    """Keys and values of every layer and slot."""

    keys: torch.Tensor
    values: torch.Tensor

    @classmethod
    def empty(
        cls, shape: DecoderShape, *, slots: int, capacity: int, dtype: torch.dtype, device: torch.device
    ) -> KVCache:
        """Zeros for a number of slots, each of ``capacity`` positions."""
        size = (shape.num_hidden_layers, slots, shape.num_key_value_heads, capacity, shape.head_dim)
        return cls(
            torch.zeros(size, dtype=dtype, device=device), torch.zeros(size, dtype=dtype, device=device)
        )

    @property
    def capacity(self) -> int:
        """Positions a slot holds."""
        return int(self.keys.shape[3])

    def slots(self, rows: slice) -> KVCache:
        """A view of some slots: writing to it writes here."""
        return KVCache(self.keys[:, rows], self.values[:, rows])

    def grown(self, capacity: int) -> KVCache:
        """A copy whose slots hold more positions."""
        return KVCache(grown(self.keys, 3, capacity), grown(self.values, 3, capacity))


def grown(tensor: torch.Tensor, axis: int, length: int) -> torch.Tensor:
    """A tensor that is longer along an axis: what was there, then zeros.

    Only what was there is written: on a CPU the zeros take no memory until something is put there.
    """
    shape = list(tensor.shape)
    old, shape[axis] = shape[axis], length
    longer = torch.zeros(shape, dtype=tensor.dtype, device=tensor.device)
    longer.narrow(axis, 0, old).copy_(tensor)
    return longer


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """Where one pass writes into a cache and what its queries see.

    Attributes:
        at: Positions written: a range that all rows share, or (batch,) one position a row.
        limit: Positions read; no row sees anything at or after it.
        mask: (batch, 1, 1, limit) boolean, true where a key is seen; None where all of them are.
        is_causal: The pass carries several tokens from position 0 on, each sees itself and those before.
    """

    at: slice | torch.Tensor
    limit: int
    mask: torch.Tensor | None = None
    is_causal: bool = False

    @classmethod
    def prefix(cls, length: int) -> Window:
        """The first pass of a sequence: ``length`` tokens from position 0."""
        return cls(slice(0, length), length, is_causal=True)

    @classmethod
    def next_token(cls, position: int) -> Window:
        """One token a row, all rows at the same position."""
        return cls(slice(position, position + 1), position + 1)

    @classmethod
    def ragged(cls, positions: torch.Tensor, limit: int, *, is_exact: bool = False) -> Window:
        """One token a row, each row at its own position.

        Args:
            positions: (batch,) int64.
            limit: Above every position.
            is_exact: Every position is ``limit - 1``, so that nothing needs to be masked.
        """
        if is_exact:
            return cls.next_token(limit - 1)
        seen = torch.arange(limit, device=positions.device) <= positions[:, None]
        return cls(positions, limit, seen[:, None, None, :])

    def write(self, store: torch.Tensor, new: torch.Tensor) -> None:
        """Put (batch, heads, tokens, D) into one layer's (batch, heads, capacity, D)."""
        if isinstance(self.at, slice):
            store[:, :, self.at].copy_(new)
        else:
            store[torch.arange(new.shape[0], device=new.device), :, self.at] = new[:, :, 0]

    def write_token(self, store: torch.Tensor, new: torch.Tensor) -> None:
        """Put one token a row, (batch, heads, D), into one layer's (batch, heads, capacity, D)."""
        if isinstance(self.at, slice):
            store.select(2, self.at.start).copy_(new)
        else:
            store[torch.arange(new.shape[0], device=new.device), :, self.at] = new
