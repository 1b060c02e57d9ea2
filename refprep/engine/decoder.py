"""A stack of decoder layers: the talker's backbone and the code predictor's are both this.

name    shape                         meaning
x       (batch, tokens, hidden)       model dtype
cos     (batch or 1, tokens, 1, D)    rotary table of the tokens' positions; ``sin`` alike
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from refprep.engine.config import DecoderShape
from refprep.engine.kv_cache import KVCache, Window
from refprep.engine.layers import RMSNorm, SwiGLU, joined, rms_norm, rotate

Rotary = tuple[torch.Tensor, torch.Tensor]


class Attention(nn.Module):
    """Grouped-query attention with an RMSNorm on every head of queries and keys, before rotary.

    One product gives queries, keys and values; queries and keys are normalised and turned together.
    """

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
        self._prepared: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
        self._eps, self._eps_rows = (
            shape.rms_norm_eps,
            torch.full((1, 1, 1), shape.rms_norm_eps, device="cpu"),
        )

    def prepare(self) -> None:
        """Join what reads the same input; call once after the weights are filled."""
        projection = joined(self.q_proj, self.k_proj, self.v_proj)
        rows = [self.q_norm.weight] * self.num_heads + [self.k_norm.weight] * self.num_kv_heads
        # Looking a parameter up in a module costs as much as a small operation: here they are at hand.
        self._prepared = (projection, torch.stack([row.detach() for row in rows]), self.o_proj.weight)

    def forward(
        self, x: torch.Tensor, rotary: Rotary, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """Attend; ``keys`` and ``values`` are this layer's (batch, kv heads, capacity, D), written in place."""
        assert self._prepared is not None, "prepare() comes first"
        projection, norm, output = self._prepared
        batch, tokens, _ = x.shape
        wide, narrow = self.num_heads, self.num_kv_heads
        heads = F.linear(x, projection).view(batch, tokens, -1, self.head_dim)
        turned, v = heads.split_with_sizes((wide + narrow, narrow), dim=2)
        turned = rotate(self._normalise(turned, norm), *rotary)
        if tokens == 1:
            found = self._attend_one(turned[:, 0], v[:, 0], keys, values, window)
        else:
            q, k = turned.transpose(1, 2).split_with_sizes((wide, narrow), dim=1)
            v = v.transpose(1, 2)
            window.write(keys, k)
            window.write(values, v)
            found = F.scaled_dot_product_attention(q, k, v, is_causal=window.is_causal, enable_gqa=True)
            found = found.transpose(1, 2)
        return F.linear(found.reshape(batch, tokens, -1), output)

    def _normalise(self, heads: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Every head of (batch, tokens, heads, D) by itself."""
        if heads.dtype is not torch.float32 or heads.numel() != weight.numel() or not heads.is_cpu:
            return rms_norm(heads, weight, self._eps)
        # One token on a CPU: as in RMSNorm, one product a head.
        rows = heads.view(-1, 1, self.head_dim)
        squares = torch.baddbmm(self._eps_rows, rows, rows.transpose(1, 2), alpha=1.0 / self.head_dim)
        return heads * squares.rsqrt_().view(-1, 1) * weight

    def _attend_one(
        self, turned: torch.Tensor, v: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """One token a row: (batch, heads, D) of queries and keys, and of values, to (batch, kv heads, group, D).

        The query heads of a group see the same keys, so they are its rows, and nothing is copied.
        """
        q, k = turned.split_with_sizes((self.num_heads, self.num_kv_heads), dim=1)
        window.write_token(keys, k)
        window.write_token(values, v)
        grouped = q.reshape(q.shape[0], self.num_kv_heads, -1, self.head_dim)
        seen = (keys.narrow(2, 0, window.limit), values.narrow(2, 0, window.limit))
        return F.scaled_dot_product_attention(grouped, *seen, attn_mask=window.mask)


class DecoderLayer(nn.Module):
    """Pre-norm attention and SwiGLU, residuals in the model's dtype."""

    def __init__(self, shape: DecoderShape) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RMSNorm(shape.hidden_size, shape.rms_norm_eps)
        self.mlp = SwiGLU(shape.hidden_size, shape.intermediate_size)

    def prepare(self) -> None:
        """Join matrices that read the same input; call once after the weights are filled."""
        self.self_attn.prepare()
        self.mlp.prepare()
        self._steps = (
            self.input_layernorm.forward,
            self.self_attn.forward,
            self.post_attention_layernorm.forward,
            self.mlp.forward,
        )

    def forward(
        self, x: torch.Tensor, rotary: Rotary, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """(batch, tokens, hidden) to the same."""
        # forward() by name: a frame is 100 layers of few operations, and hooks that nobody hangs in cost a fifth of it
        before, attend, between, feed = self._steps
        x = x + attend(before(x), rotary, keys, values, window)
        return x + feed(between(x))


def prepare_layers(layers: nn.ModuleList) -> None:
    """Prepare every layer of a stack, once, after the weights are filled."""
    for layer in layers:
        assert isinstance(layer, DecoderLayer)
        layer.prepare()


def run_layers(
    layers: nn.ModuleList, norm: RMSNorm, x: torch.Tensor, rotary: Rotary, cache: KVCache, window: Window
) -> torch.Tensor:
    """All layers and the final norm; the cache is written in place."""
    assert x.dtype is cache.keys.dtype, f"{x.dtype} states would be cached as {cache.keys.dtype}"
    # unbind: one call for all layers' views
    for layer, keys, values in zip(layers, cache.keys.unbind(), cache.values.unbind(), strict=True):
        x = layer.forward(x, rotary, keys, values, window)
    return norm.forward(x)
