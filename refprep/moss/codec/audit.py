"""What a codec does when it is not what it should be: encoders at any precision, and chunks that forget.

Nothing here makes codes for a voice. ``ReferenceEncoder`` does that, and takes none of these options.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from refprep.moss.codec.int8 import in_encoder, quantize
from refprep.moss.codec.load import ENCODER, QUANTIZER, load_network, open_codec
from refprep.moss.codec.loudness import Loudness, prepared
from refprep.moss.codec.network import CodecNetwork
from refprep.moss.codec.output_decoder import OutputDecoder
from refprep.moss.codec.precision import Precision, computing
from refprep.moss.codec.reference_encoder import check_samples
from refprep.types import CodeMatrix, Samples
from refprep.units import CODE_RATE_HZ

_WHERE = "codec audit"


@dataclass(frozen=True, slots=True, eq=False)
class EncoderTrace:
    """One clip through an encoder.

    Attributes:
        codes: (frames, codebooks) int32.
        hidden: (frames, width) float32, of the encoder, before the quantizer.
        latents: (frames, codebooks, codebook_dim) float32: what each codebook chose by, before normalisation.
    """

    codes: CodeMatrix
    hidden: npt.NDArray[np.float32]
    latents: npt.NDArray[np.float32]


class AuditEncoder:
    """An encoder at any precision, to compare with the exact one.

    Attributes:
        network: Encoder and quantizer; an audit may break it on purpose.
        precision: Of the encoder.
        stored_dtypes: Of the weights in the files: a checkpoint may be rounded before anybody rounds it.
        quantized: Matrices that are int8.
    """

    sample_rate_hz = CODE_RATE_HZ

    def __init__(
        self,
        network: CodecNetwork,
        precision: Precision,
        *,
        loudness: Loudness,
        device: torch.device,
        stored_dtypes: tuple[str, ...],
        quantized: int,
    ) -> None:
        self.network, self.precision, self.device = network, precision, device
        self.loudness, self.stored_dtypes, self.quantized = loudness, stored_dtypes, quantized

    def trace(self, samples: Samples, *, chunk_frames: int | None = None) -> EncoderTrace:
        """Encode a clip, and keep what led to the codes.

        Args:
            samples: (T,) float32 mono at 24 kHz.
            chunk_frames: Encode as the published code does with a ``chunk_duration``, whose memory holds one window
                less the chunk; None is exact.

        Raises:
            UsageError: Samples that are no reference.
            DeviceError: The device ran out of memory.
        """
        check_samples(samples)
        wave = torch.from_numpy(prepared(samples, self.loudness))[None].to(self.device)
        with computing(self.precision, self.device, where=_WHERE):
            hidden = self.network.hidden(wave, short_ring=chunk_frames)
            codes, latents = self.network.quantizer.encode(hidden)
        return EncoderTrace(
            codes[0].to("cpu", torch.int32).numpy(),
            hidden[0].float().cpu().numpy(),
            latents[0].cpu().numpy(),
        )


def quantized_for_audit(
    folder: Path, precision: Precision, *, loudness: Loudness = Loudness.AS_IS, device: str = "cpu"
) -> AuditEncoder:
    """An encoder at a precision that no reference may be encoded with, or the exact one to compare it with.

    Args:
        folder: Of the codec; weights of any stored type.
        precision: Of the encoder.
        loudness: As for the encoder that it is compared with.
        device: ``cpu`` or ``cuda``.

    Raises:
        WeightsMissing, BackendError, DeviceError: As ``OutputDecoder``.
    """
    network = load_network(folder, device, encoder=True, dtype=precision.dtype)
    quantized = 0
    if precision.is_int8:
        with torch.no_grad():
            quantized = quantize(network, precision, in_encoder)
    return AuditEncoder(
        network,
        precision,
        loudness=loudness,
        device=torch.device(device),
        stored_dtypes=tuple(open_codec(folder).dtypes((ENCODER, QUANTIZER))),
        quantized=quantized,
    )


def decode_in_chunks(decoder: OutputDecoder, codes: torch.Tensor, *, chunk_frames: int) -> torch.Tensor:
    """Decode as the published code does with a ``chunk_duration``: beyond 10 s the result is another.

    Args:
        decoder: At any precision.
        codes: (frames, codebooks) integers.
        chunk_frames: Of its chunks.

    Returns:
        (frames * 1920,) float32 on the CPU.
    """
    with computing(decoder.precision, decoder.device, where=_WHERE):
        samples = decoder.network.decode(codes.to(decoder.device)[None].long(), short_ring=chunk_frames)
        return samples[0].float().cpu()
