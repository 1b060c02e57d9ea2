"""What talker, code predictor and codec are made of.

name      shape                        meaning
x         (batch, length, width)       hidden states, model dtype
heads     (batch, heads, length, D)    queries, keys or values
cos, sin  (batch or 1, 1, length, D)   rotary table, model dtype, computed in float32
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by


class RMSNorm(nn.Module):
    """Root mean square normalisation; statistics in float32, the weight in the model's dtype."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise the last axis; the result has the dtype of ``x``."""
        if x.dtype is torch.float32:
            return F.rms_norm(x, self.weight.shape, self.weight, self.eps)
        # The cast to the model's dtype comes before the weight, as in the published code: in bf16 it rounds twice.
        return self.weight * F.rms_norm(x.float(), self.weight.shape, None, self.eps).to(x.dtype)


class SwiGLU(nn.Module):
    """Gated feed-forward network: down(silu(gate(x)) * up(x)), no biases."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, inner, bias=False)
        self.up_proj = nn.Linear(width, inner, bias=False)
        self.down_proj = nn.Linear(inner, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., width) to (..., width)."""
        hidden: torch.Tensor = self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))
        return hidden


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
        Two tensors of (batch, 1, length, head_dim).
    """
    steps = torch.arange(0, head_dim, 2, device=positions.device, dtype=torch.float32)
    inverse = 1.0 / (theta ** (steps / head_dim))
    angles = positions.float()[:, None, :, None] * inverse
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn queries or keys by their positions: halves of the head are the pairs of the rotation."""
    half = heads.shape[-1] // 2
    turned = torch.cat((-heads[..., half:], heads[..., :half]), dim=-1)
    return heads * cos + turned * sin
