"""The JSON files of a checkpoint, from its shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from refprep.engine.config import ModelKind
from refprep.engine.random_checkpoint.shapes import CheckpointShapes, CodecShapes, StackShape
from refprep.engine.random_checkpoint.toy_tokenizer import (
    END_OF_TEXT,
    IM_END,
    IM_START,
    TTS_BOS,
    TTS_EOS,
    TTS_PAD,
)

SAMPLE_RATE_HZ = 24_000

_SPEAKERS = {
    "serena": 3066,
    "vivian": 3065,
    "uncle_fu": 3010,
    "ryan": 3061,
    "aiden": 2861,
    "ono_anna": 2873,
    "sohee": 2864,
    "eric": 2875,
    "dylan": 2878,
}
_DIALECT_OF = {"eric": "sichuan_dialect", "dylan": "beijing_dialect"}
_LANGUAGES = {
    "chinese": 2055,
    "english": 2050,
    "german": 2053,
    "italian": 2070,
    "portuguese": 2071,
    "spanish": 2054,
    "japanese": 2058,
    "korean": 2064,
    "french": 2061,
    "russian": 2069,
}
_DIALECTS = {"beijing_dialect": 2074, "sichuan_dialect": 2062}

GENERATION = {
    "do_sample": True,
    "top_k": 50,
    "top_p": 1.0,
    "temperature": 0.9,
    "repetition_penalty": 1.05,
    "subtalker_dosample": True,
    "subtalker_top_k": 50,
    "subtalker_top_p": 1.0,
    "subtalker_temperature": 0.9,
    "max_new_tokens": 8192,
}
PREPROCESSOR = {"processor_class": "Qwen3TTSProcessor"}
CODEC_TASK = {"framework": "pytorch", "task": "feature-extraction"}
CODEC_PREPROCESSOR = {
    "feature_extractor_type": "EncodecFeatureExtractor",
    "feature_size": 1,
    "sampling_rate": SAMPLE_RATE_HZ,
    "padding_side": "right",
    "padding_value": 0.0,
    "return_attention_mask": True,
    "chunk_length_s": None,
    "overlap": None,
}


def model_config(
    kind: ModelKind, size: str, shapes: CheckpointShapes, ids: Mapping[str, int], assistant_id: int | None
) -> dict[str, Any]:
    """config.json of a checkpoint.

    Args:
        kind: What it follows.
        size: ``0b6`` or ``1b7``.
        shapes: Of its networks.
        ids: Of the control tokens of the text side.
        assistant_id: Of the word "assistant"; tiny checkpoints leave it out.
    """
    config: dict[str, Any] = {
        "architectures": ["Qwen3TTSForConditionalGeneration"],
        "model_type": "qwen3_tts",
        "dtype": "bfloat16",
        "tokenizer_type": "qwen3_tts_tokenizer_12hz",
        "tts_model_size": size,
        "tts_model_type": kind.value,
        "assistant_token_id": assistant_id,
        "im_start_token_id": ids[IM_START],
        "im_end_token_id": ids[IM_END],
        "tts_pad_token_id": ids[TTS_PAD],
        "tts_bos_token_id": ids[TTS_BOS],
        "tts_eos_token_id": ids[TTS_EOS],
        "talker_config": _talker(kind, shapes),
        "transformers_version": "4.57.3",
    }
    if kind is ModelKind.BASE:
        config["speaker_encoder_config"] = {
            "enc_dim": shapes.talker.hidden_size,
            "sample_rate": SAMPLE_RATE_HZ,
            "mel_dim": 128,
            "enc_channels": list(shapes.speaker.enc_channels),
            "enc_kernel_sizes": [5, 3, 3, 3, 1],
            "enc_dilations": [1, 2, 3, 4, 1],
            "enc_attention_channels": shapes.speaker.enc_attention_channels,
            "enc_res2net_scale": 8,
            "enc_se_channels": shapes.speaker.enc_se_channels,
        }
    return config


def _talker(kind: ModelKind, shapes: CheckpointShapes) -> dict[str, Any]:
    has_speakers = kind is ModelKind.CUSTOM_VOICE
    return {
        **_stack_start(shapes.talker),
        "max_position_embeddings": 32768,
        **_stack_heads(shapes.talker),
        "num_code_groups": 16,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000,
        "sliding_window": None,
        "use_sliding_window": False,
        "rope_scaling": {
            "interleaved": True,
            "mrope_section": list(shapes.mrope_section),
            "rope_type": "default",
            "type": "default",
        },
        "text_hidden_size": shapes.text_width,
        "text_vocab_size": shapes.text_rows,
        "vocab_size": 3072,
        "position_id_per_seconds": 13,
        "codec_bos_id": 2149,
        "codec_eos_token_id": 2150,
        "codec_pad_id": 2148,
        "codec_think_id": 2154,
        "codec_nothink_id": 2155,
        "codec_think_bos_id": 2156,
        "codec_think_eos_id": 2157,
        "codec_language_id": _LANGUAGES | (_DIALECTS if has_speakers else {}),
        "spk_id": _SPEAKERS if has_speakers else {},
        "spk_is_dialect": {n: _DIALECT_OF.get(n, False) for n in _SPEAKERS} if has_speakers else {},
        "model_type": "qwen3_tts_talker",
        "code_predictor_config": {
            **_stack_start(shapes.predictor),
            "max_position_embeddings": 65536,
            **_stack_heads(shapes.predictor),
            "num_code_groups": 16,
            "rms_norm_eps": 1e-6,
            "rope_theta": 1000000,
            "rope_scaling": None,
            "vocab_size": 2048,
            "model_type": "qwen3_tts_talker_code_predictor",
        },
    }


def _stack_start(stack: StackShape) -> dict[str, Any]:
    return {
        "attention_bias": False,
        "head_dim": stack.head_dim,
        "hidden_act": "silu",
        "hidden_size": stack.hidden_size,
        "intermediate_size": stack.intermediate_size,
    }


def _stack_heads(stack: StackShape) -> dict[str, Any]:
    return {
        "num_attention_heads": stack.num_attention_heads,
        "num_key_value_heads": stack.num_key_value_heads,
        "num_hidden_layers": stack.num_hidden_layers,
    }


def codec_config(shapes: CodecShapes) -> dict[str, Any]:
    """speech_tokenizer/config.json."""
    return {
        "architectures": ["Qwen3TTSTokenizerV2Model"],
        "model_type": "qwen3_tts_tokenizer_12hz",
        "encoder_valid_num_quantizers": 16,
        "input_sample_rate": SAMPLE_RATE_HZ,
        "output_sample_rate": SAMPLE_RATE_HZ,
        "decode_upsample_rate": 1920,
        "encode_downsample_rate": 1920,
        "dtype": "float32",
        "encoder_config": _codec_encoder(shapes),
        "decoder_config": _codec_decoder(shapes),
    }


def _codec_encoder(shapes: CodecShapes) -> dict[str, Any]:
    stack = asdict(shapes.encoder)
    return {
        "model_type": "mimi",
        "_frame_rate": 12.5,
        "sampling_rate": SAMPLE_RATE_HZ,
        "audio_channels": 1,
        "num_filters": shapes.filters,
        "kernel_size": 7,
        "last_kernel_size": 3,
        "residual_kernel_size": 3,
        "num_residual_layers": 1,
        "compress": 2,
        "dilation_growth_rate": 2,
        "upsampling_ratios": [8, 6, 5, 4],
        **_only(stack, "hidden_size", "num_hidden_layers", "num_attention_heads"),
        **_only(stack, "num_key_value_heads", "head_dim", "intermediate_size"),
        "hidden_act": "gelu",
        "norm_eps": 1e-5,
        "layer_scale_initial_scale": 0.01,
        "rope_theta": 10000.0,
        "max_position_embeddings": 8000,
        "sliding_window": shapes.encoder_window,
        "num_quantizers": 32,
        "num_semantic_quantizers": 1,
        "codebook_size": 2048,
        "codebook_dim": shapes.encoder_entry,
        "vector_quantization_hidden_dimension": shapes.encoder_entry,
        "pad_mode": "constant",
        "use_causal_conv": True,
        "use_conv_shortcut": False,
        "trim_right_ratio": 1.0,
        "upsample_groups": shapes.encoder.hidden_size,
        "use_cache": False,
    }


def _codec_decoder(shapes: CodecShapes) -> dict[str, Any]:
    stack = asdict(shapes.decoder)
    return {
        "latent_dim": shapes.latent,
        "codebook_dim": shapes.decoder_entries,
        "codebook_size": 2048,
        "decoder_dim": shapes.decoder_width,
        **_only(stack, "hidden_size", "intermediate_size"),
        "hidden_act": "silu",
        **_only(stack, "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim"),
        "rms_norm_eps": 1e-5,
        "layer_scale_initial_scale": 0.01,
        "rope_theta": 10000,
        "max_position_embeddings": 8000,
        "sliding_window": shapes.decoder_window,
        "num_quantizers": 16,
        "num_semantic_quantizers": 1,
        "semantic_codebook_size": 4096,
        "vector_quantization_hidden_dimension": shapes.decoder_entries,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "upsample_rates": [8, 5, 4, 3],
        "upsampling_ratios": [2, 2],
    }


def _only(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: values[key] for key in keys}


def tokenizer_config(ids: Mapping[str, int]) -> dict[str, Any]:
    """tokenizer_config.json of a tokenizer with these control tokens."""
    plain = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    return {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": {str(number): {"content": token, **plain} for token, number in ids.items()},
        "additional_special_tokens": [IM_START, IM_END],
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": IM_END,
        "errors": "replace",
        "model_max_length": 131072,
        "pad_token": END_OF_TEXT,
        "processor_class": "Qwen3TTSProcessor",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }
