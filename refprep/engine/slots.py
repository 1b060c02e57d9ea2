"""What the device remembers of the requests that are being generated: one row of every tensor is one request.

    name        shape                     meaning
    hidden      (slots, hidden)           last state after the final norm: its logits give the next first code
    position    (slots,) int64            where the next talker token goes
    frame       (slots,) int64            frames written
    seen        (slots, vocab) bool       codes of codebook 0 written so far
    uniforms    (slots, frames, 16)       every random number the request will use
    trailing    (slots, steps, hidden)    text that is fed beside the frames, then ``pad``
    codes       (slots, frames, 16)       int64, what was written
    eos_ranks   (slots, frames) int64     ids likelier than EOS when a frame was chosen

The step reads and writes only these, so it runs without a look from the host and can be replayed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import torch

from refprep.engine.config import TalkerConfig
from refprep.engine.kv_cache import KVCache, grown
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.sampler import Settings, philox_uniforms
from refprep.engine.talker import Talker
from refprep.types import SamplingParams


@dataclass(slots=True, eq=False)
class Slots:
    """Device tensors of a number of requests; see the table above."""

    hidden: torch.Tensor
    position: torch.Tensor
    frame: torch.Tensor
    seen: torch.Tensor
    uniforms: torch.Tensor
    trailing: torch.Tensor
    trailing_steps: torch.Tensor
    pad: torch.Tensor
    codes: torch.Tensor
    eos_ranks: torch.Tensor
    penalty: torch.Tensor
    first: Settings
    rest: Settings
    cache: KVCache
    predictor_cache: KVCache

    @classmethod
    def empty(cls, talker: Talker, *, slots: int) -> Slots:
        """Slots without room; ``reserve`` gives them some."""
        config, device, dtype = talker.config, talker.device, talker.dtype
        groups, width = config.num_code_groups, config.hidden_size
        idle = [SamplingParams()] * slots
        first, rest = _settings(idle, config, device)
        return cls(
            hidden=torch.zeros((slots, width), dtype=dtype, device=device),
            position=torch.zeros(slots, dtype=torch.int64, device=device),
            frame=torch.zeros(slots, dtype=torch.int64, device=device),
            seen=torch.zeros((slots, config.vocab_size), dtype=torch.bool, device=device),
            uniforms=torch.zeros((slots, 0, groups), device=device),
            trailing=torch.zeros((slots, 1, width), dtype=dtype, device=device),
            trailing_steps=torch.zeros(slots, dtype=torch.int64, device=device),
            pad=torch.zeros((slots, width), dtype=dtype, device=device),
            codes=torch.zeros((slots, 0, groups), dtype=torch.int64, device=device),
            eos_ranks=torch.zeros((slots, 0), dtype=torch.int64, device=device),
            penalty=torch.ones(slots, device=device),
            first=first,
            rest=rest,
            cache=KVCache.empty(config, slots=slots, capacity=0, dtype=dtype, device=device),
            predictor_cache=talker.code_predictor.empty_cache(slots),
        )

    def reserve(self, *, tokens: int, frames: int, steps: int) -> None:
        """Make room for a longer prompt, more frames or more text; what is being generated stays."""
        if tokens > self.cache.capacity:
            self.cache = self.cache.grown(tokens)
        if frames > self.codes.shape[1]:
            self.uniforms = grown(self.uniforms, 1, frames)
            self.codes = grown(self.codes, 1, frames)
            self.eos_ranks = grown(self.eos_ranks, 1, frames)
        if steps > self.trailing.shape[1]:
            self.trailing = grown(self.trailing, 1, steps)

    def occupy(
        self, slot: int, prompt: TalkerPrompt, sampling: SamplingParams, *, seed: int, frames: int
    ) -> None:
        """Put a request into a slot, before its prompt is read."""
        steps = prompt.trailing.shape[0]
        self.frame[slot] = 0
        self.seen[slot] = False
        self.position[slot] = prompt.embeds.shape[0]
        self.trailing[slot, :steps] = prompt.trailing
        self.trailing_steps[slot] = steps
        self.pad[slot] = prompt.pad
        self.penalty[slot] = sampling.repetition_penalty
        numbers = philox_uniforms(seed, frames, self.uniforms.shape[2])
        self.uniforms[slot, :frames] = torch.from_numpy(numbers).to(self.uniforms.device)

    def set_sampling(self, rows: list[SamplingParams], config: TalkerConfig) -> None:
        """Sampling settings of every slot."""
        self.first, self.rest = _settings(rows, config, self.hidden.device)

    def rows(self, which: slice) -> Slots:
        """A view of some slots: writing to its tensors writes here."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        views = {n: v[which] for n, v in parts.items() if isinstance(v, torch.Tensor)}
        return replace(
            self,
            **views,
            first=self.first.rows(which),
            rest=self.rest.rows(which),
            cache=self.cache.slots(which),
            predictor_cache=self.predictor_cache.slots(which),
        )


def _settings(
    rows: list[SamplingParams], config: TalkerConfig, device: torch.device
) -> tuple[Settings, Settings]:
    first = [(p.do_sample, p.temperature, p.top_k, p.top_p) for p in rows]
    rest = [
        (p.subtalker_do_sample, p.subtalker_temperature, p.subtalker_top_k, p.subtalker_top_p) for p in rows
    ]
    codebook = config.code_predictor_config.vocab_size
    return (
        Settings.of(first, vocab=config.vocab_size, device=device),
        Settings.of(rest, vocab=codebook, device=device),
    )
