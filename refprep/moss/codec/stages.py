"""What encoder and decoder are made of: patch steps, and stacks of causal layers.

name   shape                     meaning
x      (batch, T, width)         steps of a stage, time before channels
table  (batch or 1, T, 1, D/2)   cosines, and sines, of the rotary angles; float32
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.moss.codec.attention import View
from refprep.moss.codec.config import PatchStage, TransformerStage

Table = tuple[torch.Tensor, torch.Tensor]


class Fold(nn.Module):
    """h neighbouring steps become channels: channel d of step t goes to channel ``d * h + t % h`` of step ``t // h``."""

    def __init__(self, config: PatchStage) -> None:
        super().__init__()
        self.size = config.patch_size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, T, width) to (batch, T / h, width * h)."""
        return x.reshape(x.shape[0], -1, self.size, x.shape[2]).transpose(2, 3).flatten(2)


class Unfold(nn.Module):
    """The inverse of ``Fold``."""

    def __init__(self, config: PatchStage) -> None:
        super().__init__()
        self.size = config.patch_size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, T, width * h) to (batch, T * h, width)."""
        return x.reshape(*x.shape[:2], -1, self.size).transpose(2, 3).flatten(1, 2)


class LayerScale(nn.Module):
    """A learned gain per channel on a residual branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(width))

    def forward(self, x: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
        """``x + scale * branch``."""
        return torch.addcmul(x, branch, self.scale)


class Attention(nn.Module):
    """Rows of ``in_projs.0`` are queries, keys and values; heads are contiguous blocks of channels."""

    def __init__(self, width: int, heads: int, number: int) -> None:
        super().__init__()
        self.number, self.heads = number, heads
        self.in_projs = nn.ModuleList((nn.Linear(width, 3 * width, bias=False),))
        self.out_projs = nn.ModuleList((nn.Linear(width, width, bias=False),))

    def forward(self, x: torch.Tensor, view: View, table: Table) -> torch.Tensor:
        """(batch, T, width) to the same shape."""
        queries, keys, values = self.in_projs[0](x).view(*x.shape[:2], 3, self.heads, -1).unbind(2)
        seen = view.attend(self.number, rotate(queries, *table), rotate(keys, *table), values)
        out: torch.Tensor = self.out_projs[0](seen.flatten(2))
        return out


class Layer(nn.Module):
    """Attention and feed-forward network, each normalised before and scaled after."""

    def __init__(self, config: TransformerStage, number: int) -> None:
        super().__init__()
        width = config.d_model
        self.norm1 = nn.LayerNorm(width, eps=1e-5)
        self.self_attn = Attention(width, config.num_heads, number)
        self.layer_scale_1 = LayerScale(width)
        self.norm2 = nn.LayerNorm(width, eps=1e-5)
        self.linear1 = nn.Linear(width, config.dim_feedforward, bias=False)
        self.linear2 = nn.Linear(config.dim_feedforward, width, bias=False)
        self.layer_scale_2 = LayerScale(width)

    def forward(self, x: torch.Tensor, view: View, table: Table) -> torch.Tensor:
        """(batch, T, width) to the same shape."""
        x = self.layer_scale_1(x, self.self_attn(self.norm1(x), view, table))
        out: torch.Tensor = self.layer_scale_2(x, self.linear2(F.gelu(self.linear1(self.norm2(x)))))
        return out


class Layers(nn.Module):
    """A stack of layers, in the place that checkpoints give it."""

    def __init__(self, config: TransformerStage) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(config, n) for n in range(config.num_layers))


class Stack(nn.Module):
    """One transformer stage: a projection where widths differ, layers, another projection; no norm at the end.

    Attributes:
        per_frame: Steps in a frame of 80 ms.
        window: Steps that a query sees, itself included.
    """

    def __init__(self, config: TransformerStage, *, per_frame: int, window: int) -> None:
        super().__init__()
        self.config, self.per_frame, self.window = config, per_frame, window
        width = config.d_model
        if config.input_dimension != width:
            self.input_proj: nn.Module = nn.Linear(config.input_dimension, width, bias=False)
        else:
            self.input_proj = nn.Identity()
        self.transformer = Layers(config)
        if config.output_dimension != width:
            self.output_proj: nn.Module = nn.Linear(width, config.output_dimension, bias=False)
        else:
            self.output_proj = nn.Identity()

    @property
    def dtype(self) -> torch.dtype:
        """Of the states: that of its norms, which no quantization touches."""
        return next(p.dtype for n, p in self.named_parameters() if n.endswith("norm1.weight"))

    @property
    def head_dim(self) -> int:
        """Channels of a head."""
        return self.config.d_model // self.config.num_heads

    def forward(self, x: torch.Tensor, view: View) -> torch.Tensor:
        """(batch, T, inputs) to (batch, T, outputs); what ``view`` keeps moves on."""
        table = rotary_table(view.at, self.head_dim, self.config.max_period)
        x = self.input_proj(x)
        for layer in self.transformer.layers:
            x = layer(x, view, table)
        out: torch.Tensor = self.output_proj(x)
        return out


def rotary_table(at: torch.Tensor, head_dim: int, max_period: float) -> Table:
    """Cosines and sines of positions: (batch or 1, T, 1, head_dim / 2) float32 each."""
    exponents = torch.arange(0, head_dim, 2, device=at.device, dtype=torch.float32) / -head_dim
    angles = at[:, :, None, None].float() * torch.pow(max_period, exponents)
    return angles.cos(), angles.sin()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn neighbouring pairs of channels, (2i, 2i + 1), in float32; the result has the dtype of ``x``."""
    even, odd = x.float().view(*x.shape[:-1], -1, 2).unbind(-1)
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
