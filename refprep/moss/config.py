"""Which MOSS-TTS a checkpoint is, and its shapes and ids, from config.json.

The kind is read from the keys. The architecture string lies: the 1.7B Local checkpoint declares the class of the 8B
Delay one. What is not run here is named, so that nobody waits for a download or a crash.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from refprep.engine.json_config import read_json, typed
from refprep.errors import BackendError

FIX = "refprep runs MOSS-TTS (1.0 and v1.5, 8B), its 1.7B Delay variants and MOSS-TTS-Local-Transformer-v1.5."

_TTSD_CODEBOOKS = 16

T = TypeVar("T")


class MossKind(enum.StrEnum):
    """How a generator writes the codebooks of a frame."""

    DELAY = "delay"  # one row a step, codebook k of a frame k rows after its first
    LOCAL = "local"  # a depth transformer writes a whole frame at every step


class Positions(enum.StrEnum):
    """How the depth transformer tells its positions apart."""

    ABSOLUTE = "absolute"  # a table, `wpe`
    ROPE = "rope"  # interleaved rotary pairs


@dataclass(frozen=True, slots=True)
class BackboneShape:
    """Shape of the Qwen3 backbone; ``rope_theta`` is flat in older files and nested in newer ones."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: int
    use_sliding_window: bool = False
    attention_bias: bool = False


@dataclass(frozen=True, slots=True)
class TokenIds:
    """Text ids that a generator reads and writes; names of tokens are never looked at."""

    pad_token_id: int
    im_start_token_id: int
    im_end_token_id: int
    audio_start_token_id: int
    audio_end_token_id: int
    audio_user_slot_token_id: int


@dataclass(frozen=True, slots=True)
class DelayIds(TokenIds):
    """Those of Delay: a row of audio is a generation slot, or a delay slot once no frame is begun any more."""

    audio_assistant_gen_slot_token_id: int
    audio_assistant_delay_slot_token_id: int


@dataclass(frozen=True, slots=True)
class LocalIds(TokenIds):
    """Those of Local."""

    audio_assistant_slot_token_id: int


@dataclass(frozen=True, slots=True)
class DepthShape:
    """Shape of the depth transformer of Local."""

    n_embd: int
    n_layer: int
    n_head: int
    n_positions: int
    n_inner: int
    activation_function: str
    layer_norm_epsilon: float
    position_embedding_type: Positions = Positions.ABSOLUTE
    rope_base: float = 10_000.0


@dataclass(frozen=True, slots=True)
class MossConfig:
    """What both kinds share.

    Attributes:
        backbone: Shape of the Qwen3 model.
        n_vq: Codebooks of a frame.
        codebook_size: Codes run from 0 to one below.
        pad_code: Stands in the code columns of a row without audio.
        sample_rate_hz: Of the codec that the codes are for.
        backbone_values: The backbone's JSON object, for transformers.
        quantization: The ``quantization_config`` object; None where weights are plain.
    """

    backbone: BackboneShape
    n_vq: int
    codebook_size: int
    pad_code: int
    sample_rate_hz: int
    backbone_values: Mapping[str, Any]
    quantization: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DelayConfig(MossConfig):
    """A Delay checkpoint; ``kind`` tells the two apart."""

    ids: DelayIds
    kind: MossKind = MossKind.DELAY


@dataclass(frozen=True, slots=True)
class LocalConfig(MossConfig):
    """A Local v1.5 checkpoint."""

    ids: LocalIds
    depth: DepthShape
    kind: MossKind = MossKind.LOCAL


GeneratorConfig = DelayConfig | LocalConfig


@dataclass(frozen=True, slots=True)
class _Codes:
    n_vq: int
    audio_vocab_size: int
    sampling_rate: int


def read_config(folder: Path) -> GeneratorConfig:
    """Read a checkpoint's config.json.

    Raises:
        WeightsMissing: There is none.
        BackendError: It describes another model, or lacks a key.
    """
    values = read_json(folder / "config.json")
    return parse_config(values, where=str(folder / "config.json"))


def parse_config(values: Mapping[str, Any], *, where: str) -> GeneratorConfig:
    """A config.json's object as a config.

    Raises:
        BackendError: As ``read_config``.
    """
    other = _other_model(values)
    if other is not None:
        raise _unknown(other, where)
    if "gpt2_config" in values:
        return _local(values, where)
    return _delay(values, where)


def is_moss(values: Mapping[str, Any]) -> bool:
    """Whether a config.json's object is of the MOSS-TTS family, run here or not."""
    return _other_model(values) != _STRANGER


_STRANGER = "it is no MOSS-TTS generator"


def _other_model(values: Mapping[str, Any]) -> str | None:
    """What a checkpoint is that is not run here; None for those that are."""
    if "rvq" in values or "local_config" in values:
        return "it is MOSS-TTS-Realtime, which another loop generates"
    if "local_num_layers" in values or "local_hidden_size" in values:
        return (
            "it is MOSS-TTS-Local-Transformer 1.7B (1.0), whose depth transformer differs from that of v1.5"
        )
    if "gpt2_config" in values:
        if not isinstance(_backbone_values(values), dict):
            return "it is MOSS-TTS-Nano, which has no Qwen3 backbone"
        mode = values.get("local_text_head_mode", "binary")
        return None if mode == "binary" else f"its local_text_head_mode is {mode!r}, only 'binary' is known"
    if "n_vq" in values and isinstance(_backbone_values(values), dict):
        if values["n_vq"] == _TTSD_CODEBOOKS:
            return "it is MOSS-TTSD (16 codebooks), whose prompt for several speakers is another one"
        return None
    if "encoder_kwargs" in values and "quantizer_kwargs" in values:
        return "it is the codec MOSS-Audio-Tokenizer, not a generator"
    if "auto_map" in values and "moss" in str(values.get("model_type", "")).lower():
        return "it is known by its own remote code alone, which refprep does not run"
    return _STRANGER


def _backbone_values(values: Mapping[str, Any]) -> object:
    return values.get("qwen3_config", values.get("language_config"))


def _delay(values: Mapping[str, Any], where: str) -> DelayConfig:
    codes = _typed(_Codes, values, where)
    return DelayConfig(
        backbone=_backbone(values, where),
        n_vq=codes.n_vq,
        codebook_size=codes.audio_vocab_size,
        pad_code=_pad_code(values, codes, where),
        sample_rate_hz=codes.sampling_rate,
        backbone_values=dict(values["language_config"]),
        quantization=_quantization(values),
        ids=_typed(DelayIds, values, where),
    )


def _local(values: Mapping[str, Any], where: str) -> LocalConfig:
    codes = _typed(_Codes, values, where)
    sizes = values.get("audio_codebook_sizes", [codes.audio_vocab_size] * codes.n_vq)
    if sizes != [codes.audio_vocab_size] * codes.n_vq:
        raise _unknown(f"its audio_codebook_sizes {sizes} are not {codes.n_vq} equal ones", where)
    depth = dict(values["gpt2_config"])
    kind = depth.setdefault("position_embedding_type", Positions.ABSOLUTE)
    if kind not in tuple(Positions):
        raise _unknown(f"its depth transformer has positions of type {kind!r}", where)
    del depth["position_embedding_type"]
    shape = _typed(_DepthValues, depth, f"{where}: gpt2_config")
    backbone = _backbone(values, where)
    if shape.n_embd != backbone.hidden_size:
        raise _unknown(
            f"its depth transformer is {shape.n_embd} wide, its backbone {backbone.hidden_size}", where
        )
    if kind == Positions.ABSOLUTE and shape.n_positions < codes.n_vq:
        raise _unknown(
            f"its depth transformer has {shape.n_positions} positions for {codes.n_vq} codebooks", where
        )
    named = {"audio_assistant_slot_token_id": values.get("audio_assistant_gen_slot_token_id"), **values}
    return LocalConfig(
        backbone=backbone,
        n_vq=codes.n_vq,
        codebook_size=codes.audio_vocab_size,
        pad_code=_pad_code(values, codes, where),
        sample_rate_hz=codes.sampling_rate,
        backbone_values=dict(values.get("qwen3_config") or values["language_config"]),
        quantization=_quantization(values),
        ids=_typed(LocalIds, named, where),
        depth=DepthShape(
            shape.n_embd,
            shape.n_layer,
            shape.n_head,
            shape.n_positions,
            shape.n_inner,
            shape.activation_function,
            shape.layer_norm_epsilon,
            Positions(kind),
            shape.rope_base,
        ),
    )


@dataclass(frozen=True, slots=True)
class _DepthValues:
    n_embd: int
    n_layer: int
    n_head: int
    n_positions: int
    n_inner: int
    activation_function: str
    layer_norm_epsilon: float
    rope_base: float = 10_000.0


def _backbone(values: Mapping[str, Any], where: str) -> BackboneShape:
    found: dict[str, Any] = dict(values.get("qwen3_config") or values["language_config"])
    nested = found.get("rope_parameters") or {}
    rope = {"rope_theta": nested["rope_theta"]} if "rope_theta" in nested else {}
    kind = nested.get("rope_type", (found.get("rope_scaling") or {}).get("rope_type", "default"))
    if kind != "default":
        raise _unknown(f"its backbone scales its rotary embedding ({kind!r})", where)
    shape = _typed(BackboneShape, {**found, **rope}, f"{where}: the backbone's config")
    if shape.use_sliding_window:
        raise _unknown("its backbone attends through a sliding window", where)
    return shape


def _pad_code(values: Mapping[str, Any], codes: _Codes, where: str) -> int:
    pad = values.get("audio_pad_code", values.get("audio_pad_token_id"))
    if pad != codes.audio_vocab_size:
        raise _unknown(f"its pad code is {pad!r}, not the one above {codes.audio_vocab_size - 1}", where)
    return codes.audio_vocab_size


def _quantization(values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    inner = _backbone_values(values)
    found = values.get("quantization_config") or (
        inner.get("quantization_config") if isinstance(inner, dict) else None
    )
    return found if isinstance(found, dict) else None


def _typed(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    try:
        return typed(kind, values, where=where)
    except BackendError as error:  # its advice is about the other engine's checkpoints
        raise BackendError(error.what, where=error.where, fix=FIX) from error


def _unknown(what: str, where: str) -> BackendError:
    return BackendError(what, where=where, fix=FIX)
