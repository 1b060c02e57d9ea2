"""Shapes, ids and sampling defaults of a Qwen3-TTS checkpoint, from its config.json and generation_config.json."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refprep.engine.json_config import read_json, typed
from refprep.errors import BackendError

RANDOM_LABEL = "RANDOM_WEIGHTS.txt"
"""A file beside the weights that `refprep models random` wrote, and beside no others."""


class ModelKind(enum.StrEnum):
    """What a checkpoint was trained to follow."""

    BASE = "base"  # a recorded voice
    CUSTOM_VOICE = "custom_voice"  # one of its named speakers
    VOICE_DESIGN = "voice_design"  # a description of a voice


@dataclass(frozen=True, slots=True)
class DecoderShape:
    """Shape of a stack of decoder layers; the talker and the code predictor are one each."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float


@dataclass(frozen=True, slots=True)
class PredictorConfig(DecoderShape):
    """The code predictor; ``vocab_size`` is that of one codebook."""

    vocab_size: int
    num_code_groups: int


@dataclass(frozen=True, slots=True)
class TalkerConfig(DecoderShape):
    """The talker, its vocabularies and the control ids of its codec side."""

    vocab_size: int
    text_vocab_size: int
    text_hidden_size: int
    num_code_groups: int
    max_position_embeddings: int
    codec_bos_id: int
    codec_eos_token_id: int
    codec_pad_id: int
    codec_think_id: int
    codec_nothink_id: int
    codec_think_bos_id: int
    codec_think_eos_id: int
    codec_language_id: dict[str, int]
    code_predictor_config: PredictorConfig
    spk_id: dict[str, int] = field(default_factory=dict)
    spk_is_dialect: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckpointConfig:
    """config.json of a checkpoint, the keys that are used."""

    tts_model_type: str
    tts_model_size: str
    tokenizer_type: str
    im_start_token_id: int
    im_end_token_id: int
    tts_pad_token_id: int
    tts_bos_token_id: int
    tts_eos_token_id: int
    talker_config: TalkerConfig

    @property
    def kind(self) -> ModelKind:
        """What the checkpoint follows."""
        return ModelKind(self.tts_model_type)

    @property
    def takes_instruct(self) -> bool:
        """Whether an instruction is followed: the small CustomVoice was not trained with any, and drops it."""
        return self.kind is not ModelKind.BASE and self.tts_model_size != "0b6"

    @property
    def languages(self) -> tuple[str, ...]:
        """Names of languages that a caller may ask for; dialects come with their speakers."""
        return tuple(sorted(n for n in self.talker_config.codec_language_id if not n.endswith("_dialect")))

    @property
    def speakers(self) -> tuple[str, ...]:
        """Names of the built-in speakers; none in Base and VoiceDesign."""
        return tuple(sorted(self.talker_config.spk_id))


@dataclass(frozen=True, slots=True)
class GenerationDefaults:
    """generation_config.json: how the checkpoint's authors sample from it.

    The defaults here are those of the published code, for a checkpoint without the file.
    """

    do_sample: bool = True
    temperature: float = 0.9
    top_k: int = 50
    top_p: float = 1.0
    repetition_penalty: float = 1.05
    subtalker_dosample: bool = True
    subtalker_temperature: float = 0.9
    subtalker_top_k: int = 50
    subtalker_top_p: float = 1.0


def read_config(folder: Path) -> CheckpointConfig:
    """Read config.json of a checkpoint.

    Raises:
        WeightsMissing: No config.json.
        BackendError: Another model, or a variant that this engine does not compute.
    """
    path = folder / "config.json"
    values = read_json(path)
    where = str(path)
    if values.get("model_type") != "qwen3_tts":
        raise _unsupported(f"it describes a {values.get('model_type')!r} model, not qwen3_tts", where)
    config = typed(CheckpointConfig, values, where=where)
    if config.tokenizer_type != "qwen3_tts_tokenizer_12hz":
        raise _unsupported(f"its codec is {config.tokenizer_type!r}; the 12 Hz one is known", where)
    if config.tts_model_type not in tuple(ModelKind):
        raise _unsupported(f"tts_model_type {config.tts_model_type!r} is unknown", where)
    talker = values["talker_config"]
    _check_variant(talker, config.talker_config, where=where)
    _check_variant(talker["code_predictor_config"], config.talker_config.code_predictor_config, where=where)
    return config


def read_generation_defaults(folder: Path) -> GenerationDefaults:
    """Read generation_config.json; the built-in values where the checkpoint has none."""
    path = folder / "generation_config.json"
    if not path.is_file():
        return GenerationDefaults()
    return typed(GenerationDefaults, read_json(path), where=str(path))


def _check_variant(values: Mapping[str, Any], shape: DecoderShape, *, where: str) -> None:
    """What the equations in this engine take for granted."""
    granted = {
        "hidden_act": "silu",
        "attention_bias": False,
        "use_sliding_window": False,
        "tie_word_embeddings": False,
    }
    for key, value in granted.items():
        if values.get(key, value) != value:
            raise _unsupported(f"{key} is {values[key]!r}, {value!r} is computed", where)
    rope = values.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    sections = rope.get("mrope_section")
    # The three position streams of mrope are always equal here, so any split of the frequencies is plain rotary.
    if kind != "default" or (sections is not None and sum(sections) * 2 != shape.head_dim):
        raise _unsupported(f"rope_scaling {rope!r} is not computed", where)
    if shape.num_attention_heads % shape.num_key_value_heads:
        raise _unsupported("the key-value heads do not divide the attention heads", where)


def _unsupported(what: str, where: str) -> BackendError:
    return BackendError(
        what, where=where, fix="Use a Qwen3-TTS 12Hz checkpoint: Base, CustomVoice or VoiceDesign."
    )
