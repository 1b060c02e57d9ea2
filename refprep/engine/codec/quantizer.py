"""Split residual vector quantisation: one semantic codebook, and acoustic ones on the same latent.

name       shape                          meaning
codes      (batch, n, codebooks)          int64, the semantic codebook first
latent     (batch, width, frames)         of the encoder, before its projections
codebook   (2048, codebook width)         embedding_sum / max(cluster_usage, 1e-5), float32, computed once at load
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.engine.codec.convolution import ConvWeights
from refprep.engine.codec.prepared import Prepared

_LEAST_USAGE = 1e-5


class DecoderCodebook(nn.Module):
    """Sums and counts of one codebook, named as the decoder's tensors are."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.embedding_sum = nn.Parameter(torch.empty(size, width))
        self.cluster_usage = nn.Parameter(torch.empty(size))

    def table(self) -> torch.Tensor:
        """(size, width) float32."""
        return _table(self.embedding_sum, self.cluster_usage)


class EncoderCodebook(nn.Module):
    """Sums and counts of one codebook, named as the encoder's tensors are."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.embed_sum = nn.Parameter(torch.empty(size, width))
        self.cluster_usage = nn.Parameter(torch.empty(size))
        self.initialized = nn.Parameter(torch.empty(1))  # a mark of training

    def table(self) -> torch.Tensor:
        """(size, width) float32."""
        return _table(self.embed_sum, self.cluster_usage)


def _table(sums: torch.Tensor, usage: torch.Tensor) -> torch.Tensor:
    return sums.float() / usage.float().clamp(min=_LEAST_USAGE)[:, None]


class _Named(nn.Module):
    """One child under a name that checkpoints ask for."""

    def __init__(self, name: str, child: nn.Module) -> None:
        super().__init__()
        self.add_module(name, child)


class DecoderGroup(Prepared):
    """Codebooks whose vectors are added and projected together."""

    table: torch.Tensor
    first_rows: torch.Tensor
    projection: torch.Tensor

    def __init__(self, levels: int, size: int, width: int) -> None:
        super().__init__()
        books = [_Named("_codebook", DecoderCodebook(size, width // 2)) for _ in range(levels)]
        self.vq = _Named("layers", nn.ModuleList(books))
        self.input_proj = ConvWeights(width // 2, width, 1, bias=None)  # stored, and read by no decoder
        self.output_proj = ConvWeights(width, width // 2, 1, bias=None)

    def prepare(self) -> None:
        """All codebooks in one table, one below the other."""
        tables = [m.table() for m in self.modules() if isinstance(m, DecoderCodebook)]
        self.keep("table", torch.cat(tables))
        self.keep("first_rows", torch.arange(len(tables), device=tables[0].device) * tables[0].shape[0])
        self.keep("projection", self.output_proj.weight[:, :, 0])
        del self.vq, self.input_proj, self.output_proj

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """(n, batch, levels) codes to (n, batch, width)."""
        vectors = F.embedding(codes + self.first_rows, self.table).sum(dim=2)
        return F.linear(vectors, self.projection)


class DecoderQuantizer(nn.Module):
    """Codes to the latent that the decoder starts from."""

    def __init__(self, codebooks: int, size: int, width: int) -> None:
        super().__init__()
        self.rvq_first = DecoderGroup(1, size, width)
        self.rvq_rest = DecoderGroup(codebooks - 1, size, width)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """(n, batch, codebooks) codes to (n, batch, width)."""
        summed: torch.Tensor = self.rvq_first(codes[..., :1]) + self.rvq_rest(codes[..., 1:])
        return summed


class EncoderGroup(Prepared):
    """Residual levels behind one projection."""

    tables: torch.Tensor
    projection: torch.Tensor

    def __init__(self, levels: int, size: int, width: int, inner: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_Named("codebook", EncoderCodebook(size, inner)) for _ in range(levels))
        self.input_proj = ConvWeights(inner, width, 1, bias=None)
        self.output_proj = ConvWeights(width, inner, 1, bias=None)  # stored, and read by no encoder

    def prepare(self) -> None:
        """All codebooks in one tensor."""
        self.keep(
            "tables", torch.stack([m.table() for m in self.modules() if isinstance(m, EncoderCodebook)])
        )
        self.keep("projection", self.input_proj.weight)
        del self.layers, self.input_proj, self.output_proj

    def forward(self, latent: torch.Tensor, levels: int) -> torch.Tensor:
        """Nearest vector by Euclidean distance, level after level, of what the levels before left.

        Args:
            latent: (batch, width, frames) float32.
            levels: How many to compute.

        Returns:
            (batch, levels, frames) int64.
        """
        residual = F.conv1d(latent, self.projection).transpose(1, 2)
        codes = []
        for table in self.tables[:levels]:
            nearest = torch.cdist(residual, table[None]).argmin(dim=-1)
            codes.append(nearest)
            residual = residual - F.embedding(nearest, table)
        return torch.stack(codes, dim=1)


class EncoderQuantizer(nn.Module):
    """The encoder's latent to codes; both groups see the same latent."""

    def __init__(self, levels: int, size: int, width: int, inner: int) -> None:
        super().__init__()
        self.semantic_residual_vector_quantizer = EncoderGroup(1, size, width, inner)
        self.acoustic_residual_vector_quantizer = EncoderGroup(levels - 1, size, width, inner)

    def forward(self, latent: torch.Tensor, levels: int) -> torch.Tensor:
        """(batch, width, frames) to (batch, levels, frames) int64; the first level is the semantic one."""
        semantic = self.semantic_residual_vector_quantizer(latent, 1)
        acoustic = self.acoustic_residual_vector_quantizer(latent, levels - 1)
        return torch.cat((semantic, acoustic), dim=1)
