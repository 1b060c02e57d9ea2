"""Reading a prompt into a slot: what its voice shares in one pass, or from a cache; the rest in a second one.

    pass    positions                   attends to                       when
    first   0 .. split                  itself, causally                 no cache has it
    second  split .. end                all from 0 on, up to itself      always

Both passes have the same shapes whether or not a cache had the first one's outcome, so a request gets the same states,
to the bit, cold or warm. A prompt that shares little (``MIN_SHARED``) has split 0 and is read in the first pass alone.

On a GPU each pass is padded at its end to a bucket's length, so that few shapes occur. No position sees a later one, and
what padding leaves in the slot is behind the prompt: a frame's position is written before it is read. ``read_first`` and
``read_second`` take tensors of fixed shapes and look at nothing, so that they can be captured once a shape.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional as F  # noqa: N812

from refprep.engine.decoder import Rotary
from refprep.engine.kv_cache import KVCache, Window
from refprep.engine.prefix_cache import Prefix, PrefixCache
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.talker import Talker

BUCKETS = (32, 64, 128, 256, 512, 1024)
"""Lengths that passes are padded to on a GPU; beyond the last, its multiples."""


def bucket_length(tokens: int, buckets: Sequence[int] | None = BUCKETS) -> int:
    """The shortest bucket that holds some tokens; without buckets, their number.

    Args:
        tokens: 1 or more.
        buckets: Ascending.
    """
    if buckets is None:
        return tokens
    last = buckets[-1]
    return next((length for length in buckets if length >= tokens), -(-tokens // last) * last)


def prompt_capacity(num_positions: int, split: int, buckets: Sequence[int] | None) -> int:
    """Positions that a slot and the rotary table must have while a prompt is read, padding included."""
    return bucket_length(split + bucket_length(num_positions - split, buckets), buckets)


def read_prompt(
    talker: Talker,
    slot: KVCache,
    prompt: TalkerPrompt,
    rotary: Rotary,
    prefix_cache: PrefixCache | None = None,
    *,
    buckets: Sequence[int] | None = None,
) -> torch.Tensor:
    """Read a prompt into the first positions of a slot.

    Args:
        talker: Prepared.
        slot: A view of one slot, of ``prompt_capacity`` positions or more; what it holds is overwritten.
        prompt: Of ``embed_prompt``.
        rotary: Of as many positions.
        prefix_cache: Gets what the prompt shares, if it was not there; the one that the prompt was embedded with.
        buckets: Lengths to pad to; None pads nothing.

    Returns:
        (1, hidden): the last position's state after the final norm, whose logits give the first code.
    """
    split, rest, device = prompt.split, prompt.embeds, talker.device
    assert slot.capacity >= prompt_capacity(prompt.num_positions, split, buckets), "the slot is too short"
    if prompt.prefix is not None:
        prompt.prefix.write(slot)
    elif split:
        shared, rest = rest[:split], rest[split:]
        read_first(talker, slot, _padded(shared, buckets), _index(split - 1, device), rotary)
        if prefix_cache is not None:
            prefix_cache.put(prompt.key, Prefix.copied(slot, split))
    padded, last = _padded(rest, buckets), _index(len(rest) - 1, device)
    if not split:
        return read_first(talker, slot, padded, last, rotary)
    limit = bucket_length(split + padded.shape[1], buckets)
    return read_second(talker, slot, padded, last, rotary, start=_index(split, device), limit=limit)


def read_first(
    talker: Talker, slot: KVCache, embeds: torch.Tensor, last: torch.Tensor, rotary: Rotary
) -> torch.Tensor:
    """Read from position 0 on.

    Args:
        talker: Prepared.
        slot: A view of one slot.
        embeds: (1, tokens, hidden), padded or not.
        last: (1,) int64, on the device: the last token that counts.
        rotary: Of all positions.

    Returns:
        (1, hidden) state of that token.
    """
    return talker.prefill(embeds, rotary, slot).index_select(1, last)[:, 0]


def read_second(
    talker: Talker,
    slot: KVCache,
    embeds: torch.Tensor,
    last: torch.Tensor,
    rotary: Rotary,
    *,
    start: torch.Tensor,
    limit: int,
) -> torch.Tensor:
    """Read on behind what a slot holds.

    Args:
        talker: Prepared.
        slot: A view of one slot.
        embeds: (1, tokens, hidden), padded or not.
        last: (1,) int64, on the device: the last token that counts.
        rotary: Of all positions.
        start: (1,) int64, on the device: position of the first token.
        limit: At or above the position behind the last token; keys up to here are looked at, and masked.

    Returns:
        (1, hidden) state of that token.
    """
    config = talker.config
    positions = start + torch.arange(embeds.shape[1], device=embeds.device)
    group = config.num_attention_heads // config.num_key_value_heads
    window = Window.after(positions, limit, group=group, dtype=embeds.dtype)
    return talker.prefill(embeds, rotary, slot, window).index_select(1, last)[:, 0]


def _padded(embeds: torch.Tensor, buckets: Sequence[int] | None) -> torch.Tensor:
    """(tokens, hidden) to (1, bucket, hidden), zeros at the end."""
    return F.pad(embeds, (0, 0, 0, bucket_length(len(embeds), buckets) - len(embeds)))[None]


def _index(value: int, device: torch.device) -> torch.Tensor:
    """(1,) int64, filled on the device: a copy from the host would wait for it."""
    return torch.full((1,), value, dtype=torch.int64, device=device)
