"""MOSS-Audio-Tokenizer v1: references to codes in float32 and in nothing else, codes to samples at any precision."""

from refprep.moss.codec.config import CODEC_NAME, CodecConfig, read_codec_config
from refprep.moss.codec.loudness import Loudness, loudness_gain_db
from refprep.moss.codec.output_decoder import OutputDecoder
from refprep.moss.codec.precision import Precision
from refprep.moss.codec.reference_encoder import ReferenceEncoder
from refprep.moss.codec.stream import CodecState

__all__ = [
    "CODEC_NAME",
    "CodecConfig",
    "CodecState",
    "Loudness",
    "OutputDecoder",
    "Precision",
    "ReferenceEncoder",
    "loudness_gain_db",
    "read_codec_config",
]
