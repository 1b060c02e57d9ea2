"""Prefill, and one frame: what runs on the device.

A frame is two halves. ``choose_first`` turns the last hidden state into a code of codebook 0. ``complete_frame`` lets
the code predictor write the other 15, sums their embeddings with the next piece of text and feeds the talker. Between
them a host that can look for nothing (a CPU) sees EOS and saves the second half; neither half needs the look.
"""

from __future__ import annotations

import torch

from refprep.engine.decoder import Rotary
from refprep.engine.kv_cache import Window
from refprep.engine.sampler import choose, penalize
from refprep.engine.slots import Slots
from refprep.engine.talker import Talker

MIN_FIRST_CODES = 2
"""EOS cannot be among this many first codes: the published code generates with ``min_new_tokens=2``."""

_CONTROL_IDS = 1024
"""The last ids of codebook 0's vocabulary are control ids: never chosen, but for EOS."""


def suppressed_ids(talker: Talker, *, never_ends: bool = False) -> torch.Tensor:
    """(vocab,) boolean, true for ids that are no first code and not EOS; with ``never_ends`` for EOS, too."""
    config = talker.config
    mask = torch.zeros(config.vocab_size, dtype=torch.bool, device=talker.device)
    mask[config.vocab_size - _CONTROL_IDS :] = True
    mask[config.codec_eos_token_id] = never_ends
    return mask


def prefill(talker: Talker, slots: Slots, embeds: torch.Tensor, rotary: Rotary) -> None:
    """Read the prompt of the only row of ``slots``.

    Args:
        talker: Prepared.
        slots: A view of one slot, occupied.
        embeds: (positions, hidden).
        rotary: Of all positions.
    """
    slots.hidden.copy_(talker.prefill(embeds[None], rotary, slots.cache)[:, -1])


def choose_first(talker: Talker, slots: Slots, suppressed: torch.Tensor) -> torch.Tensor:
    """Choose codebook 0 of the next frame.

    Returns:
        (batch,) int64; EOS where the request is done.
    """
    eos = talker.config.codec_eos_token_id
    logits = talker.logits(slots.hidden)
    at = slots.frame[:, None]
    slots.eos_ranks.scatter_(1, at, (logits > logits[:, eos, None]).sum(dim=-1, keepdim=True))
    scores = penalize(logits, slots.seen, slots.penalty)
    barred = suppressed | ((at < MIN_FIRST_CODES) & _is_eos(suppressed, eos))
    uniform = slots.uniforms.gather(1, at[:, :, None].expand(-1, 1, slots.uniforms.shape[2]))[:, 0]
    first = choose(scores.masked_fill(barred, -torch.inf), slots.first, uniform[:, 0])
    slots.seen.scatter_(1, first[:, None], True)
    return first


def complete_frame(
    talker: Talker, slots: Slots, first: torch.Tensor, rotary: Rotary, *, limit: int, is_exact: bool
) -> None:
    """Write the other codebooks of a frame and feed it to the talker.

    A row whose ``first`` is EOS computes a frame that nobody reads.

    Args:
        talker: Prepared.
        slots: The rows of ``first``.
        first: (batch,) int64.
        rotary: Of all positions.
        limit: Above every row's position.
        is_exact: Every row's position is ``limit - 1``.
    """
    at = slots.frame[:, None]
    uniform = slots.uniforms.gather(1, at[:, :, None].expand(-1, 1, slots.uniforms.shape[2]))[:, 0]
    codebook = talker.config.code_predictor_config.vocab_size
    codes = talker.code_predictor.predict(
        slots.hidden,
        first.masked_fill(first >= codebook, 0),
        slots.predictor_cache,
        lambda logits, number: choose(logits, slots.rest, uniform[:, number]),
    )
    slots.codes.scatter_(1, at[:, :, None].expand(-1, 1, codes.shape[1]), codes[:, None])
    fed = talker.embed_frames(codes) + _text(slots)
    window = Window.ragged(slots.position, limit, is_exact=is_exact)
    slots.hidden.copy_(talker.step(fed, slots.position, rotary, slots.cache, window))
    slots.position.add_(1)
    slots.frame.add_(1)


def _text(slots: Slots) -> torch.Tensor:
    """(batch, hidden): the text that goes beside the frame just written; ``pad`` when the text is over."""
    last = slots.trailing.shape[1] - 1
    at = slots.frame.clamp(max=last)[:, None, None].expand(-1, 1, slots.trailing.shape[2])
    text = slots.trailing.gather(1, at)[:, 0]
    return torch.where((slots.frame < slots.trailing_steps)[:, None], text, slots.pad)


def _is_eos(like: torch.Tensor, eos: int) -> torch.Tensor:
    return torch.arange(like.shape[0], device=like.device) == eos
