"""Codes to samples, as a stream or whole; both are the same steps.

name      shape                      meaning
codes     (batch, n, codebooks)      int64 in 0..2047, the semantic codebook first; whole: (frames, codebooks)
x         (steps, batch, channels)   time first; 12.5 Hz, then 25, 50, 400, 2000, 8000 and 24,000 Hz
samples   (batch, n x 1920)          float32 in [-1, 1] at 24 kHz; whole: (frames x 1920,)

Everything is causal, so a decoder with a state is exact and decodes no frame twice; the usual windows of a few frames
of context are neither (a tenth to a fifth of the signal off, at strong attention).
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.engine.codec.config import SAMPLE_RATE_HZ, SAMPLES_PER_FRAME, DecoderConfig
from refprep.engine.codec.convolution import Snake, Stream, StreamConv, StreamDepthwise, StreamTransposed
from refprep.engine.codec.push import Push
from refprep.engine.codec.quantizer import DecoderQuantizer
from refprep.engine.codec.stream import CodecState
from refprep.engine.codec.transformer import WindowTransformer
from refprep.engine.loader import WeightFiles
from refprep.errors import BackendError
from refprep.precision import exact_fp32

# Frames that ``decode`` pushes at once. On a CPU 8 are the fastest: fewer read the weights too often, more leave the
# caches. Elsewhere launches count, and 64 need 50 MB for the largest signal.
_CHUNK_FRAMES_CPU, _CHUNK_FRAMES = 8, 64


class ConvNeXt(nn.Module):
    """Depthwise convolution and a pointwise network, on a residual branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dwconv = StreamDepthwise(width, 7)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = nn.Linear(width, 4 * width)
        self.pwconv2 = nn.Linear(4 * width, width)
        self.gamma = nn.Parameter(torch.empty(width))

    def forward(self, x: torch.Tensor, push: Push) -> torch.Tensor:
        """(n, batch, width) to the same shape."""
        branch = self.pwconv2(F.gelu(self.pwconv1(self.norm(self.dwconv(x, push)))))
        return torch.addcmul(x, branch, self.gamma)


class ResidualUnit(nn.Module):
    """Two convolutions on a residual branch, each behind a Snake."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.act1 = Snake(channels)
        self.conv1 = StreamConv(channels, channels, 7, dilation=dilation)
        self.act2 = Snake(channels)
        self.conv2 = StreamConv(channels, channels, 1)

    def forward(self, x: torch.Tensor, push: Push) -> torch.Tensor:
        """(n, batch, channels) to the same shape, in the memory of ``x``."""
        return self.conv2.add_to(x, self.conv1(x, push, self.act1), push, self.act2)


class UpsamplingBlock(nn.Module):
    """Snake, transposed convolution that halves the channels, three residual units."""

    def __init__(self, inputs: int, rate: int) -> None:
        super().__init__()
        outputs = inputs // 2
        self.block = nn.ModuleList(
            (
                Snake(inputs),
                StreamTransposed(inputs, outputs, stride=rate, overlaps=True),
                *(ResidualUnit(outputs, dilation) for dilation in (1, 3, 9)),
            )
        )

    def forward(self, x: torch.Tensor, push: Push) -> torch.Tensor:
        """(n, batch, inputs) to (n x rate, batch, inputs / 2)."""
        snake, transposed, *units = self.block
        x = transposed(x, push, snake)
        for unit in units:
            x = unit(x, push)
        return x


class DecoderNetwork(nn.Module):
    """Its attribute names are the checkpoint's, under ``decoder.``."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        latent, width = config.latent_dim, config.decoder_dim
        self.quantizer = DecoderQuantizer(config.num_quantizers, config.codebook_size, config.codebook_dim)
        self.pre_conv = StreamConv(config.codebook_dim, latent, 3)
        self.pre_transformer = WindowTransformer(config)
        self.upsample = nn.ModuleList(
            nn.ModuleList((StreamTransposed(latent, latent, stride=ratio, overlaps=False), ConvNeXt(latent)))
            for ratio in config.upsampling_ratios
        )
        blocks = [UpsamplingBlock(width >> i, rate) for i, rate in enumerate(config.upsample_rates)]
        last = width >> len(blocks)
        self.decoder = nn.ModuleList(
            (StreamConv(latent, width, 7), *blocks, Snake(last), StreamConv(last, 1, 7))
        )
        self.streams = tuple(m for m in self.modules() if isinstance(m, Stream) and m.reach)
        for slot, stream in enumerate(self.streams):
            stream.slot = slot
        self.memory_shape = (config.num_attention_heads, config.sliding_window - 1, config.head_dim)

    def forward(self, codes: torch.Tensor, push: Push) -> torch.Tensor:
        """(batch, n, codebooks) int64 to (batch, n x 1920); the streams of ``push`` move on."""
        x = self.quantizer(codes.transpose(0, 1))
        x = self.pre_conv(x, push)
        x = self.pre_transformer(x, push)
        for stage in self.upsample:
            for layer in stage:  # type: ignore[attr-defined]  # a list of two modules
                x = layer(x, push)
        first, *blocks, snake, last = self.decoder
        x = first(x, push)
        for block in blocks:
            x = block(x, push)
        wave: torch.Tensor = last(x, push, snake)
        push.count(push.frames())
        return push.cut(wave.squeeze(-1).T.clamp(-1.0, 1.0))


class CodecDecoder:
    """The decoder of one codec on one device.

    Attributes:
        config: Shapes.
        device: Where it computes, and where the codes and states of ``step`` are.
        chunk_frames: That suit the device where a whole stream is at hand.
        dtype: Of its weights and states. bf16 turns some checkpoints silent; float32 is what the codec was made for.
    """

    sample_rate_hz = SAMPLE_RATE_HZ
    samples_per_frame = SAMPLES_PER_FRAME

    def __init__(
        self, network: DecoderNetwork, config: DecoderConfig, weights: WeightFiles, device: torch.device
    ) -> None:
        """Take a network that is loaded, prepared and on its device."""
        self.network, self.config, self.device = network, config, device
        self.dtype = network.pre_transformer.norm.weight.dtype
        self.chunk_frames = _CHUNK_FRAMES_CPU if device.type == "cpu" else _CHUNK_FRAMES
        self._weights = weights

    @property
    def weights_sha256(self) -> str:
        """Hash of the decoder's tensors as they are stored; read from the disk again."""
        return self._weights.sha256("decoder.")

    @torch.inference_mode()
    def fresh(self, batch: int = 1) -> CodecState:
        """State of streams that have decoded nothing."""
        heads, back, head_dim = self.network.memory_shape
        layers = self.config.num_hidden_layers
        return CodecState(
            tuple(self._zeros(s.reach, batch, s.inputs) for s in self.network.streams),
            self._zeros(layers, 2, batch, heads, back, head_dim),
            torch.zeros(batch, dtype=torch.int64, device=self.device),
        )

    def step(
        self,
        codes: torch.Tensor,
        state: CodecState,
        lengths: torch.Tensor | None = None,
        *,
        rows: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Decode the next frames of streams.

        Args:
            codes: (batch, n, codebooks) integers on the decoder's device. Their range is checked where that costs
                nothing, on the CPU; elsewhere the caller answers for it.
            state: Changed in place.
            lengths: (batch,) int64 on the device, 0 to n: new frames of each stream; those behind are padding,
                codes that leave no trace. None: all are new.
            rows: (batch,) int64 on the device: streams of the state that step, each named once. None: all.

        Returns:
            (batch, n x 1920) float32 on the decoder's device; zeros where padding was.

        Raises:
            BackendError: Codes of another codec.
            DeviceError: The device ran out of memory; the streams' state is then undefined.
        """
        self._check(codes, dimensions=3)
        batch, n = codes.shape[:2]
        assert batch == (state.batch if rows is None else rows.shape[0]), (codes.shape, state.batch)
        assert lengths is None or lengths.shape == (batch,), lengths
        if n == 0:
            return torch.zeros(batch, 0, device=self.device)
        with exact_fp32(self.device.type, where="codec decoder"):
            samples: torch.Tensor = self.network(codes.long(), Push(state, n, rows, lengths)).float()
        return samples

    def decode(
        self, codes: torch.Tensor, *, state: CodecState | None = None, chunk_frames: int | None = None
    ) -> torch.Tensor:
        """Decode all frames of one stream.

        Memory stays bounded: the frames go through a state chunk by chunk, which is exact.

        Args:
            codes: (frames, codebooks) integers.
            state: Of one stream, to go on from and changed in place; a fresh one by default.
            chunk_frames: Frames at once; None takes what suits the device. The result depends on it in the last
                bits only.

        Returns:
            (frames x 1920,) float32 on the CPU.

        Raises:
            BackendError: Codes of another codec.
            DeviceError: The device ran out of memory.
        """
        self._check(codes.cpu(), dimensions=2)
        state = state or self.fresh()
        chunks = (
            torch.split(codes.to(self.device), chunk_frames or self.chunk_frames) if codes.shape[0] else ()
        )
        parts = [self.step(chunk[None], state)[0].cpu() for chunk in chunks]
        return torch.cat(parts) if parts else torch.zeros(0)

    def _zeros(self, *shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=self.dtype, device=self.device)

    def _check(self, codes: torch.Tensor, *, dimensions: int) -> None:
        known, size = self.config.num_quantizers, self.config.codebook_size
        if codes.is_floating_point() or codes.dim() != dimensions or codes.shape[-1] != known:
            raise _foreign(
                f"codes of shape {tuple(codes.shape)} and type {codes.dtype}, not {known} codebooks"
            )
        if codes.device.type == "cpu" and codes.numel():
            low, high = (int(v) for v in codes.aminmax())
            if low < 0 or high >= size:
                raise _foreign(f"codes from {low} to {high}, not within 0 to {size - 1}")


def _foreign(what: str) -> BackendError:
    return BackendError(
        what,
        where="codec decoder",
        fix="Give codes that the encoder or the talker of Qwen3-TTS at 12.5 frames a second made, without its end mark.",
    )
