"""The speaker encoder of Base checkpoints: an ECAPA network from a mel spectrogram to an x-vector, float32 always.

name       shape                  meaning
mel        (1, mels, frames)      of ``MelFrontEnd``
x          (1, channels, frames)  features; every convolution keeps the length by mirroring the ends
embedding  (enc_dim,)             float32 on the CPU, as long as the talker is wide, not normalised

An x-vector belongs to its checkpoint: one of 0.6B means nothing to 1.7B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.engine.json_config import typed
from refprep.engine.loader import WeightFiles, fill, open_weights
from refprep.engine.mel import SAMPLE_RATE_HZ, MelFrontEnd, frame_count, least_samples, too_short
from refprep.errors import BackendError, UsageError
from refprep.precision import exact_fp32

_PREFIX = "speaker_encoder."
_LEAST_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class SpeakerConfig:
    """``speaker_encoder_config`` of a checkpoint; most files give the first two keys alone."""

    enc_dim: int
    sample_rate: int = SAMPLE_RATE_HZ
    mel_dim: int = 128
    enc_channels: tuple[int, ...] = (512, 512, 512, 512, 1536)
    enc_kernel_sizes: tuple[int, ...] = (5, 3, 3, 3, 1)
    enc_dilations: tuple[int, ...] = (1, 2, 3, 4, 1)
    enc_attention_channels: int = 128
    enc_res2net_scale: int = 8
    enc_se_channels: int = 128

    @property
    def least_frames(self) -> int:
        """Fewest mel frames: a convolution mirrors fewer frames than there are."""
        pairs = zip(self.enc_kernel_sizes, self.enc_dilations, strict=True)
        return 1 + max(dilation * (kernel - 1) // 2 for kernel, dilation in pairs)


class MirrorConv(nn.Module):
    """A convolution that keeps the length; the ends are mirrored."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, kernel))
        self.bias = nn.Parameter(torch.empty(outputs))
        total = dilation * (kernel - 1)
        self.padding, self.dilation = (total // 2, total - total // 2), dilation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(1, inputs, T) to (1, outputs, T)."""
        if any(self.padding):
            x = F.pad(x, self.padding, mode="reflect")
        return F.conv1d(x, self.weight, self.bias, dilation=self.dilation)


class TDNN(nn.Module):
    """A convolution over time and a ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, dilation: int = 1) -> None:
        super().__init__()
        self.conv = MirrorConv(inputs, outputs, kernel, dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(1, inputs, T) to (1, outputs, T)."""
        return F.relu(self.conv(x))


class Res2Net(nn.Module):
    """Groups of channels in a row: the first passes, each later one is convolved with what came before it."""

    def __init__(self, channels: int, kernel: int, dilation: int, scale: int) -> None:
        super().__init__()
        width = channels // scale
        self.scale = scale
        self.blocks = nn.ModuleList(TDNN(width, width, kernel, dilation) for _ in range(scale - 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(1, channels, T) to the same shape."""
        first, second, *rest = x.chunk(self.scale, dim=1)
        done = [first, self.blocks[0](second)]
        for group, block in zip(rest, self.blocks[1:], strict=True):
            done.append(block(group + done[-1]))
        return torch.cat(done, dim=1)


class SqueezeExcitation(nn.Module):
    """A gain per channel, from the channels' means over time."""

    def __init__(self, channels: int, inner: int) -> None:
        super().__init__()
        self.conv1 = MirrorConv(channels, inner)
        self.conv2 = MirrorConv(inner, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(1, channels, T) to the same shape."""
        gains = torch.sigmoid(self.conv2(F.relu(self.conv1(x.mean(dim=2, keepdim=True)))))
        return x * gains


class SERes2NetBlock(nn.Module):
    """TDNN, Res2Net, TDNN, squeeze-excitation, on a residual branch."""

    def __init__(self, channels: int, kernel: int, dilation: int, config: SpeakerConfig) -> None:
        super().__init__()
        self.tdnn1 = TDNN(channels, channels)
        self.res2net_block = Res2Net(channels, kernel, dilation, config.enc_res2net_scale)
        self.tdnn2 = TDNN(channels, channels)
        self.se_block = SqueezeExcitation(channels, config.enc_se_channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(1, channels, T) to the same shape."""
        out: torch.Tensor = x + self.se_block(self.tdnn2(self.res2net_block(self.tdnn1(x))))
        return out


class AttentiveStatistics(nn.Module):
    """Mean and deviation over time, weighted by attention per channel."""

    def __init__(self, channels: int, inner: int) -> None:
        super().__init__()
        self.tdnn = TDNN(3 * channels, inner)
        self.conv = MirrorConv(inner, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(1, channels, T) to (1, 2 x channels, 1)."""
        even = x.new_full((1, 1, x.shape[2]), 1.0 / x.shape[2])
        context = [s.expand_as(x) for s in _statistics(x, even)]
        weights = self.conv(torch.tanh(self.tdnn(torch.cat((x, *context), dim=1)))).softmax(dim=2)
        return torch.cat(_statistics(x, weights), dim=1)


def _statistics(x: torch.Tensor, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted mean and population deviation over time, (1, channels, 1) each."""
    mean = (weights * x).sum(dim=2, keepdim=True)
    variance = (weights * (x - mean).square()).sum(dim=2, keepdim=True)
    return mean, variance.clamp(min=_LEAST_VARIANCE).sqrt()


class SpeakerNetwork(nn.Module):
    """Its attribute names are the checkpoint's, under ``speaker_encoder.``."""

    def __init__(self, config: SpeakerConfig) -> None:
        super().__init__()
        first, *inner, joined = zip(
            config.enc_channels, config.enc_kernel_sizes, config.enc_dilations, strict=True
        )
        self.blocks = nn.ModuleList(
            (TDNN(config.mel_dim, *first), *(SERes2NetBlock(*shape, config) for shape in inner))
        )
        self.mfa = TDNN(len(inner) * first[0], *joined)
        self.asp = AttentiveStatistics(joined[0], config.enc_attention_channels)
        self.fc = MirrorConv(2 * joined[0], config.enc_dim)

    def forward(self, mel: torch.Tensor) -> torch.Tensor:
        """(1, mels, frames) to (1, enc_dim)."""
        first, *inner = self.blocks
        x = first(mel)
        outputs = []
        for block in inner:
            x = block(x)
            outputs.append(x)
        out: torch.Tensor = self.fc(self.asp(self.mfa(torch.cat(outputs, dim=1))))
        return out[..., 0]


class SpeakerEncoder:
    """The speaker encoder of one checkpoint on one device.

    Attributes:
        config: Shapes.
        device: Where it computes.
    """

    sample_rate_hz = SAMPLE_RATE_HZ

    def __init__(
        self, network: SpeakerNetwork, config: SpeakerConfig, weights: WeightFiles, device: torch.device
    ) -> None:
        """Take a network that is loaded in float32 and on its device."""
        self.network, self.config, self.device = network, config, device
        self.front_end = MelFrontEnd(config.mel_dim).to(device)
        self._weights = weights

    @property
    def dim(self) -> int:
        """Length of an embedding."""
        return self.config.enc_dim

    @property
    def weights_sha256(self) -> str:
        """Hash of the encoder's tensors as they are stored; read from the disk again."""
        return self._weights.sha256(_PREFIX)

    def embed(self, samples: torch.Tensor) -> torch.Tensor:
        """Embed one clip.

        Args:
            samples: (T,) float32 mono at 24 kHz, on any device.

        Returns:
            (enc_dim,) float32 on the CPU.

        Raises:
            UsageError: Too short a clip, more than one channel, another dtype, or values that are no numbers.
            DeviceError: The device ran out of memory.
        """
        if samples.dtype is not torch.float32 or samples.dim() != 1:
            what = f"samples of shape {tuple(samples.shape)} and type {samples.dtype}"
            raise UsageError(
                what, where="speaker encoder", fix="Give one channel of float32 samples at 24 kHz."
            )
        least = self.config.least_frames
        if samples.shape[0] < least_samples(least) or frame_count(samples.shape[0]) < least:
            raise too_short(samples.shape[0], least_samples(least))
        if not bool(samples.isfinite().all()):
            raise UsageError(
                "samples that are no numbers", where="speaker encoder", fix="Decode the clip again."
            )
        assert {p.dtype for p in self.network.parameters()} == {torch.float32}
        with exact_fp32(self.device.type, where="speaker encoder"):
            mel = self.front_end(samples.to(self.device))
            embedding: torch.Tensor = self.network(mel.T[None])[0]
        return embedding.cpu()


def load_speaker_encoder(
    folder: Path, config: Mapping[str, Any], device: torch.device | str
) -> SpeakerEncoder:
    """Load the speaker encoder of a Base checkpoint, in float32.

    Args:
        folder: Of the checkpoint.
        config: ``speaker_encoder_config`` of its config.json.
        device: Where it will run.

    Raises:
        WeightsMissing: No weights there.
        BackendError: The config or the weights are not of this network.
    """
    where = f"{folder / 'config.json'}: speaker_encoder_config"
    shapes = typed(SpeakerConfig, config, where=where)
    _check(shapes, where)
    weights = open_weights(folder)
    with torch.device("meta"):
        network = SpeakerNetwork(shapes)
    fill(network, weights, prefix=_PREFIX, elsewhere=("talker.",), dtype=torch.float32, device=device)
    return SpeakerEncoder(network, shapes, weights, torch.device(device))


def _check(config: SpeakerConfig, where: str) -> None:
    lengths = {len(config.enc_channels), len(config.enc_kernel_sizes), len(config.enc_dilations)}
    faults = [
        *[f"sample_rate is {config.sample_rate}, not {SAMPLE_RATE_HZ}"]
        * (config.sample_rate != SAMPLE_RATE_HZ),
        *[f"the lists have {sorted(lengths)} entries"] * (len(lengths) != 1 or min(lengths) < 3),
        *["the blocks differ in width"] * (len(set(config.enc_channels[:-1])) != 1),
        *["enc_res2net_scale does not divide the width"]
        * bool(config.enc_channels[0] % config.enc_res2net_scale or config.enc_res2net_scale < 2),
    ]
    if faults:
        raise BackendError(
            "; ".join(faults), where=where, fix="Take config.json from the checkpoint's publisher."
        )
