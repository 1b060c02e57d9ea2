"""Samples to codes, in float32 always and in one pass.

name      shape            rate      meaning
samples   (T,)             24 kHz    float32, mono, as the caller resampled and mixed them
wave      (1, F * 1920)    24 kHz    after the loudness step, silence to a whole frame; F = ceil(T / 1920)
codes     (F, 32)          12.5 Hz   int32, codebook 0 first

One pass sees the whole window everywhere. Batches and chunks, which the published code offers, do not.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from refprep.errors import UsageError
from refprep.moss.codec.config import CODEC_NAME, read_codec_config
from refprep.moss.codec.load import ENCODER, QUANTIZER, load_network, open_codec
from refprep.moss.codec.loudness import Loudness, preparation_name, prepared
from refprep.moss.codec.network import CodecNetwork
from refprep.moss.codec.precision import Precision, computing, require_exact, rounded_encoder
from refprep.types import CodeMatrix, EncoderFacts, Samples
from refprep.units import CODE_RATE_HZ, FRAME_RATE_HZ

ENCODER_VERSION = 1
"""Raised when this encoder computes other numbers from the same weights."""

_EXACT = frozenset({"float32", "float64"})
_WHERE = "codec encoder"


class ReferenceEncoder:
    """The encoder of a codec, in float32; its weights are loaded when it first encodes.

    Args:
        folder: Of the codec.
        loudness: What happens to the level of a reference; a part of every key.
        device: ``cpu`` or ``cuda``.

    Attributes:
        config: Shapes.

    Raises:
        WeightsMissing: No codec there.
        BackendError: Another codec.
    """

    sample_rate_hz = CODE_RATE_HZ
    precision = Precision.FLOAT32

    def __init__(self, folder: Path, *, loudness: Loudness, device: str = "cpu") -> None:
        self.folder, self.loudness, self.device = folder, loudness, torch.device(device)
        self.config = read_codec_config(folder)
        self._files = open_codec(folder)

    @property
    def name(self) -> str:
        """Of the codec's folder."""
        return self.folder.resolve().name

    def fault(self) -> UsageError | None:
        """Why it may not encode: weights that are stored rounded; None where it may."""
        rounded = sorted(set(self._files.dtypes((ENCODER, QUANTIZER))) - _EXACT)
        if not rounded:
            return None
        what = f"the codec encoder's weights are stored as {', '.join(rounded)}"
        return rounded_encoder(what, where=str(self.folder))

    def require(self) -> None:
        """Fail now rather than after the audio was read.

        Raises:
            UsageError: Its weights are rounded (RP501).
        """
        if fault := self.fault():
            raise fault

    @cached_property
    def facts(self) -> EncoderFacts:
        """The encoder's side of a key; there is no speaker encoder beside it. The weights' hash is empty where they may not encode."""
        may_encode = self.fault() is None
        described = [asdict(self.config), CODE_RATE_HZ]
        text = json.dumps(described, sort_keys=True).encode("ascii")
        return EncoderFacts(
            codec=CODEC_NAME,
            codec_weights_sha256=self._files.sha256_of((ENCODER, QUANTIZER)) if may_encode else "",
            speaker_weights_sha256="",
            config_sha256=hashlib.sha256(text).hexdigest(),
            encoder_dtype="float32",
            device=self.device.type,
            tail_policy=preparation_name(self.loudness),
            frame_rate_hz=FRAME_RATE_HZ,
            num_codebooks=self.config.quantizer.num_quantizers,
            codebook_size=self.config.quantizer.codebook_size,
            encoder_version=ENCODER_VERSION,
            torch_version=str(torch.__version__),
        )

    def encode(self, samples: Samples) -> CodeMatrix:
        """Encode one whole reference.

        Args:
            samples: (T,) float32 mono at 24 kHz.

        Returns:
            (ceil(T / 1920), codebooks) int32, codebook 0 first.

        Raises:
            UsageError: Samples that are no reference, or weights that may not encode (RP501).
            BackendError: Files that do not fit each other.
            DeviceError: The device ran out of memory.
        """
        check_samples(samples)
        network = self.network
        require_exact(network, where=str(self.folder))
        wave = torch.from_numpy(prepared(samples, self.loudness))[None]
        with computing(self.precision, self.device, where=_WHERE):
            codes = network.encode(wave.to(self.device))
        matrix: CodeMatrix = codes[0].to("cpu", torch.int32).numpy()
        return matrix

    @cached_property
    def network(self) -> CodecNetwork:
        """Encoder and quantizer, loaded."""
        self.require()
        return load_network(self.folder, self.device, encoder=True)


def check_samples(samples: object) -> None:
    """Refuse what is no reference.

    Raises:
        UsageError: Another type or shape, no samples, or values that are no numbers.
    """
    if not isinstance(samples, np.ndarray) or samples.dtype != np.float32 or samples.ndim != 1:
        kind = f"{getattr(samples, 'dtype', type(samples).__name__)}"
        raise UsageError(
            f"samples of shape {getattr(samples, 'shape', '?')} and type {kind}",
            where=_WHERE,
            fix="Give one channel of float32 samples at 24 kHz, as a numpy array.",
        )
    if samples.size == 0 or not bool(np.isfinite(samples).all()):
        raise UsageError(
            "no samples" if samples.size == 0 else "samples that are no numbers",
            where=_WHERE,
            fix="Decode the clip again, and check its audio.",
        )
