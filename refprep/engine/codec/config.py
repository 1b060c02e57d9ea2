"""``speech_tokenizer/config.json`` as typed values.

Keys that no code reads are ignored. Keys whose other values would mean another network are checked, so that a codec of
another kind is refused by name rather than decoded into noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from refprep.engine.json_config import read_json, typed
from refprep.errors import BackendError

SAMPLE_RATE_HZ = 24_000
SAMPLES_PER_FRAME = 1920

_MODEL_TYPE = "qwen3_tts_tokenizer_12hz"


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Shapes of the encoder; names are the file's.

    ``sliding_window`` is in the file and not here: the published code builds a plain causal mask and ignores it.
    """

    num_filters: int
    kernel_size: int
    last_kernel_size: int
    residual_kernel_size: int
    compress: int
    upsampling_ratios: tuple[int, ...]
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    intermediate_size: int
    norm_eps: float
    rope_theta: float
    num_quantizers: int
    num_semantic_quantizers: int
    codebook_size: int
    codebook_dim: int
    audio_channels: int = 1
    num_residual_layers: int = 1
    use_causal_conv: bool = True
    use_conv_shortcut: bool = False
    pad_mode: str = "constant"
    hidden_act: str = "gelu"

    def faults(self) -> list[str]:
        """What this network cannot be, in words; empty for the known kind."""
        return [
            *_differs("audio_channels", self.audio_channels, 1),
            *_differs("num_residual_layers", self.num_residual_layers, 1),
            *_differs("use_causal_conv", self.use_causal_conv, True),
            *_differs("use_conv_shortcut", self.use_conv_shortcut, False),
            *_differs("pad_mode", self.pad_mode, "constant"),
            *_differs("hidden_act", self.hidden_act, "gelu"),
            *_differs("num_semantic_quantizers", self.num_semantic_quantizers, 1),
            *_differs("num_key_value_heads", self.num_key_value_heads, self.num_attention_heads),
            # the last factor of two is the downsampling from 25 Hz to 12.5 Hz
            *_differs("upsampling_ratios", 2 * math.prod(self.upsampling_ratios), SAMPLES_PER_FRAME),
        ]


@dataclass(frozen=True, slots=True)
class DecoderConfig:
    """Shapes of the decoder; names are the file's.

    ``semantic_codebook_size`` is in the file and not here: every codebook has ``codebook_size`` rows.
    """

    latent_dim: int
    codebook_dim: int
    codebook_size: int
    decoder_dim: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    sliding_window: int
    num_quantizers: int
    num_semantic_quantizers: int
    upsample_rates: tuple[int, ...]
    upsampling_ratios: tuple[int, ...]
    hidden_act: str = "silu"
    attention_bias: bool = False

    def faults(self) -> list[str]:
        """What this network cannot be, in words; empty for the known kind."""
        return [
            *_differs("hidden_act", self.hidden_act, "silu"),
            *_differs("attention_bias", self.attention_bias, False),
            *_differs("num_semantic_quantizers", self.num_semantic_quantizers, 1),
            *_differs("num_key_value_heads", self.num_key_value_heads, self.num_attention_heads),
            *_differs(
                "upsample_rates and upsampling_ratios",
                math.prod(self.upsample_rates) * math.prod(self.upsampling_ratios),
                SAMPLES_PER_FRAME,
            ),
        ]


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """The whole file.

    Attributes:
        encoder_valid_num_quantizers: Levels of the encoder that the talker knows; further ones are not computed.
    """

    model_type: str
    encoder_valid_num_quantizers: int
    input_sample_rate: int
    output_sample_rate: int
    encode_downsample_rate: int
    decode_upsample_rate: int
    encoder_config: EncoderConfig
    decoder_config: DecoderConfig

    def faults(self) -> list[str]:
        """What this codec cannot be, in words; empty for the known kind."""
        return [
            *_differs("model_type", self.model_type, _MODEL_TYPE),
            *_differs("input_sample_rate", self.input_sample_rate, SAMPLE_RATE_HZ),
            *_differs("output_sample_rate", self.output_sample_rate, SAMPLE_RATE_HZ),
            *_differs("encode_downsample_rate", self.encode_downsample_rate, SAMPLES_PER_FRAME),
            *_differs("decode_upsample_rate", self.decode_upsample_rate, SAMPLES_PER_FRAME),
            *_differs(
                "num_quantizers", self.decoder_config.num_quantizers, self.encoder_valid_num_quantizers
            ),
            *self.encoder_config.faults(),
            *self.decoder_config.faults(),
        ]


def codec_folder(folder: Path) -> Path:
    """Where the codec's files are: a checkpoint keeps them in ``speech_tokenizer``, the codec alone in its own folder."""
    inner = folder / "speech_tokenizer"
    return inner if inner.is_dir() else folder


def read_codec_config(folder: Path) -> CodecConfig:
    """Read and check ``config.json`` of a codec.

    Args:
        folder: Of the codec, or of a checkpoint that holds one.

    Raises:
        WeightsMissing: No config.json there.
        BackendError: It is no codec of this kind.
    """
    path = codec_folder(folder) / "config.json"
    values = read_json(path)
    if values.get("model_type") != _MODEL_TYPE:
        raise _refused(path, [*_differs("model_type", values.get("model_type"), _MODEL_TYPE)])
    config = typed(CodecConfig, values, where=str(path))
    if faults := config.faults():
        raise _refused(path, faults)
    return config


def _differs(name: str, found: object, known: object) -> list[str]:
    return [] if found == known else [f"{name} is {found!r}, not {known!r}"]


def _refused(path: Path, faults: list[str]) -> BackendError:
    return BackendError(
        "; ".join(faults),
        where=str(path),
        fix="Use the codec of Qwen3-TTS at 12.5 frames a second; another codec needs another engine.",
    )
