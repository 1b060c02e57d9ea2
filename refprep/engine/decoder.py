"""A stack of decoder layers: the talker's backbone and the code predictor's are both this.

name    shape                         meaning
x       (batch, tokens, hidden)       model dtype; (batch, hidden) in a step
cos     (batch or 1, tokens, 1, D)    rotary table of the tokens' positions; (batch or 1, 1, D) in a step; ``sin`` alike

``forward`` reads prompts, ``step`` feeds one token a row: most calls, so it is laid out to make few of them.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from refprep.engine.config import DecoderShape
from refprep.engine.kv_cache import KVCache, Place, Window
from refprep.engine.layers import (
    Matrix,
    Pack,
    RMSNorm,
    SwiGLU,
    give_up,
    joined,
    linear,
    packed,
    product,
    product_onto,
    rms_norm,
    rotate,
    turn,
)

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
        self._prepared: tuple[Matrix, torch.Tensor, Matrix] | None = None
        self._turned: tuple[Matrix, torch.Tensor, Matrix] | None = None
        self._eps, self._eps_rows = (
            shape.rms_norm_eps,
            torch.full((1, 1, 1), shape.rms_norm_eps, device="cpu"),
        )

    def prepare(self) -> None:
        """Join what reads the same input; call once after the weights are filled."""
        projection = joined(self.q_proj, self.k_proj, self.v_proj)
        rows = [self.q_norm.weight] * self.num_heads + [self.k_norm.weight] * self.num_kv_heads
        # Looking a parameter up in a module costs as much as a small operation: here they are at hand.
        norm, output = torch.stack([row.detach() for row in rows]), self.o_proj.weight
        self._prepared = (projection, norm, output)
        self._turned = (projection.t(), norm, output.t())

    def pack(self, pack: Pack) -> None:
        """Hold the prepared matrices another way; the weights themselves are given up."""
        assert self._prepared is not None, "prepare() comes first"
        projection, norm, output = self._prepared
        self._prepared = self._turned = (packed(projection, pack), norm, packed(output, pack))
        give_up(self.q_proj, self.k_proj, self.v_proj, self.o_proj)

    def forward(
        self, x: torch.Tensor, rotary: Rotary, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """Attend; ``keys`` and ``values`` are this layer's (batch, kv heads, capacity, D), written in place."""
        assert self._prepared is not None, "prepare() comes first"
        projection, norm, output = self._prepared
        batch, tokens, _ = x.shape
        wide, narrow = self.num_heads, self.num_kv_heads
        heads = linear(x, projection).view(batch, tokens, -1, self.head_dim)
        turned, v = heads.split_with_sizes((wide + narrow, narrow), dim=2)
        turned = rotate(rms_norm(turned, norm, self._eps), *rotary)
        q, k = turned.transpose(1, 2).split_with_sizes((wide, narrow), dim=1)
        v = v.transpose(1, 2)
        window.write(keys, k)
        window.write(values, v)
        found = window.attend(q, k, v, keys, values)
        return linear(found.transpose(1, 2).reshape(batch, tokens, -1), output)

    def step(self, x: torch.Tensor, residual: torch.Tensor, rotary: Rotary, place: Place) -> torch.Tensor:
        """Attend with one token a row, (batch, hidden), and add what is found to ``residual``.

        The query heads of a group see the same keys, so they are its rows, and nothing is copied.
        """
        assert self._turned is not None, "prepare() comes first"
        projection, norm, output = self._turned
        batch, wide, narrow = x.shape[0], self.num_heads, self.num_kv_heads
        heads = product(x, projection).view(batch, -1, self.head_dim)
        turned, v = heads.split_with_sizes((wide + narrow, narrow), dim=1)
        q, k = turn(self._normalise(turned, norm), *rotary).split_with_sizes((wide, narrow), dim=1)
        place.write(k, v)
        grouped = q.view(batch, narrow, -1, self.head_dim)
        found = F.scaled_dot_product_attention(grouped, place.keys, place.values, attn_mask=place.mask)
        return product_onto(residual, found.reshape(batch, -1), output)

    def _normalise(self, heads: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Every head of (batch, heads, D) by itself."""
        if heads.dtype is not torch.float32 or not heads.is_cpu:
            return rms_norm(heads, weight, self._eps)
        # On a CPU: as in RMSNorm, one product a head.
        rows = heads.reshape(-1, 1, self.head_dim)
        squares = torch.baddbmm(self._eps_rows, rows, rows.mT, alpha=1.0 / self.head_dim)
        return heads * squares.rsqrt_().view(heads.shape[0], -1, 1) * weight


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
        # Bound once: a frame is 100 layers of few operations, and looking four modules up in each is a part of it.
        self._steps = (
            self.input_layernorm.step,
            self.self_attn.step,
            self.post_attention_layernorm.step,
            self.mlp.step,
        )

    def forward(
        self, x: torch.Tensor, rotary: Rotary, keys: torch.Tensor, values: torch.Tensor, window: Window
    ) -> torch.Tensor:
        """(batch, tokens, hidden) to the same."""
        x = x + self.self_attn.forward(self.input_layernorm.forward(x), rotary, keys, values, window)
        return x + self.mlp.forward(self.post_attention_layernorm.forward(x))

    def step(self, x: torch.Tensor, rotary: Rotary, place: Place) -> torch.Tensor:
        """One token a row: (batch, hidden) to the same."""
        before, attend, between, feed = self._steps
        x = attend(before(x), x, rotary, place)
        return feed(between(x), x)


def prepare_layers(layers: nn.ModuleList) -> None:
    """Prepare every layer of a stack, once, after the weights are filled."""
    for layer in layers:
        assert isinstance(layer, DecoderLayer)
        layer.prepare()


def pack_layers(layers: nn.ModuleList, pack: Pack) -> None:
    """Hold the matrices of a prepared stack another way, in place."""
    for layer in layers:
        assert isinstance(layer, DecoderLayer)
        layer.self_attn.pack(pack)
        layer.mlp.pack(pack)


def run_layers(
    layers: nn.ModuleList, norm: RMSNorm, x: torch.Tensor, rotary: Rotary, cache: KVCache, window: Window
) -> torch.Tensor:
    """All layers and the final norm; the cache is written in place."""
    assert x.dtype is cache.keys.dtype, f"{x.dtype} states would be cached as {cache.keys.dtype}"
    # unbind: one call for all layers' views
    for layer, keys, values in zip(layers, cache.keys.unbind(), cache.values.unbind(), strict=True):
        x = layer.forward(x, rotary, keys, values, window)
    return norm.forward(x)


def step_layers(
    layers: nn.ModuleList, norm: RMSNorm, x: torch.Tensor, rotary: Rotary, places: list[Place]
) -> torch.Tensor:
    """All layers and the final norm for one token a row, (batch, hidden); what ``places`` are of is written."""
    assert x.dtype is places[0].keys.dtype, f"{x.dtype} states would be cached as {places[0].keys.dtype}"
    for layer, place in zip(layers, places, strict=True):
        assert isinstance(layer, DecoderLayer)
        x = layer.step(x, rotary, place)
    return norm.step(x)
