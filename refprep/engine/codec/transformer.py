"""The decoder's transformer over 12.5 Hz frames: causal, with a window, and with a memory of that window.

name     shape                          meaning
x        (n, batch, width)              new frames, time first
memory   (batch, heads, window-1, D)    keys after rotary, and values, of the frames before
mask     (batch, 1, n, window-1+n)      bool, True where a query may look
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.engine.codec.config import DecoderConfig
from refprep.engine.codec.push import Push
from refprep.engine.layers import RMSNorm, SwiGLU, rotary_table, rotate


class LayerScale(nn.Module):
    """A learned gain per channel on a residual branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.empty(width))

    def forward(self, x: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
        """``x + scale * branch``."""
        return torch.addcmul(x, branch, self.scale)


class WindowAttention(nn.Module):
    """A query sees itself and the ``window - 1`` frames before it."""

    def __init__(self, config: DecoderConfig, number: int) -> None:
        super().__init__()
        self.number = number
        self.heads, self.head_dim = config.num_attention_heads, config.head_dim
        inner = self.heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.o_proj = nn.Linear(inner, config.hidden_size, bias=False)

    def forward(
        self,
        x: torch.Tensor,
        push: Push,
        rotary: tuple[torch.Tensor, torch.Tensor],
        mask: torch.Tensor,
    ) -> torch.Tensor:
        """(n, batch, width) to the same shape; the memory of the streams moves on."""
        old_keys, old_values = push.memory(self.number)
        queries = rotate(self._heads(self.q_proj(x)), *rotary)
        keys = torch.cat((old_keys, rotate(self._heads(self.k_proj(x)), *rotary)), dim=2)
        values = torch.cat((old_values, self._heads(self.v_proj(x))), dim=2)
        push.keep_memory(self.number, keys, values)
        seen = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        out: torch.Tensor = self.o_proj(seen.permute(2, 0, 1, 3).flatten(2))
        return out

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, self.head_dim).permute(1, 2, 0, 3)


class WindowLayer(nn.Module):
    """Attention and feed-forward network, each normalised before and scaled after."""

    def __init__(self, config: DecoderConfig, number: int) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = WindowAttention(config, number)
        self.self_attn_layer_scale = LayerScale(config.hidden_size)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = SwiGLU(config.hidden_size, config.intermediate_size)
        self.mlp_layer_scale = LayerScale(config.hidden_size)

    def forward(
        self,
        x: torch.Tensor,
        push: Push,
        rotary: tuple[torch.Tensor, torch.Tensor],
        mask: torch.Tensor,
    ) -> torch.Tensor:
        """(n, batch, width) to the same shape."""
        x = self.self_attn_layer_scale(x, self.self_attn(self.input_layernorm(x), push, rotary, mask))
        out: torch.Tensor = self.mlp_layer_scale(x, self.mlp(self.post_attention_layernorm(x)))
        return out


class WindowTransformer(nn.Module):
    """Projection in, layers, norm, projection out."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        self.window, self.head_dim, self.theta = config.sliding_window, config.head_dim, config.rope_theta
        self.input_proj = nn.Linear(config.latent_dim, config.hidden_size)
        self.layers = nn.ModuleList(WindowLayer(config, n) for n in range(config.num_hidden_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.output_proj = nn.Linear(config.hidden_size, config.latent_dim)

    def forward(self, x: torch.Tensor, push: Push) -> torch.Tensor:
        """(n, batch, latent) to the same shape; the memory of the streams moves on, their counters do not."""
        frames = push.frames()
        steps = torch.arange(x.shape[0], device=x.device)
        rotary = rotary_table(frames[:, None] + steps, self.head_dim, self.theta, x.dtype)
        mask = self._mask(steps, frames)
        x = self.input_proj(x)
        for layer in self.layers:
            x = layer(x, push, rotary, mask)
        out: torch.Tensor = self.output_proj(self.norm(x))
        return out

    def _mask(self, steps: torch.Tensor, frames: torch.Tensor) -> torch.Tensor:
        """Query i looks at slots i .. i + window - 1; slots before a stream's first frame are empty."""
        back = self.window - 1
        slots = torch.arange(back + steps.shape[0], device=steps.device)
        ahead = slots - steps[:, None]
        in_window = (ahead >= 0) & (ahead <= back)
        is_filled = slots >= back - frames[:, None]
        return in_window[None, None] & is_filled[:, None, None]
