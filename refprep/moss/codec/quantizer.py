"""Residual quantisation by direction, in float32 whatever the networks around it compute in.

name       shape                       meaning
latent     (batch, frames, width)      of the encoder
residual   (batch, frames, rvq_dim)    what the codebooks before have left
codes      (batch, frames, n)          int64, codebook 0 first
codebook   (1024, 8)                   entries; compared by direction, used at their own length
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.moss.codec.config import QuantizerConfig


class _Parts(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.original0 = nn.Parameter(torch.empty(outputs, 1, 1))  # length of every row
        self.original1 = nn.Parameter(torch.empty(outputs, inputs, 1))  # its direction


class _Parametrizations(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = _Parts(inputs, outputs)


class Projection(nn.Module):
    """A matrix with a bias, stored as a length and a direction of every row."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.empty(outputs))
        self.parametrizations = _Parametrizations(inputs, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., inputs) to (..., outputs)."""
        parts = self.parametrizations.weight
        direction = parts.original1.squeeze(-1)
        weight = direction * (parts.original0.squeeze(-1) / direction.norm(dim=1, keepdim=True))
        return F.linear(x, weight, self.bias)


class _Codebook(nn.Module):
    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, width))


class Level(nn.Module):
    """One codebook between two projections."""

    def __init__(self, config: QuantizerConfig) -> None:
        super().__init__()
        self.in_proj = Projection(config.rvq_dim, config.codebook_dim)
        self.codebook = _Codebook(config.codebook_size, config.codebook_dim)
        self.out_proj = Projection(config.codebook_dim, config.rvq_dim)

    def choose(self, latent: torch.Tensor) -> torch.Tensor:
        """(..., codebook_dim) to (...) int64: the entry of the nearest direction."""
        entries = F.normalize(self.codebook.weight, dim=-1)
        return (F.normalize(latent, dim=-1) @ entries.T).argmax(dim=-1)

    def table(self) -> torch.Tensor:
        """(size, rvq_dim): what every code adds to the sum."""
        table: torch.Tensor = self.out_proj(self.codebook.weight)
        return table


class Quantizer(nn.Module):
    """Its attribute names are the checkpoint's, under ``quantizer.``."""

    def __init__(self, config: QuantizerConfig) -> None:
        super().__init__()
        self.input_proj = Projection(config.input_dim, config.rvq_dim)
        self.quantizers = nn.ModuleList(Level(config) for _ in range(config.num_quantizers))
        self.output_proj = Projection(config.rvq_dim, config.output_dim)
        self._tables: torch.Tensor | None = None

    @property
    def levels(self) -> tuple[Level, ...]:
        """Codebooks, the coarsest first."""
        return tuple(level for level in self.quantizers if isinstance(level, Level))

    def encode(self, latent: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Choose codes of all levels.

        Args:
            latent: (batch, frames, input_dim).

        Returns:
            (batch, frames, levels) int64 codes, and (batch, frames, levels, codebook_dim) float32: the projected
            residual of each level before it was normalised.
        """
        residual = self.input_proj(latent.float())
        codes: list[torch.Tensor] = []
        projected: list[torch.Tensor] = []
        for level in self.levels:
            projected.append(level.in_proj(residual))
            codes.append(level.choose(projected[-1]))
            residual = residual - level.out_proj(F.embedding(codes[-1], level.codebook.weight))
        return torch.stack(codes, dim=-1), torch.stack(projected, dim=-2)

    def prepare(self) -> torch.Tensor:
        """Lay out what every code adds, once after loading: a frame is then one lookup instead of a product a level.

        Returns:
            (levels * size, rvq_dim) float32, kept; no parameter, and 67 MB at the real size.
        """
        with torch.no_grad():
            self._tables = torch.cat([level.table() for level in self.levels])
        return self._tables

    def summed(self, codes: torch.Tensor) -> torch.Tensor:
        """(batch, frames, n) codes of the first n levels to (batch, frames, rvq_dim) float32."""
        tables = self.prepare() if self._tables is None else self._tables
        size = self.levels[0].codebook.weight.shape[0]
        rows = codes + size * torch.arange(codes.shape[-1], device=codes.device)
        return F.embedding(rows, tables).sum(dim=-2)

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """(batch, frames, n) codes of the first n levels to (batch, frames, output_dim) float32."""
        out: torch.Tensor = self.output_proj(self.summed(codes))
        return out
