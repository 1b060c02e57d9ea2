"""A codec's folder to its decoder or encoder."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from refprep.engine.codec.config import CodecConfig, codec_folder, read_codec_config
from refprep.engine.codec.decoder import CodecDecoder, DecoderNetwork
from refprep.engine.codec.encoder import CodecEncoder, EncoderNetwork
from refprep.engine.codec.prepared import prepare
from refprep.engine.loader import WeightFiles, fill, open_weights
from refprep.errors import DeviceError

_DECODER, _ENCODER = "decoder.", "encoder."


def load_codec_decoder(
    folder: Path, device: torch.device | str, dtype: torch.dtype = torch.float32
) -> CodecDecoder:
    """Load the decoder.

    Args:
        folder: Of the codec, or of a checkpoint with a ``speech_tokenizer``.
        device: Where it will run.
        dtype: Of weights and states.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files are no codec of this kind, or do not fit each other.
        DeviceError: The device has too little memory.
    """
    config, weights = read_codec_config(folder), open_weights(codec_folder(folder))
    with torch.device("meta"):
        network = DecoderNetwork(config.decoder_config)
    _fill(network, weights, _DECODER, _ENCODER, device)
    return CodecDecoder(network.to(dtype), config.decoder_config, weights, torch.device(device))


def load_codec_encoder(folder: Path, device: torch.device | str) -> CodecEncoder:
    """Load the encoder, in float32.

    Args:
        folder: Of the codec, or of a checkpoint with a ``speech_tokenizer``.
        device: Where it will run.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files are no codec of this kind, or do not fit each other.
        DeviceError: The device has too little memory.
    """
    network, config, weights = load_encoder_network(folder, device)
    levels = config.encoder_valid_num_quantizers
    return CodecEncoder(network, config.encoder_config, weights, torch.device(device), num_codebooks=levels)


def load_encoder_network(
    folder: Path, device: torch.device | str
) -> tuple[EncoderNetwork, CodecConfig, WeightFiles]:
    """The encoder's network alone, filled and prepared in float32; arguments and errors as ``load_codec_encoder``."""
    config, weights = read_codec_config(folder), open_weights(codec_folder(folder))
    with torch.device("meta"):
        network = EncoderNetwork(config.encoder_config)
    _fill(network, weights, _ENCODER, _DECODER, device)
    return network, config, weights


def _fill(
    network: nn.Module, weights: WeightFiles, prefix: str, other: str, device: torch.device | str
) -> None:
    try:
        fill(network, weights, prefix=prefix, elsewhere=(other,), dtype=torch.float32, device=device)
        prepare(network)
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"{device} has too little memory for the codec",
            where=str(weights.folder),
            fix="Use --device cpu, or free it.",
        ) from error
