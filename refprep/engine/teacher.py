"""Teacher forcing: the logits that given codes lead to, whatever the engine itself would have chosen.

Two engines are compared on these, since greedy codes part for good at the first near tie.

    name       shape                   meaning
    codes      (frames, 16) int64      forced
    hidden     (frames + 1, hidden)    from the last position of the prompt on
    talker     (frames + 1, vocab)     float32 logits of the next first code
    predictor  (frames, 15, codebook)  float32 logits of codebooks 1 to 15
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from refprep.engine.kv_cache import KVCache
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.talker import Talker


@dataclass(frozen=True, slots=True, eq=False)
class ForcedLogits:
    """What the model says along forced codes."""

    hidden: torch.Tensor
    talker: torch.Tensor
    predictor: torch.Tensor


@torch.inference_mode()
def force_codes(talker: Talker, prompt: TalkerPrompt, codes: torch.Tensor) -> ForcedLogits:
    """Run a prompt and given frames through the model in one pass each."""
    frames = codes.shape[0]
    text = prompt.pad.expand(frames, -1).clone()
    steps = min(frames, prompt.trailing.shape[0])
    text[:steps] = prompt.trailing[:steps]
    embeds = torch.cat((prompt.embeds, talker.embed_frames(codes) + text))
    cache = KVCache.empty(
        talker.config, slots=1, capacity=len(embeds), dtype=talker.dtype, device=talker.device
    )
    states = talker.prefill(embeds[None], talker.rotary(len(embeds)), cache)[0]
    hidden = states[len(prompt.embeds) - 1 :]
    return ForcedLogits(hidden, talker.logits(hidden), talker.code_predictor.force(hidden[:-1], codes))
