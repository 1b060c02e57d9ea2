"""What the device remembers of the requests that are being generated: one row of every tensor is one request.

    name        shape                     meaning
    hidden      (slots, hidden)           last state after the final norm: its logits give the next first code
    position    (slots,) int64            where the next talker token goes
    frame       (slots,) int64            frames written
    budget      (slots,) int64            frames it may write
    stop        (slots,) int64            0 while it runs; see ``Stop``
    seen        (slots, vocab) bool       codes of codebook 0 written so far
    uniforms    (slots, frames, 16)       every random number the request will use
    trailing    (slots, steps, hidden)    text that is fed beside the frames, then ``pad``
    report      (slots, 18) int64         of the last frame: stop, ids likelier than EOS, its 16 codes
    row         (slots,) int64            0, 1, 2, ...
    at          (capacity,) int64         0, 1, 2, ...: a frame makes no tensors of numbers, it takes them from here

A frame reads and writes only these, so it runs without a look from the host and can be replayed. A row that stopped is
computed beside the others and keeps its place: nobody reads what it writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from enum import IntEnum
from typing import Any

import torch

from refprep.engine.code_predictor import PredictorCache
from refprep.engine.config import TalkerConfig
from refprep.engine.decoder import Rotary
from refprep.engine.kv_cache import KVCache, grown
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.sampler import Settings, philox_uniforms
from refprep.engine.talker import Talker
from refprep.types import SamplingParams

_CHANGING = ("hidden", "position", "frame", "stop", "seen", "report")


class Stop(IntEnum):
    """Why a row takes no more frames."""

    RUNS = 0
    EOS = 1
    BUDGET = 2
    EMPTY = 3
    """Nobody is in it, or the host took it out."""


@dataclass(slots=True, eq=False)
class Slots:
    """Device tensors of a number of requests; see the table above.

    Attributes:
        version: Changes whenever a tensor is replaced: what was captured with the old ones is void.
    """

    hidden: torch.Tensor
    position: torch.Tensor
    frame: torch.Tensor
    budget: torch.Tensor
    stop: torch.Tensor
    seen: torch.Tensor
    uniforms: torch.Tensor
    trailing: torch.Tensor
    trailing_steps: torch.Tensor
    pad: torch.Tensor
    report: torch.Tensor
    penalty: torch.Tensor
    first: Settings
    rest: Settings
    cache: KVCache
    predictor_cache: PredictorCache
    row: torch.Tensor
    at: torch.Tensor
    rotary: Rotary
    version: int = 0
    _views: dict[tuple[int, int], Slots] = field(default_factory=dict)

    @classmethod
    def empty(cls, talker: Talker, *, slots: int) -> Slots:
        """Slots without room; ``reserve`` gives them some."""
        config, device, dtype = talker.config, talker.device, talker.dtype
        groups, width = config.num_code_groups, config.hidden_size
        first, rest = _settings([SamplingParams()] * slots, config, device)
        return cls(
            hidden=torch.zeros((slots, width), dtype=dtype, device=device),
            position=torch.zeros(slots, dtype=torch.int64, device=device),
            frame=torch.zeros(slots, dtype=torch.int64, device=device),
            budget=torch.zeros(slots, dtype=torch.int64, device=device),
            stop=torch.full((slots,), Stop.EMPTY, dtype=torch.int64, device=device),
            seen=torch.zeros((slots, config.vocab_size), dtype=torch.bool, device=device),
            uniforms=torch.zeros((slots, 0, groups), device=device),
            trailing=torch.zeros((slots, 1, width), dtype=dtype, device=device),
            trailing_steps=torch.zeros(slots, dtype=torch.int64, device=device),
            pad=torch.zeros((slots, width), dtype=dtype, device=device),
            report=torch.zeros((slots, 2 + groups), dtype=torch.int64, device=device),
            penalty=torch.ones(slots, device=device),
            first=first,
            rest=rest,
            cache=KVCache.empty(config, slots=slots, capacity=0, dtype=dtype, device=device),
            predictor_cache=talker.code_predictor.empty_cache(slots),
            row=torch.arange(slots, device=device),
            at=torch.arange(0, device=device),
            rotary=talker.rotary(0),
        )

    def reserve(self, talker: Talker, *, tokens: int, frames: int, steps: int) -> None:
        """Make room for a longer prompt, more frames or more text; what is being generated stays."""
        before = (self.cache, self.uniforms, self.trailing)
        if tokens > self.cache.capacity:
            self.cache = self.cache.grown(tokens)
            self.at, self.rotary = torch.arange(tokens, device=self.row.device), talker.rotary(tokens)
        if frames > self.uniforms.shape[1]:
            self.uniforms = grown(self.uniforms, 1, frames)
        if steps > self.trailing.shape[1]:
            self.trailing = grown(self.trailing, 1, steps)
        if any(
            old is not new
            for old, new in zip(before, (self.cache, self.uniforms, self.trailing), strict=True)
        ):
            self._replaced()

    def occupy(
        self, slot: int, prompt: TalkerPrompt, sampling: SamplingParams, *, seed: int, frames: int
    ) -> None:
        """Put a request into a slot, before its prompt is read; its sampling comes with ``set_sampling``.

        Args:
            slot: That nobody is in.
            prompt: Of the request.
            sampling: Of the request.
            seed: Of its random numbers.
            frames: That it may write.
        """
        steps = prompt.trailing.shape[0]
        self.frame[slot] = 0
        self.seen[slot] = False
        self.position[slot] = prompt.num_positions
        self.budget[slot] = frames
        self.trailing[slot, :steps] = prompt.trailing
        self.trailing_steps[slot] = steps
        self.pad[slot] = prompt.pad
        self.penalty[slot] = sampling.repetition_penalty
        numbers = torch.from_numpy(philox_uniforms(seed, frames + 1, self.uniforms.shape[2]))
        # From pageable memory the host would wait for all that the device still does.
        ready = numbers if self.uniforms.is_cpu else numbers.pin_memory()
        self.uniforms[slot, : frames + 1].copy_(ready, non_blocking=True)
        self.stop[slot] = Stop.RUNS

    def vacate(self, slot: int) -> None:
        """Take whoever is there out; the row is still computed beside running ones, at its first position."""
        self.stop[slot] = Stop.EMPTY
        self.position[slot] = 0
        self.frame[slot] = 0

    def move(self, source: int, target: int) -> None:
        """Take a request to an empty slot, so that running rows stay close together."""
        for part in self._parts().values():
            part[target] = part[source]
        self.first.move(source, target)
        self.rest.move(source, target)
        for cached in (self.cache.keys, self.cache.values):
            cached[:, target] = cached[:, source]
        self.vacate(source)

    def set_sampling(self, rows: Sequence[SamplingParams], config: TalkerConfig) -> None:
        """Sampling settings of every slot, written where the old ones are."""
        first, rest = _settings(rows, config, self.hidden.device)
        if (first.profile, rest.profile) != (self.first.profile, self.rest.profile):
            self._views.clear()
        self.first, self.rest = self.first.overwritten(first), self.rest.overwritten(rest)

    def rows(self, which: slice) -> Slots:
        """A view of some slots: writing to its tensors writes here. It is made once, until a tensor is replaced."""
        key = (which.start, which.stop)
        if key not in self._views:
            views: dict[str, Any] = {name: part[which] for name, part in self._parts().items()}
            self._views[key] = replace(
                self,
                **views,
                row=self.row[: which.stop - which.start],
                first=self.first.rows(which),
                rest=self.rest.rows(which),
                cache=self.cache.slots(which),
                predictor_cache=self.predictor_cache.slots(which),
                _views={},
            )
        return self._views[key]

    def saved(self) -> dict[str, torch.Tensor]:
        """Copies of what a frame changes and does not write anew before it reads it."""
        return {name: getattr(self, name).clone() for name in _CHANGING}

    def restore(self, saved: dict[str, torch.Tensor]) -> None:
        """Put it back where it was."""
        for name, part in saved.items():
            getattr(self, name).copy_(part)

    def _parts(self) -> dict[str, torch.Tensor]:
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            n: part for n, part in parts.items() if isinstance(part, torch.Tensor) and n not in ("row", "at")
        }

    def _replaced(self) -> None:
        self.version += 1
        self._views.clear()


def _settings(
    rows: Sequence[SamplingParams], config: TalkerConfig, device: torch.device
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
