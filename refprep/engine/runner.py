"""One frame: what runs on the device, in one piece and without a look from the host.

A frame is two halves. ``choose_first`` turns the last hidden state into a code of codebook 0, and knows who is done.
``complete_frame`` lets the code predictor write the other 15, sums their embeddings with the next piece of text and feeds
the talker. Between them a host that can look for nothing (a CPU) saves the second half when all are done; neither half
needs the look. All that runs a frame runs these: ``steps.py`` has it eagerly, compiled and captured.
"""

from __future__ import annotations

import torch

from refprep.engine.kv_cache import Window
from refprep.engine.sampler import choose, penalize
from refprep.engine.slots import Slots, Stop
from refprep.engine.talker import Talker

MIN_FIRST_CODES = 2
"""EOS cannot be among this many first codes: the published code generates with ``min_new_tokens=2``."""

_RUNS, _EOS, _BUDGET = int(Stop.RUNS), int(Stop.EOS), int(Stop.BUDGET)
_CONTROL_IDS = 1024
"""The last ids of codebook 0's vocabulary are control ids: never chosen, but for EOS."""


def suppressed_ids(talker: Talker, *, never_ends: bool = False) -> torch.Tensor:
    """(2, vocab) boolean, true for ids that are not chosen: row 0 in a request's first frames, row 1 later.

    Args:
        talker: Whose vocabulary it is.
        never_ends: EOS is not chosen later, either.
    """
    config = talker.config
    mask = torch.zeros((2, config.vocab_size), dtype=torch.bool, device=talker.device)
    mask[:, config.vocab_size - _CONTROL_IDS :] = True
    mask[0, config.codec_eos_token_id] = True
    mask[1, config.codec_eos_token_id] = never_ends
    return mask


def write_frame(
    talker: Talker, slots: Slots, suppressed: torch.Tensor, *, limit: int, is_exact: bool
) -> None:
    """Both halves: a frame of every running row, told in ``slots.report``; see them for the arguments."""
    first = choose_first(talker, slots, suppressed)
    complete_frame(talker, slots, first, limit=limit, is_exact=is_exact)


def choose_first(talker: Talker, slots: Slots, suppressed: torch.Tensor) -> torch.Tensor:
    """Choose codebook 0 of the next frame, and stop the rows that are done.

    A row with a whole budget of frames chooses once more: that tells its end from a budget that ran out.

    Args:
        talker: Prepared.
        slots: The rows.
        suppressed: Of ``suppressed_ids``.

    Returns:
        (batch,) int64; EOS where the request is done.
    """
    eos = talker.config.codec_eos_token_id
    logits = talker.logits(slots.hidden)
    rank = (logits > logits[:, eos, None]).sum(dim=-1)
    scores = penalize(logits, slots.seen, slots.penalty)
    barred = suppressed.index_select(0, (slots.frame >= MIN_FIRST_CODES).long())
    first = choose(scores.masked_fill(barred, -torch.inf), slots.first, _uniforms(slots)[:, 0])
    slots.seen.scatter_(1, first[:, None], 1)
    ends = ((slots.frame >= slots.budget) * _BUDGET).masked_fill_(first == eos, _EOS)
    slots.stop.add_(ends * (slots.stop == _RUNS))
    slots.report[:, 0].copy_(slots.stop)
    slots.report[:, 1].copy_(rank)
    return first


def complete_frame(talker: Talker, slots: Slots, first: torch.Tensor, *, limit: int, is_exact: bool) -> None:
    """Write the other codebooks of a frame and feed it to the talker.

    A row that stopped computes a frame that nobody reads, and stays where it is.

    Args:
        talker: Prepared.
        slots: The rows of ``first``.
        first: (batch,) int64.
        limit: Above every row's position.
        is_exact: Every row's position is ``limit - 1``.
    """
    uniform = _uniforms(slots)
    codebook = talker.config.code_predictor_config.vocab_size
    codes = talker.code_predictor.predict(
        slots.hidden,
        first.masked_fill(first >= codebook, 0),
        slots.predictor_cache,
        lambda logits, number: choose(logits, slots.rest, uniform[:, number]),
    )
    slots.report[:, 2:].copy_(codes)
    fed = talker.embed_frames(codes) + _text(slots)
    window = (
        Window.next_token(limit - 1)
        if is_exact
        else Window.ragged(slots.position, slots.row, slots.at[:limit])
    )
    slots.hidden.copy_(talker.step(fed, slots.position, slots.rotary, slots.cache, window))
    is_running = slots.stop == _RUNS
    slots.position.add_(is_running)
    slots.frame.add_(is_running)


def _uniforms(slots: Slots) -> torch.Tensor:
    """(batch, 16) random numbers of the next frame."""
    at = slots.frame[:, None, None].expand(-1, 1, slots.uniforms.shape[2])
    return slots.uniforms.gather(1, at)[:, 0]


def _text(slots: Slots) -> torch.Tensor:
    """(batch, hidden): the text that goes beside the frame just written; ``pad`` when the text is over."""
    last = slots.trailing.shape[1] - 1
    at = slots.frame.clamp(max=last)[:, None, None].expand(-1, 1, slots.trailing.shape[2])
    text = slots.trailing.gather(1, at)[:, 0]
    return torch.where((slots.frame < slots.trailing_steps)[:, None], text, slots.pad)
