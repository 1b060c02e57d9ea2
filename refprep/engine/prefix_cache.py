"""Keys and values of what a voice's prompts begin with, kept so that only the new text is read.

An entry is known by the content of its positions: text ids, control ids, speaker embedding, reference codes. A cache
belongs to one talker, whose weights and dtype are therefore no part of the key.

    name             shape                              meaning
    keys, values     (layers, 1, heads, positions, D)   after rotary, model dtype, on the talker's device

Keys are 112 KiB a position in bfloat16 (28 layers of 8 heads of 128): 12 s of reference take 5 to 20 MB.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from cachetools import LRUCache

from refprep.engine.kv_cache import KVCache

DEFAULT_BUDGET_BYTES = {"cuda": 2 << 30, "cpu": 256 << 20}
"""By kind of device: a hundred long references or more on a GPU, ten or more on a CPU, where float32 takes twice the room."""


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """What a prompt's first positions left in a cache: copies, so that the slot can go on."""

    keys: torch.Tensor
    values: torch.Tensor

    @classmethod
    def copied(cls, slot: KVCache, num_positions: int) -> Prefix:
        """Of the first positions of a view of one slot."""
        return cls(*(part[:, :, :, :num_positions].clone() for part in (slot.keys, slot.values)))

    def write(self, slot: KVCache) -> None:
        """Put it into the first positions of a view of one slot."""
        assert self.keys.dtype is slot.keys.dtype, "the entry is of another talker"
        slot.keys[:, :, :, : self.num_positions].copy_(self.keys)
        slot.values[:, :, :, : self.num_positions].copy_(self.values)

    @property
    def num_positions(self) -> int:
        """Positions it holds."""
        return int(self.keys.shape[3])

    @property
    def num_bytes(self) -> int:
        """Of both tensors."""
        return self.keys.nbytes + self.values.nbytes


@dataclass(frozen=True, slots=True)
class PrefixStats:
    """What a cache did so far.

    Attributes:
        hits: Prompts whose beginning was there.
        misses: Prompts whose beginning was not.
        entries: Held now.
        num_bytes: Held now.
    """

    hits: int
    misses: int
    entries: int
    num_bytes: int


class PrefixCache:
    """Entries within a budget of bytes; the one that was not used for longest goes first.

    A prompt in hand keeps its entry alive after it went, so the budget bounds what waits here, not that.

    Attributes:
        budget_bytes: Never exceeded; 0 keeps nothing.
    """

    def __init__(self, budget_bytes: int) -> None:
        assert budget_bytes >= 0, budget_bytes
        self.budget_bytes = budget_bytes
        self._entries: LRUCache[bytes, Prefix] = LRUCache(budget_bytes, getsizeof=lambda one: one.num_bytes)
        self._hits = self._misses = 0

    @classmethod
    def default(cls, device: torch.device) -> PrefixCache:
        """With the budget that suits a device."""
        return cls(DEFAULT_BUDGET_BYTES.get(device.type, DEFAULT_BUDGET_BYTES["cpu"]))

    @property
    def stats(self) -> PrefixStats:
        """What it did so far."""
        return PrefixStats(self._hits, self._misses, len(self._entries), int(self._entries.currsize))

    def get(self, key: bytes) -> Prefix | None:
        """The entry of a key, which counts as used now; None where there is none."""
        prefix = self._entries.get(key)
        self._hits += prefix is not None
        self._misses += prefix is None
        return prefix

    def put(self, key: bytes, prefix: Prefix) -> None:
        """Keep an entry; one that is larger than the whole budget is not kept, and drives nothing out."""
        if prefix.num_bytes <= self.budget_bytes:
            self._entries[key] = prefix

    def clear(self) -> None:
        """Drop every entry; what was counted stays."""
        self._entries.clear()
