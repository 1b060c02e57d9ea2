"""The encoder of Qwen3-TTS's codec at a precision that no reference may be encoded with.

A copy of the network is loaded for it. The class that encodes references has no such option, and is not used here.

    wave    (1, 1, T)             at the encoder's precision
    hidden  (frames, width)       float32 copy of the latent that both groups of codebooks see
    codes   (frames, codebooks)   int32; the quantizer is float32 at every precision
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from refprep.audit.rounding import round_states, round_weights
from refprep.engine.codec.encoder import EncoderNetwork
from refprep.engine.codec.load import load_encoder_network
from refprep.precision import exact_fp32
from refprep.types import CodeMatrix, Samples
from refprep.units import SAMPLES_PER_FRAME

_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
_PARTS = ("encoder", "encoder_transformer", "downsample")
_WHERE = "codec audit"


@dataclass(frozen=True, slots=True, eq=False)
class Qwen3Trace:
    """One clip through an encoder.

    Attributes:
        codes: (frames, codebooks) int32.
        hidden: (frames, width) float32, before the quantizer.
    """

    codes: CodeMatrix
    hidden: npt.NDArray[np.float32]


class Qwen3AuditEncoder:
    """An encoder at any precision, to compare with the exact one.

    Attributes:
        network: Encoder and quantizer; an audit may break it on purpose.
        precision: Of the encoder.
        quantized: Matrices and convolutions that hold int8 values.
    """

    def __init__(
        self, network: EncoderNetwork, precision: str, *, levels: int, device: torch.device, quantized: int
    ) -> None:
        self.network, self.precision, self.device = network, precision, device
        self.levels, self.quantized = levels, quantized
        self._dtype = _DTYPES.get(precision, torch.float32)

    def trace(self, samples: Samples, *, chunk_frames: int | None = None) -> Qwen3Trace:
        """Encode a clip, and keep what led to the codes.

        Args:
            samples: (T,) float32 mono at 24 kHz.
            chunk_frames: Encode pieces of so many frames, each by itself, as a caller does who cuts the clip; None is
                exact.

        Raises:
            DeviceError: The device ran out of memory.
        """
        size = len(samples) if chunk_frames is None else chunk_frames * SAMPLES_PER_FRAME
        wave = torch.from_numpy(samples.copy())
        with ExitStack() as stack:
            stack.enter_context(exact_fp32(self.device.type, where=_WHERE))
            if self.precision == "tf32":
                _allow_tf32()  # exact_fp32 puts back what was there before
            elif self.precision in _DTYPES:
                stack.enter_context(_plain_kernels())
            parts = [self._encode(piece.to(self.device)) for piece in torch.split(wave, max(size, 1))]
        return Qwen3Trace(np.concatenate([p.codes for p in parts]), np.concatenate([p.hidden for p in parts]))

    def _encode(self, wave: torch.Tensor) -> Qwen3Trace:
        latent = self.network.latent(wave[None, None].to(self._dtype)).float()
        codes = self.network.quantizer(latent, self.levels)
        return Qwen3Trace(
            codes[0].T.to("cpu", torch.int32).contiguous().numpy(), latent[0].T.contiguous().cpu().numpy()
        )


def qwen3_encoder_at(folder: Path, precision: str, *, device: str = "cpu") -> Qwen3AuditEncoder:
    """Load a copy of the encoder at a precision.

    Args:
        folder: Of the codec, or of a checkpoint with a ``speech_tokenizer``; weights of any stored type.
        precision: ``float32``, ``tf32``, ``bfloat16``, ``float16``, ``int8`` (weights alone) or ``int8-dynamic``
            (weights and states).
        device: ``cpu`` or ``cuda``.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files are no codec of this kind, or do not fit each other.
        DeviceError: The device has too little memory.
    """
    network, config, _ = load_encoder_network(folder, device)
    quantized = round_weights(network, in_encoder) if precision.startswith("int8") else 0
    if precision == "int8-dynamic":
        round_states(network, in_encoder)
    if precision in _DTYPES:
        for part in _PARTS:
            network.get_submodule(part).to(_DTYPES[precision])
    return Qwen3AuditEncoder(
        network,
        precision,
        levels=config.encoder_valid_num_quantizers,
        device=torch.device(device),
        quantized=quantized,
    )


def in_encoder(name: str) -> bool:
    """Whether a module of the network encodes; the quantizer does not."""
    return name.split(".")[0] in _PARTS


@contextmanager
def _plain_kernels() -> Iterator[None]:
    """Without oneDNN: this measures rounding, not kernels.

    Its bf16 convolution of 16 to 32 channels (kernel 12, stride 6) is wrong by its whole output on CPUs with AMX
    (PyTorch 2.14).
    """
    onednn: Any = torch.backends.mkldnn
    before = onednn.enabled
    onednn.enabled = False
    try:
        yield
    finally:
        onednn.enabled = before


def _allow_tf32() -> None:
    onednn: Any = torch.backends.mkldnn
    cudnn: Any = torch.backends.cudnn
    for owner in (torch.backends.cuda.matmul, cudnn.conv, onednn.matmul, onednn.conv):
        owner.fp32_precision = "tf32"
