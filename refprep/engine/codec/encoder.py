"""Samples to codes, in float32 always: a nearest vector chosen in bf16 or TF32 is another voice.

name      shape                    rate      meaning
wave      (1, 1, T)                24 kHz    values as they are, float32
features  (1, width, 2 x frames)   25 Hz     of the convolutions (hop 960)
latent    (1, width, frames)       12.5 Hz   after the transformer and the downsampling
codes     (frames, 16)             12.5 Hz   int32, the semantic codebook first; frames = ceil(T / 1920)

Attention is causal and sees everything before: the published code ignores the window that its config names.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.engine.codec.config import SAMPLE_RATE_HZ, SAMPLES_PER_FRAME, EncoderConfig
from refprep.engine.codec.convolution import CausalConv
from refprep.engine.codec.quantizer import EncoderQuantizer
from refprep.engine.codec.transformer import LayerScale
from refprep.engine.layers import rotary_table, rotate
from refprep.engine.loader import WeightFiles
from refprep.errors import UsageError
from refprep.precision import exact_fp32

# How a clip that ends inside a frame is completed; a part of every key under which codes are kept. Every convolution
# pads its own input with zeros to a whole stride, the last downsampling by repeating its last column. That is not the
# same as zeros behind the clip, whose biases reach the codes of the last frame.
TAIL_POLICY = "zeros-per-convolution"


class _Residual(nn.Module):
    """ELU, convolution to fewer channels, ELU, convolution back, on a residual branch."""

    def __init__(self, channels: int, config: EncoderConfig) -> None:
        super().__init__()
        inner = channels // config.compress
        first = CausalConv(channels, inner, config.residual_kernel_size)
        self.block = nn.ModuleList((nn.ELU(), first, nn.ELU(), CausalConv(inner, channels, 1)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, channels, T) to the same shape."""
        branch = x
        for layer in self.block:
            branch = layer(branch)
        return x + branch


class ConvolutionalEncoder(nn.Module):
    """Samples to features at 25 Hz."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = config.num_filters
        layers: list[nn.Module] = [CausalConv(config.audio_channels, width, config.kernel_size)]
        for ratio in reversed(config.upsampling_ratios):
            strided = CausalConv(width, 2 * width, 2 * ratio, stride=ratio)
            layers += [_Residual(width, config), nn.ELU(), strided]
            width *= 2
        layers += [nn.ELU(), CausalConv(width, config.hidden_size, config.last_kernel_size)]
        self.layers = nn.ModuleList(layers)

    def forward(self, wave: torch.Tensor) -> torch.Tensor:
        """(batch, 1, T) to (batch, width, ceil(T / 960))."""
        x = wave
        for layer in self.layers:
            x = layer(x)
        return x


class _Attention(nn.Module):
    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads, self.head_dim = config.num_attention_heads, config.head_dim
        inner = self.heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, inner, bias=False)
        self.o_proj = nn.Linear(inner, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        queries = rotate(self._heads(self.q_proj(x)), *rotary)
        keys = rotate(self._heads(self.k_proj(x)), *rotary)
        seen = F.scaled_dot_product_attention(queries, keys, self._heads(self.v_proj(x)), is_causal=True)
        out: torch.Tensor = self.o_proj(seen.transpose(1, 2).flatten(2))
        return out

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, self.head_dim).transpose(1, 2)


class _FeedForward(nn.Module):
    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.fc2(F.gelu(self.fc1(x)))
        return out


class _Layer(nn.Module):
    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.input_layernorm = nn.LayerNorm(config.hidden_size, eps=config.norm_eps)
        self.self_attn = _Attention(config)
        self.self_attn_layer_scale = LayerScale(config.hidden_size)
        self.post_attention_layernorm = nn.LayerNorm(config.hidden_size, eps=config.norm_eps)
        self.mlp = _FeedForward(config)
        self.mlp_layer_scale = LayerScale(config.hidden_size)

    def forward(self, x: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        x = self.self_attn_layer_scale(x, self.self_attn(self.input_layernorm(x), rotary))
        out: torch.Tensor = self.mlp_layer_scale(x, self.mlp(self.post_attention_layernorm(x)))
        return out


class CausalTransformer(nn.Module):
    """Pre-norm layers with full causal attention; no final norm."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.head_dim, self.theta = config.head_dim, config.rope_theta
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config.num_hidden_layers))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, steps, width) to the same shape."""
        positions = torch.arange(x.shape[1], device=x.device)[None]
        rotary = rotary_table(positions, self.head_dim, self.theta, x.dtype)
        for layer in self.layers:
            x = layer(x, rotary)
        return x


class EncoderNetwork(nn.Module):
    """Its attribute names are the checkpoint's, under ``encoder.``."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.encoder = ConvolutionalEncoder(config)
        self.encoder_transformer = CausalTransformer(config)
        self.downsample = CausalConv(width, width, 4, stride=2, bias=False, edge="replicate")
        self.quantizer = EncoderQuantizer(
            config.num_quantizers, config.codebook_size, width, config.codebook_dim
        )

    def latent(self, wave: torch.Tensor) -> torch.Tensor:
        """(1, 1, T) samples to (1, width, ceil(T / 1920))."""
        features = self.encoder(wave)
        seen = self.encoder_transformer(features.transpose(1, 2)).transpose(1, 2)
        latent: torch.Tensor = self.downsample(seen)
        return latent

    def forward(self, wave: torch.Tensor, levels: int) -> torch.Tensor:
        """(1, 1, T) samples to (1, levels, frames) int64."""
        codes: torch.Tensor = self.quantizer(self.latent(wave), levels)
        return codes


class CodecEncoder:
    """The encoder of one codec on one device.

    Attributes:
        config: Shapes.
        num_codebooks: Levels that it computes.
        device: Where it computes.
    """

    sample_rate_hz = SAMPLE_RATE_HZ
    samples_per_frame = SAMPLES_PER_FRAME
    dtype = torch.float32
    tail_policy = TAIL_POLICY

    def __init__(
        self,
        network: EncoderNetwork,
        config: EncoderConfig,
        weights: WeightFiles,
        device: torch.device,
        *,
        num_codebooks: int,
    ) -> None:
        """Take a network that is loaded, prepared, in float32 and on its device."""
        self.network, self.config, self.device, self.num_codebooks = network, config, device, num_codebooks
        self._weights = weights

    @property
    def weights_sha256(self) -> str:
        """Hash of the encoder's tensors as they are stored; read from the disk again."""
        return self._weights.sha256("encoder.")

    def encode(self, samples: torch.Tensor) -> torch.Tensor:
        """Encode one clip; in a batch the tail of a shorter clip would come out different.

        Args:
            samples: (T,) float32 mono at 24 kHz, on any device.

        Returns:
            (ceil(T / 1920), num_codebooks) int32 on the CPU.

        Raises:
            UsageError: No samples, more than one channel, another dtype, or values that are no numbers.
            DeviceError: The device ran out of memory.
        """
        _check(samples)
        stored = {t.dtype for t in (*self.network.parameters(), *self.network.buffers())}
        assert stored == {torch.float32}, stored
        with exact_fp32(self.device.type, where="codec encoder"):
            codes: torch.Tensor = self.network(samples.to(self.device)[None, None], self.num_codebooks)
        frames = -(-samples.shape[0] // SAMPLES_PER_FRAME)
        assert codes.shape == (1, self.num_codebooks, frames), codes.shape
        return codes[0].T.to("cpu", torch.int32).contiguous()


def _check(samples: torch.Tensor) -> None:
    if samples.dtype is not torch.float32 or samples.dim() != 1:
        what = f"samples of shape {tuple(samples.shape)} and type {samples.dtype}"
        raise UsageError(what, where="codec encoder", fix="Give one channel of float32 samples at 24 kHz.")
    if samples.numel() == 0 or not bool(samples.isfinite().all()):
        what = "no samples" if samples.numel() == 0 else "samples that are no numbers"
        raise UsageError(what, where="codec encoder", fix="Decode the clip again, and check its audio.")
