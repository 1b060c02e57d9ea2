"""The depth transformer of Local: the codebooks of one frame, one after the other.

    x  (frames, positions, width): the backbone's state, then the embeddings of codebooks 0 to n_vq - 2

Pre-norm blocks of GPT-2's kind with plain linear layers; positions from a table, or interleaved rotary pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812  # its usual name
from torch import nn

from refprep.errors import BackendError
from refprep.moss.config import FIX, DepthShape, Positions

_ACTIVATIONS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "silu": F.silu,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
}


class DepthAttention(nn.Module):
    """Attention over the positions of a frame so far."""

    def __init__(self, shape: DepthShape) -> None:
        super().__init__()
        self.c_attn = nn.Linear(shape.n_embd, 3 * shape.n_embd)
        self.c_proj = nn.Linear(shape.n_embd, shape.n_embd)
        self._heads = shape.n_head
        self._rope_base = shape.rope_base if shape.position_embedding_type is Positions.ROPE else None

    def forward(self, x: torch.Tensor, start: int, cache: torch.Tensor) -> torch.Tensor:
        """Write (frames, length, width) at ``start`` of (2, frames, heads, n_vq, head_dim), and attend."""
        frames, length, width = x.shape
        query, key, value = (
            part.view(frames, length, self._heads, -1).transpose(1, 2)
            for part in self.c_attn(x).split(width, dim=-1)
        )
        if self._rope_base is not None:
            query, key = (_turned(part, start, self._rope_base) for part in (query, key))
        end = start + length
        cache[0, :, :, start:end], cache[1, :, :, start:end] = key, value
        assert length == 1 or start == 0, "a causal mask from the corner fits a whole frame alone"
        mixed = F.scaled_dot_product_attention(
            query, cache[0, :, :, :end], cache[1, :, :, :end], is_causal=length > 1
        )
        out: torch.Tensor = self.c_proj(mixed.transpose(1, 2).reshape(frames, length, width))
        return out


class DepthMlp(nn.Module):
    """Two linear layers."""

    def __init__(self, shape: DepthShape) -> None:
        super().__init__()
        self.fc_in = nn.Linear(shape.n_embd, shape.n_inner)
        self.fc_out = nn.Linear(shape.n_inner, shape.n_embd)
        self._activation = _ACTIVATIONS[shape.activation_function]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Of every position by itself."""
        out: torch.Tensor = self.fc_out(self._activation(self.fc_in(x)))
        return out


class DepthBlock(nn.Module):
    """Attention and mlp, each after its norm."""

    def __init__(self, shape: DepthShape) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(shape.n_embd, eps=shape.layer_norm_epsilon)
        self.attn = DepthAttention(shape)
        self.ln_2 = nn.LayerNorm(shape.n_embd, eps=shape.layer_norm_epsilon)
        self.mlp = DepthMlp(shape)

    def forward(self, x: torch.Tensor, start: int, cache: torch.Tensor) -> torch.Tensor:
        """As ``DepthAttention``."""
        x = x + self.attn(self.ln_1(x), start, cache)
        out: torch.Tensor = x + self.mlp(self.ln_2(x))
        return out


class DepthTransformer(nn.Module):
    """All blocks, under their names in the checkpoint; ``wpe`` is there with absolute positions alone.

    Raises:
        BackendError: An activation that is not known.
    """

    def __init__(self, shape: DepthShape) -> None:
        super().__init__()
        if shape.activation_function not in _ACTIVATIONS:
            raise BackendError(
                f"its depth transformer has the activation {shape.activation_function!r}",
                where="config.json: gpt2_config",
                fix=FIX,
            )
        self._shape = shape
        self.wpe = None
        if shape.position_embedding_type is Positions.ABSOLUTE:
            self.wpe = nn.Embedding(shape.n_positions, shape.n_embd)
        self.h = nn.ModuleList(DepthBlock(shape) for _ in range(shape.n_layer))
        self.ln_f = nn.LayerNorm(shape.n_embd, eps=shape.layer_norm_epsilon)

    def room(self, frames: int, positions: int, like: torch.Tensor) -> torch.Tensor:
        """Empty keys and values of some frames: (layers, 2, frames, heads, positions, head_dim)."""
        shape = self._shape
        size = (shape.n_layer, 2, frames, shape.n_head, positions, shape.n_embd // shape.n_head)
        return torch.empty(size, dtype=like.dtype, device=like.device)

    def forward(self, x: torch.Tensor, start: int, cache: torch.Tensor) -> torch.Tensor:
        """States of some positions from ``start`` on: one, or a whole frame from 0."""
        if self.wpe is not None:
            x = x + self.wpe.weight[start : start + x.shape[1]]
        for block, held in zip(self.h, cache, strict=True):
            x = block(x, start, held)
        out: torch.Tensor = self.ln_f(x)
        return out


def _turned(heads: torch.Tensor, start: int, base: float) -> torch.Tensor:
    """Rotary embedding of (frames, heads, length, head_dim): entries 2i and 2i + 1 are the pairs."""
    size, length = heads.shape[-1], heads.shape[-2]
    steps = torch.arange(0, size, 2, device=heads.device, dtype=torch.float32) / size
    places = torch.arange(start, start + length, device=heads.device, dtype=torch.float32)
    angles = places[:, None] * base**-steps
    cos, sin = angles.cos().to(heads.dtype), angles.sin().to(heads.dtype)
    even, odd = heads[..., 0::2], heads[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)
