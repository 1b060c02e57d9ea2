"""transformers' Qwen3 model on a cache of slots: every request keeps its own positions, nothing is padded.

    embeds     (rows, length, hidden)
    positions  (rows, length) int64
    keys       (slots, kv heads, capacity, head_dim) a layer, and values likewise

The library's caches grow for a whole batch at once, so that a request could neither join nor leave it, and pads would stand
before the shorter prompts. Here a row writes where it is and sees what it wrote.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from transformers import Qwen3Config, Qwen3Model
from transformers.models.qwen3.modeling_qwen3 import Qwen3RotaryEmbedding

from refprep.moss.config import BackboneShape

# The keyword was renamed within the major version.
_CACHE = "cache" if "cache" in inspect.signature(Qwen3Model.forward).parameters else "past_key_values"

_SHAPE = (
    "vocab_size",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "rms_norm_eps",
    "max_position_embeddings",
    "attention_bias",
)


def qwen3_config(shape: BackboneShape, values: Mapping[str, Any]) -> Qwen3Config:
    """The library's config of a backbone; of the file it takes what the shape does not hold."""
    config = Qwen3Config(
        **{name: getattr(shape, name) for name in _SHAPE},
        hidden_act=values.get("hidden_act", "silu"),
        rope_parameters={"rope_theta": shape.rope_theta, "rope_type": "default"},
        use_sliding_window=False,
        tie_word_embeddings=False,
        pad_token_id=None,
    )
    config._attn_implementation = "sdpa"
    return config


def qwen3(shape: BackboneShape, values: Mapping[str, Any]) -> Qwen3Model:
    """A backbone without weights; call ``settle`` once it is filled."""
    return Qwen3Model(qwen3_config(shape, values))


def settle(backbone: Qwen3Model, device: torch.device) -> None:
    """Compute what a checkpoint does not hold: a model made on the ``meta`` device has no rotary frequencies."""
    backbone.rotary_emb = Qwen3RotaryEmbedding(config=backbone.config).to(device)
    backbone.eval()


class SlotCache:
    """Keys and values of the requests in their slots.

    Attributes:
        slots: Rows.
        capacity: Positions of every slot.
    """

    def __init__(self, shape: BackboneShape, *, slots: int, dtype: torch.dtype, device: torch.device) -> None:
        self._shape, self.slots, self.capacity = shape, slots, 0
        self._dtype, self._device = dtype, device
        self._keys: list[torch.Tensor] = []
        self._values: list[torch.Tensor] = []
        self.reserve(1)

    def reserve(self, positions: int) -> None:
        """Make room for so many positions in every slot; what is there stays."""
        if positions <= self.capacity:
            return
        shape = (self.slots, self._shape.num_key_value_heads, positions, self._shape.head_dim)
        for held in (self._keys, self._values):
            for layer in range(self._shape.num_hidden_layers):
                # zeros: what no row wrote is multiplied by a weight of zero, and NaN would survive that
                fresh = torch.zeros(shape, dtype=self._dtype, device=self._device)
                if self.capacity:
                    fresh[:, :, : self.capacity] = held[layer]
                    held[layer] = fresh
                else:
                    held.append(fresh)
        self.capacity = positions

    def window(self, rows: slice, positions: torch.Tensor, limit: int) -> CacheWindow:
        """What one pass over some rows writes to and reads from."""
        return CacheWindow(self._keys, self._values, rows, positions, limit)


class CacheWindow:
    """Some rows of a cache up to a position, as the library's attention calls it."""

    def __init__(
        self,
        keys: list[torch.Tensor],
        values: list[torch.Tensor],
        rows: slice,
        positions: torch.Tensor,
        limit: int,
    ) -> None:
        self._keys, self._values, self._rows, self._limit = keys, values, rows, limit
        self._positions = positions
        self._which = torch.arange(positions.shape[0], device=positions.device)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write new keys and values of a layer, (rows, heads, length, head_dim); give all that rows may see."""
        seen = []
        for held, fresh in ((self._keys, key_states), (self._values, value_states)):
            own = held[layer_idx][self._rows]
            if fresh.shape[2] == 1:
                own[self._which, :, self._positions[:, 0]] = fresh[:, :, 0]
            else:
                own[:, :, : fresh.shape[2]] = fresh  # a prompt stands at the start of its slot
            seen.append(own[:, :, : self._limit])
        return seen[0], seen[1]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """Positions that rows may see, for versions of the library that ask."""
        return self._limit


def read(backbone: Qwen3Model, embeds: torch.Tensor, cache: SlotCache, slot: int) -> torch.Tensor:
    """Read a prompt into a slot: (length, hidden) embeds to (length, hidden) states after the final norm."""
    length = embeds.shape[0]
    positions = torch.arange(length, device=embeds.device)[None]
    window = cache.window(slice(slot, slot + 1), positions, length)
    return _run(backbone, embeds[None], positions, window, None)[0]


def advance(
    backbone: Qwen3Model,
    embeds: torch.Tensor,
    cache: SlotCache,
    rows: slice,
    positions: torch.Tensor,
    limit: int,
) -> torch.Tensor:
    """One position of some rows: (rows, hidden) embeds at (rows,) positions below ``limit``."""
    mask = None
    if embeds.shape[0] > 1:
        mask = torch.arange(limit, device=embeds.device) <= positions[:, None]
        mask = mask[:, None, None]
    window = cache.window(rows, positions[:, None], limit)
    return _run(backbone, embeds[:, None], positions[:, None], window, mask)[:, 0]


def read_whole(backbone: Qwen3Model, embeds: torch.Tensor) -> torch.Tensor:
    """States of a whole sequence without a cache: (length, hidden) to (length, hidden)."""
    positions = torch.arange(embeds.shape[0], device=embeds.device)[None]
    return _run(backbone, embeds[None], positions, None, None)[0]


def _run(
    backbone: nn.Module,
    embeds: torch.Tensor,
    positions: torch.Tensor,
    window: CacheWindow | None,
    mask: torch.Tensor | None,
) -> torch.Tensor:
    # A mapping is taken as it is: no mask is guessed from the length of the cache.
    states: torch.Tensor = backbone(
        inputs_embeds=embeds,
        position_ids=positions,
        attention_mask={"full_attention": mask},
        use_cache=window is not None,
        **{_CACHE: window},
    ).last_hidden_state
    return states
