"""From logits to codes, on the device, reproducible for every request by itself.

    name      shape              meaning
    logits    (batch, vocab)     float32
    seen      (batch, vocab)     boolean: codes of codebook 0 that the request wrote so far
    uniform   (batch,)           float32 in [0, 1): this draw's random number
    settings  (batch,) each      one value a request

A draw inverts the cumulative distribution in the order of ids. Its random number is Philox 4x32 at the counter (frame,
codebook) under the request's seed, so it depends on nothing else: not on the batch, the slot, the device or the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

# Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011), table 2 and section 3.3.
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)


def philox_uniforms(
    seed: int, frames: int, codebooks: int, *, first_frame: int = 0
) -> npt.NDArray[np.float32]:
    """Random numbers of a request.

    Args:
        seed: 0 to 2^64 - 1.
        frames: How many, from ``first_frame`` on.
        codebooks: Draws a frame.
        first_frame: The numbers of a frame are the same wherever the call starts.

    Returns:
        (frames, codebooks) float32 multiples of 2^-23 in [0, 1): times a sum they stay below it, rounded or not.
    """
    index = np.arange(first_frame, first_frame + frames, dtype=np.uint64)
    blocks = (codebooks + 3) // 4  # a counter gives four numbers
    shape = (frames, blocks)
    state = [
        np.broadcast_to((index & _LOW)[:, None], shape),
        np.broadcast_to(np.arange(blocks, dtype=np.uint64)[None], shape),
        np.zeros(shape, np.uint64),
        np.zeros(shape, np.uint64),
    ]
    keys = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(_ROUNDS):
        one, two = state[0] * _MULTIPLIERS[0], state[2] * _MULTIPLIERS[1]
        shift = np.uint64(32)
        state = [
            (two >> shift) ^ state[1] ^ np.uint64(keys[0]),
            two & _LOW,
            (one >> shift) ^ state[3] ^ np.uint64(keys[1]),
            one & _LOW,
        ]
        keys = [(key + weyl) & 0xFFFFFFFF for key, weyl in zip(keys, _WEYL, strict=True)]
    words = np.stack(state, axis=-1).reshape(frames, 4 * blocks)[:, :codebooks]
    return (words >> np.uint64(9)).astype(np.float32) * np.float32(2.0**-23)


@dataclass(frozen=True, slots=True)
class Profile:
    """What of some requests' settings decides which operations run: known without a look at the device.

    Attributes:
        max_top_k: Largest ``top_k``.
        cuts_top_p: Whether any ``top_p`` is below 1.
        draws: Whether any request samples.
        is_even: Whether all requests sample, with one ``top_k``: then nothing is chosen row by row.
    """

    max_top_k: int
    cuts_top_p: bool
    draws: bool
    is_even: bool

    def covers(self, other: Profile) -> bool:
        """Whether its operations give the right codes for the other's requests, too."""
        return (
            self.draws
            and not self.is_even
            and self.max_top_k >= other.max_top_k
            and self.cuts_top_p >= other.cuts_top_p
        )


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How one decoder's logits become codes: tensors of (batch,), one value a request.

    Attributes:
        is_sampled: Draw; otherwise the likeliest code is taken.
        temperature: Logits are divided by it.
        top_k: Only codes at least as likely as the k-th are kept; 0 keeps all.
        top_p: The smallest set of likeliest codes that reaches this probability is kept; 1 keeps all.
        profile: Of all of them.
    """

    is_sampled: torch.Tensor
    temperature: torch.Tensor
    top_k: torch.Tensor
    top_p: torch.Tensor
    profile: Profile

    @classmethod
    def of(
        cls, rows: Sequence[tuple[bool, float, int, float]], *, vocab: int, device: torch.device | str
    ) -> Settings:
        """From (is_sampled, temperature, top_k, top_p) of every request; a greedy row needs none of the rest."""
        sampled = [r[0] for r in rows]
        top_k = [min(r[2], vocab) if r[0] else 0 for r in rows]
        top_p = [r[3] if r[0] else 1.0 for r in rows]
        return cls(
            torch.tensor(sampled, device=device),
            torch.tensor([r[1] if r[0] else 1.0 for r in rows], device=device, dtype=torch.float32),
            torch.tensor(top_k, device=device),
            torch.tensor(top_p, device=device, dtype=torch.float32),
            Profile(max(top_k), min(top_p) < 1.0, any(sampled), all(sampled) and len(set(top_k)) == 1),
        )

    def rows(self, which: slice) -> Settings:
        """The settings of some requests."""
        sampled, temperature, top_k, top_p = (part[which] for part in self._parts())
        return Settings(sampled, temperature, top_k, top_p, self.profile)

    def overwritten(self, other: Settings) -> Settings:
        """With the values of another one, in the memory of this one."""
        for mine, theirs in zip(self._parts(), other._parts(), strict=True):
            mine.copy_(theirs)
        return replace(self, profile=other.profile)

    def move(self, source: int, target: int) -> None:
        """Take a request's values to another row."""
        for part in self._parts():
            part[target] = part[source]

    def _parts(self) -> tuple[torch.Tensor, ...]:
        return self.is_sampled, self.temperature, self.top_k, self.top_p


def penalize(logits: torch.Tensor, seen: torch.Tensor, penalty: torch.Tensor) -> torch.Tensor:
    """Repetition penalty: scores of codes seen before are divided by it where positive, multiplied where negative."""
    factor = penalty[:, None]
    return torch.where(seen, torch.where(logits > 0, logits / factor, logits * factor), logits)


def filter_logits(logits: torch.Tensor, settings: Settings) -> torch.Tensor:
    """Temperature, then top-k, then top-p; what is cut becomes -inf. Codes tied with the k-th are kept."""
    scores = logits / settings.temperature[:, None]
    if settings.profile.max_top_k:
        best = scores.topk(settings.profile.max_top_k, dim=-1).values
        if settings.profile.is_even:
            kth = best[:, -1:]
        else:
            kth = best.gather(1, (settings.top_k - 1).clamp(min=0)[:, None])
            kth = kth.masked_fill(settings.top_k[:, None] == 0, -torch.inf)
        scores = scores.masked_fill_(scores < kth, -torch.inf)
    if settings.profile.cuts_top_p:
        rising, order = scores.sort(dim=-1)
        tail = rising.softmax(dim=-1).cumsum(dim=-1) <= 1.0 - settings.top_p[:, None]
        tail[:, -1].zero_()  # the likeliest stays
        tail &= settings.top_p[:, None] < 1.0
        scores = scores.masked_fill(torch.zeros_like(tail).scatter(1, order, tail), -torch.inf)
    return scores


def draw(scores: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """(batch,) int64 ids drawn with the probabilities that (batch, vocab) scores stand for."""
    reached = scores.softmax(dim=-1).cumsum(dim=-1)
    wanted = uniform[:, None] * reached[:, -1:]
    # The first id whose cumulative probability exceeds the number: an id of probability zero never does so first.
    return torch.searchsorted(reached, wanted, right=True)[:, 0]


def choose(logits: torch.Tensor, settings: Settings, uniform: torch.Tensor) -> torch.Tensor:
    """(batch,) int64 ids: drawn where a request samples, the likeliest where it does not."""
    if not settings.profile.draws:
        return logits.argmax(dim=-1)
    drawn = draw(filter_logits(logits, settings), uniform)
    return (
        drawn if settings.profile.is_even else torch.where(settings.is_sampled, drawn, logits.argmax(dim=-1))
    )
