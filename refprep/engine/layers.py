"""What talker, code predictor and codec are made of.

name      shape                        meaning
x         (batch, length, width)       hidden states, model dtype
heads     (batch, heads, length, D)    queries, keys or values
cos, sin  (batch or 1, 1, length, D)   rotary table, model dtype, computed in float32; broadcast to the heads
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by


class Packed(Protocol):
    """A matrix whose weights are not held as a tensor."""

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(..., in) to (..., out), a new tensor."""


Matrix = torch.Tensor | Packed
"""Weights of a linear layer, or something that multiplies by them."""

Pack = Callable[[torch.Tensor], Packed]
"""Takes (out, in) weights."""


class RMSNorm(nn.Module):
    """Root mean square normalisation; statistics in float32, the weight in the model's dtype."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.width, self.eps = width, eps
        self._eps_row = torch.full((1, 1), eps, device="cpu")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise the last axis; the result has the dtype of ``x``."""
        if x.dtype is not torch.float32:
            return rms_norm(x, self.weight, self.eps)
        return F.rms_norm(x, (self.width,), self.weight, self.eps)

    def step(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise one token a row, (batch, width)."""
        if x.dtype is not torch.float32 or not x.is_cpu:
            return self.forward(x)
        # On a CPU calls count: the mean square, eps added, is one product of a row with itself.
        if x.shape[0] == 1:
            scale = torch.addmm(self._eps_row, x, x.t(), alpha=1.0 / self.width).rsqrt_()
        else:
            rows = x.unsqueeze(1)
            scale = torch.baddbmm(self._eps_row, rows, rows.mT, alpha=1.0 / self.width).rsqrt_().view(-1, 1)
        return x * scale * self.weight


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Normalise the last axis and multiply by a weight that broadcasts: one vector, or one a head."""
    if x.dtype is torch.float32:
        return F.rms_norm(x, x.shape[-1:], None, eps) * weight
    # The cast to the model's dtype comes before the weight, as in the published code: in bf16 it rounds twice.
    return weight * F.rms_norm(x.float(), x.shape[-1:], None, eps).to(x.dtype)


class Embedding(nn.Module):
    """A table of rows. PyTorch's own draws its rows on the ``meta`` device, too, which imports 900 modules for it."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """(...) ids to (..., width)."""
        return F.embedding(ids, self.weight)


class SwiGLU(nn.Module):
    """Gated feed-forward network: down(silu(gate(x)) * up(x)), no biases."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)
        self._prepared: tuple[Matrix, Matrix] | None = None
        self._turned: tuple[Matrix, Matrix] | None = None

    def prepare(self) -> None:
        """Lay the two matrices that read the same input one below the other: one product instead of two.

        Call it once after they are filled; without it they are used apart.
        """
        both, down = joined(self.gate_proj, self.up_proj), self.down_proj.weight
        self._prepared = (both, down)
        self._turned = (both.t(), down.t())

    def pack(self, pack: Pack) -> None:
        """Hold the prepared matrices another way; the weights themselves are given up."""
        assert self._prepared is not None, "prepare() comes first"
        both, down = (packed(matrix, pack) for matrix in self._prepared)
        self._prepared = self._turned = (both, down)
        give_up(self.gate_proj, self.up_proj, self.down_proj)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., width) to (..., width)."""
        if self._prepared is None:
            gate, up = self.gate_proj(x), self.up_proj(x)
            down: Matrix = self.down_proj.weight
        else:
            both, down = self._prepared
            gate, up = linear(x, both).chunk(2, dim=-1)
        return linear(F.silu(gate) * up, down)

    def step(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        """One token a row, (batch, width), added to ``residual``."""
        assert self._turned is not None, "prepare() comes first"
        both, down = self._turned
        gate, up = product(x, both).chunk(2, dim=-1)
        return product_onto(residual, F.silu(gate).mul_(up), down)


def joined(*parts: nn.Linear | Embedding) -> torch.Tensor:
    """The matrices of some modules as one; theirs become views of it, so nothing is held twice."""
    whole = torch.cat([part.weight.detach() for part in parts])
    start = 0
    for part in parts:
        end = start + part.weight.shape[0]
        part.weight = nn.Parameter(whole[start:end], requires_grad=False)
        start = end
    return whole


def linear(x: torch.Tensor, matrix: Matrix) -> torch.Tensor:
    """(..., in) to (..., out) with (out, in) weights."""
    return F.linear(x, matrix) if isinstance(matrix, torch.Tensor) else matrix(x)


def product(x: torch.Tensor, turned: Matrix) -> torch.Tensor:
    """(batch, in) to (batch, out) with (in, out) weights."""
    return torch.mm(x, turned) if isinstance(turned, torch.Tensor) else turned(x)


def product_onto(residual: torch.Tensor, x: torch.Tensor, turned: Matrix) -> torch.Tensor:
    """``product``, added to (batch, out)."""
    if isinstance(turned, torch.Tensor):
        return torch.addmm(residual, x, turned)
    return turned(x).add_(residual)


def packed(matrix: Matrix, pack: Pack) -> Packed:
    """A matrix held another way."""
    assert isinstance(matrix, torch.Tensor), "it is packed"
    return pack(matrix.detach())


def give_up(*parts: nn.Linear) -> None:
    """Free the weights of some modules; what is left of them has a shape and no memory."""
    for part in parts:
        part.weight = nn.Parameter(part.weight.detach().to("meta"), requires_grad=False)


def rotary_table(
    positions: torch.Tensor, head_dim: int, theta: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of the half-split rotary embedding.

    Args:
        positions: (batch, length) integers.
        head_dim: Even.
        theta: Base of the frequencies.
        dtype: Of the result; angles are computed in float32.

    Returns:
        Two tensors of (batch, 1, length, head_dim); the first half of the sines is negative, as ``rotate`` needs it.
    """
    steps = torch.arange(0, head_dim, 2, device=positions.device, dtype=torch.float32)
    inverse = 1.0 / (theta ** (steps / head_dim))
    angles = positions.float()[:, None, :, None] * inverse
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    return torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)


def rotate(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn queries or keys by their positions: halves of the head are the pairs of the rotation."""
    return heads * cos + heads.roll(heads.shape[-1] // 2, dims=-1) * sin


def turn(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """``rotate`` in fewer operations; in bfloat16 it rounds once less."""
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, dims=-1), sin)
