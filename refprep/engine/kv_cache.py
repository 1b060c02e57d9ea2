"""Static key-value cache: one slot a request, written in place.

name    shape                              meaning
keys    (layers, slots, heads, capacity, D)  after rotary, model dtype
values  (layers, slots, heads, capacity, D)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.nn import functional as F  # noqa: N812

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
        mask: (batch, 1, 1, limit) boolean, true where a key is seen; None where all of them are. Of ``after``: what is
            added to the scores, (1, 1, group x tokens, limit).
        is_causal: The pass carries several tokens from position 0 on, each sees itself and those before.
        is_shared: A tensor ``at`` is (tokens,): one position a token, the same in all rows.
        rows: Of ``ragged``.
    """

    at: slice | torch.Tensor
    limit: int
    mask: torch.Tensor | None = None
    is_causal: bool = False
    is_shared: bool = False
    rows: torch.Tensor | None = None

    @classmethod
    def prefix(cls, length: int) -> Window:
        """The first pass of a sequence: ``length`` tokens from position 0."""
        return cls(slice(0, length), length, is_causal=True)

    @classmethod
    def next_token(cls, position: int) -> Window:
        """One token a row, all rows at the same position."""
        return cls(slice(position, position + 1), position + 1)

    @classmethod
    def ragged(cls, positions: torch.Tensor, rows: torch.Tensor, at: torch.Tensor) -> Window:
        """One token a row, each row at its own position.

        Args:
            positions: (batch,) int64.
            rows: (batch,) int64: 0, 1, 2, ...
            at: (limit,) int64: 0, 1, 2, ... up to above every position.
        """
        seen = (at <= positions[:, None])[:, None, None, :]
        return cls(positions, at.shape[0], seen, rows=rows)

    @classmethod
    def after(cls, positions: torch.Tensor, limit: int, *, group: int, dtype: torch.dtype) -> Window:
        """Tokens that follow what the cache holds, the same positions in all rows; each sees all up to itself.

        The mask is made once for all layers, in the form that the kernels add to the scores.

        Args:
            positions: (tokens,) int64, ascending.
            limit: Above every position.
            group: Query heads that share a key head: they become rows of one product, so that keys are not copied.
            dtype: Of the queries.
        """
        device = positions.device
        is_later = torch.arange(limit, device=device) > positions[:, None]
        scores = torch.zeros(is_later.shape, dtype=dtype, device=device).masked_fill_(is_later, -torch.inf)
        return cls(positions, limit, scores.repeat(group, 1)[None, None], is_shared=True)

    def attend(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> torch.Tensor:
        """Attention of a pass of several tokens, after it was written.

        Args:
            q: (batch, heads, tokens, D).
            k: (batch, kv heads, tokens, D), as is ``v``: what the pass wrote.
            v: See ``k``.
            keys: (batch, kv heads, capacity, D) of one layer, as is ``values``.
            values: See ``keys``.

        Returns:
            (batch, heads, tokens, D).
        """
        if self.mask is None:
            return F.scaled_dot_product_attention(q, k, v, is_causal=self.is_causal, enable_gqa=True)
        grouped = q.reshape(q.shape[0], k.shape[1], -1, q.shape[3])
        seen = (keys.narrow(2, 0, self.limit), values.narrow(2, 0, self.limit))
        return F.scaled_dot_product_attention(grouped, *seen, attn_mask=self.mask).reshape(q.shape)

    def write(self, store: torch.Tensor, new: torch.Tensor) -> None:
        """Put (batch, heads, tokens, D) into one layer's (batch, heads, capacity, D)."""
        if isinstance(self.at, slice):
            store[:, :, self.at].copy_(new)
        else:
            assert self.is_shared, "a pass of one token a row writes into places"
            store.index_copy_(2, self.at, new)

    def places(self, cache: KVCache) -> list[Place]:
        """Where one token a row goes and what it sees, of every layer."""
        keys, values, limit = cache.keys.unbind(), cache.values.unbind(), self.limit
        if isinstance(self.at, slice):
            at, here = self.at.start, None
            targets = [(k.select(2, at), v.select(2, at)) for k, v in zip(keys, values, strict=True)]
        else:
            assert self.rows is not None, "rows have positions of their own"
            here = (self.rows, self.at)
            targets = [(k.transpose(1, 2), v.transpose(1, 2)) for k, v in zip(keys, values, strict=True)]
        seen = [(k.narrow(2, 0, limit), v.narrow(2, 0, limit)) for k, v in zip(keys, values, strict=True)]
        return [Place(*t, *s, here, self.mask) for t, s in zip(targets, seen, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One layer of a cache for one token a row.

    Attributes:
        key: Where the keys are written: (batch, heads, D), or (batch, capacity, heads, D) with ``here``.
        value: Alike.
        keys: That are seen, (batch, heads, limit, D).
        values: Alike.
        here: Rows and their positions, where each row has its own.
        mask: Of ``Window``.
    """

    key: torch.Tensor
    value: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor
    here: tuple[torch.Tensor, torch.Tensor] | None
    mask: torch.Tensor | None

    def write(self, key: torch.Tensor, value: torch.Tensor) -> None:
        """Put (batch, heads, D) keys and values of the new token."""
        if self.here is None:
            self.key.copy_(key)
            self.value.copy_(value)
        else:
            self.key.index_put_(self.here, key)
            self.value.index_put_(self.here, value)
