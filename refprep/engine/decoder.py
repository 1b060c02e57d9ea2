"""A stack of decoder layers: the talker's backbone and the code predictor's are both this.

name    shape                     meaning
x       (batch, tokens, hidden)   model dtype
cos     (batch, 1, tokens, D)     rotary table of the tokens' positions; ``sin`` alike
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from refprep.engine.config import DecoderShape
from refprep.engine.kv_cache import KVCache, Window
from refprep.engine.layers import RMSNorm, SwiGLU, rotate

Rotary = tuple[torch.Tensor, torch.Tensor]


class Attention(nn.Module):
    """Grouped-query attention with an RMSNorm on every head of queries and keys, before rotary."""

    def __init__(self, shape: DecoderShape) -> None:
        super().__init__()
        self.num_heads, self.num_kv_heads = shape.num_attention_heads, shape.num_key_value_heads
        self.head_dim = shape.head_dim
        wide, narrow = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, wide, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, narrow, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, narrow, bias=False)
        self.o_proj = nn.Linear(wide, shape.hidden_size, bias=False)
        self.q_norm = RMSNorm(self.head_dim, shape.rms_norm_eps)
        self.k_norm = RMSNorm(self.head_dim, shape.rms_norm_eps)

    def forward(
        self, x: torch.Tensor, rotary: Rotary, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """Attend; ``keys`` and ``values`` are this layer's (batch, kv heads, capacity, D), written in place."""
        batch, tokens, _ = x.shape
        split = (batch, tokens, -1, self.head_dim)
        q = rotate(self.q_norm(self.q_proj(x).view(split)).transpose(1, 2), *rotary)
        k = rotate(self.k_norm(self.k_proj(x).view(split)).transpose(1, 2), *rotary)
        v = self.v_proj(x).view(split).transpose(1, 2)
        window.write(keys, k)
        window.write(values, v)
        if tokens == 1:
            heads = self._attend_one(q, keys[:, :, : window.limit], values[:, :, : window.limit], window.mask)
        else:
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=window.is_causal, enable_gqa=True)
        out: torch.Tensor = self.o_proj(heads.transpose(1, 2).reshape(batch, tokens, -1))
        return out

    def _attend_one(
        self, q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """One token a row: the query heads of a group see the same keys, so they are its rows, and nothing is copied."""
        batch = q.shape[0]
        grouped = q.view(batch, self.num_kv_heads, -1, self.head_dim)
        heads = F.scaled_dot_product_attention(grouped, keys, values, attn_mask=mask)
        return heads.reshape(batch, self.num_heads, 1, self.head_dim)


class DecoderLayer(nn.Module):
    """Pre-norm attention and SwiGLU, residuals in the model's dtype."""

    def __init__(self, shape: DecoderShape) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.mlp = SwiGLU(shape.hidden_size, shape.intermediate_size)

    def forward(
        self, x: torch.Tensor, rotary: Rotary, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """(batch, tokens, hidden) to the same."""
        x = x + self.self_attn(self.input_layernorm(x), rotary, keys, values, window)
        out: torch.Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


def run_layers(
    layers: nn.ModuleList, norm: RMSNorm, x: torch.Tensor, rotary: Rotary, cache: KVCache, window: Window
) -> torch.Tensor:
    """All layers and the final norm; the cache is written in place."""
    assert x.dtype is cache.keys.dtype, f"{x.dtype} states would be cached as {cache.keys.dtype}"
    for number, layer in enumerate(layers):
        x = layer(x, rotary, cache.keys[number], cache.values[number], window)
    out: torch.Tensor = norm(x)
    return out
