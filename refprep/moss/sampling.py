"""From scores to ids, row by row.

    scores    (rows, ids) float32
    uniforms  (rows,) float32 in [0, 1)

    Delay  temperature, masks, penalty, top-k (exactly k), top-p
    Local  penalty, temperature, top-k (those tied with the k-th are kept), top-p

Top-p keeps the likeliest ids up to the first that brings their sum above it, and at least one. A draw inverts the
cumulative distribution in the order of ids, with the number that ``Uniforms`` has for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from refprep.engine.sampler import draw, penalize, philox_uniforms

__all__ = ["Chain", "Uniforms", "choose", "penalize", "tempered", "trimmed"]


class Uniforms:
    """Random numbers of a request: Philox at the counter (row, column) under its seed.

    Column k is codebook k, and its row the frame; column n_vq is the text channel, and its row the step. So a number depends
    on nothing but seed, frame and codebook: not on the batch, the slot, or the row of the delay pattern it is used in. Delay
    counts the frames of the prefix, whose last codes it writes anew; Local counts new frames.
    """

    _BLOCK = 256

    def __init__(self, seed: int, n_vq: int) -> None:
        self._seed, self._columns = seed, n_vq + 1
        self._table = np.zeros((0, self._columns), np.float32)

    def at(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Numbers of some counters."""
        while len(self._table) <= rows.max():
            block = philox_uniforms(self._seed, self._BLOCK, self._columns, first_frame=len(self._table))
            self._table = np.concatenate((self._table, block))
        numbers: npt.NDArray[np.float32] = self._table[rows, columns]
        return numbers


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """How some rows of scores become ids: tensors of (rows, 1), and what they decide without a look at the device.

    Attributes:
        temperature: 1 where ``is_greedy``.
        top_k: The number of ids where all are kept.
        top_p: 1 keeps all.
        is_greedy: The likeliest id is taken.
        penalty: Of repetition; 1 is off.
        largest_k: 0 where no row is cut.
        cuts_p: Whether any row is cut by ``top_p``.
        draws: Whether any row is drawn.
        penalizes: Whether any row has a penalty.
    """

    temperature: torch.Tensor
    top_k: torch.Tensor
    top_p: torch.Tensor
    is_greedy: torch.Tensor
    penalty: torch.Tensor
    largest_k: int
    cuts_p: bool
    draws: bool
    penalizes: bool

    @classmethod
    def of(
        cls,
        settings: Sequence[tuple[float, int, float, float]],
        *,
        ids: int,
        device: torch.device | str = "cpu",
    ) -> Chain:
        """From (temperature, top_k, top_p, penalty) of every row; temperature 0 is greedy, and needs no cuts."""
        drawn = [s for s in settings if s[0]]
        ks = [min(s[1], ids) if s[0] and s[1] else ids for s in settings]
        cuts_p = any(s[2] < 1 for s in drawn)
        largest = max((k for k, s in zip(ks, settings, strict=True) if s[0]), default=0)

        def column(values: Sequence[float]) -> torch.Tensor:
            return torch.tensor(values, dtype=torch.float32, device=device)[:, None]

        return cls(
            temperature=column([s[0] or 1.0 for s in settings]),
            top_k=torch.tensor(ks, device=device)[:, None],
            top_p=column([s[2] if s[0] else 1.0 for s in settings]),
            is_greedy=torch.tensor([not s[0] for s in settings], device=device)[:, None],
            penalty=column([s[3] for s in settings]),
            largest_k=largest if cuts_p or any(k < ids for k in ks) else 0,
            cuts_p=cuts_p,
            draws=bool(drawn),
            penalizes=any(s[3] != 1 for s in settings),
        )


def tempered(scores: torch.Tensor, chain: Chain) -> torch.Tensor:
    """Scores over the temperature."""
    return scores / chain.temperature if chain.draws else scores


def trimmed(scores: torch.Tensor, chain: Chain, *, keeps_ties: bool) -> torch.Tensor:
    """Top-k, then top-p; what is cut becomes -inf."""
    if not chain.largest_k:
        return scores
    best, order = scores.topk(chain.largest_k, dim=-1)
    rank = torch.arange(chain.largest_k, device=scores.device)
    if keeps_ties:
        kth = best.gather(1, chain.top_k.clamp(max=chain.largest_k) - 1)
        scores = scores.masked_fill(scores < kth, -torch.inf)
        if not chain.cuts_p:
            return scores
        best, order = scores.sort(dim=-1, descending=True, stable=True)
    else:
        best = best.masked_fill(rank >= chain.top_k, -torch.inf)
    if chain.cuts_p:
        share = best.softmax(dim=-1)
        before = share.cumsum(dim=-1) - share
        before[:, 0] = 0
        best = best.masked_fill((before > chain.top_p) & (chain.top_p < 1), -torch.inf)
    return torch.full_like(scores, -torch.inf).scatter(1, order, best)


def choose(
    scores: torch.Tensor, chain: Chain, uniforms: torch.Tensor, *, keeps_ties: bool = False
) -> torch.Tensor:
    """(rows,) int64 ids, of scores that were divided, masked and penalised."""
    likeliest = scores.argmax(dim=-1)
    if not chain.draws:
        return likeliest
    drawn = draw(trimmed(scores, chain, keeps_ties=keeps_ties), uniforms)
    return torch.where(chain.is_greedy[:, 0], likeliest, drawn)
