"""``config.json`` of MOSS-Audio-Tokenizer v1 as typed values.

The kind is told by keys and values, never by ``model_type``: published files carry several. Keys that no code reads are
ignored; keys whose other values would mean another network are checked, so that a codec of another kind is refused by
name rather than decoded into noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from refprep.engine.json_config import read_json, typed
from refprep.errors import BackendError
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME

CODEC_NAME = "moss-audio-tokenizer"
"""Of this kind of codec, in keys and in codes' provenance."""

_STAGES = ("encoder_kwargs", "decoder_kwargs")
_FIX = (
    "Use OpenMOSS-Team/MOSS-Audio-Tokenizer (24 kHz mono, 32 codebooks); another codec needs another engine."
)


@dataclass(frozen=True, slots=True)
class PatchStage:
    """Folds ``patch_size`` neighbouring steps into channels, or unfolds them."""

    patch_size: int

    def faults(self) -> list[str]:
        """What this stage cannot be, in words."""
        return [] if self.patch_size > 0 else [f"patch_size is {self.patch_size}"]


@dataclass(frozen=True, slots=True)
class TransformerStage:
    """A stack of causal layers; names are the file's."""

    input_dimension: int
    output_dimension: int
    d_model: int
    num_heads: int
    num_layers: int
    dim_feedforward: int
    layer_scale: float
    max_period: float = 10000.0
    causal: bool = True
    norm: str = "layer_norm"
    positional_embedding: str = "rope"
    gating: str = "none"
    conv_layout: bool = True

    def faults(self) -> list[str]:
        """What this stage cannot be, in words."""
        sizes = (self.input_dimension, self.output_dimension, self.d_model, self.num_heads)
        if min(*sizes, self.num_layers, self.dim_feedforward) < 1:
            return ["a stage has a width, a depth or a number of heads below 1"]
        return [
            *_differs("causal", self.causal, True),
            *_differs("norm", self.norm, "layer_norm"),
            *_differs("positional_embedding", self.positional_embedding, "rope"),
            *_differs("gating", self.gating, "none"),
            *_differs("conv_layout", self.conv_layout, True),
            *_differs("d_model modulo twice num_heads", self.d_model % (2 * self.num_heads), 0),
        ]


Stage: TypeAlias = PatchStage | TransformerStage
_KINDS: Mapping[str, type[Stage]] = {"PatchedPretransform": PatchStage, "Transformer": TransformerStage}


@dataclass(frozen=True, slots=True)
class QuantizerConfig:
    """Shapes of the residual quantizer; names are the file's."""

    input_dim: int
    rvq_dim: int
    output_dim: int
    num_quantizers: int
    codebook_size: int
    codebook_dim: int


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """The whole file.

    Attributes:
        sampling_rate: Hz, of samples in and out.
        downsample_rate: Samples per frame.
        context_s: What a query sees, itself included, at every stage.
        encoder: Stages in the order in which they run.
        decoder: Likewise.
        quantizer: Between them.
    """

    sampling_rate: int
    downsample_rate: int
    context_s: float
    encoder: tuple[Stage, ...]
    decoder: tuple[Stage, ...]
    quantizer: QuantizerConfig

    def faults(self) -> list[str]:
        """What this codec cannot be, in words; empty for the known kind."""
        found = [
            *_differs("sampling_rate", self.sampling_rate, CODE_RATE_HZ),
            *_differs("downsample_rate", self.downsample_rate, SAMPLES_PER_FRAME),
            *(fault for stage in (*self.encoder, *self.decoder) for fault in stage.faults()),
        ]
        if found:
            return found
        for name, stages in zip(_STAGES, (self.encoder, self.decoder), strict=True):
            fold = math.prod(s.patch_size for s in stages if isinstance(s, PatchStage))
            found += _differs(f"the product of patch sizes in {name}", fold, self.downsample_rate)
        return [
            *found,
            *_chain_faults(self.encoder, 1, self.quantizer.input_dim, folds=True),
            *_chain_faults(self.decoder, self.quantizer.output_dim, 1, folds=False),
        ]


def read_codec_config(folder: Path) -> CodecConfig:
    """Read and check ``config.json`` of a codec.

    Args:
        folder: Of the codec.

    Raises:
        WeightsMissing: No config.json there.
        BackendError: It is no codec of this kind.
    """
    path = folder / "config.json"
    return codec_config(read_json(path), where=str(path))


def codec_config(values: Mapping[str, Any], *, where: str) -> CodecConfig:
    """Check the object that the file holds.

    Raises:
        BackendError: It is no codec of this kind.
    """
    if (kind := _other_kind(values)) is not None:
        raise BackendError(
            f"this is {kind}: its source code is published only inside the repository of its weights, which refprep does "
            "not run, so there is no engine for it",
            where=where,
            fix=_FIX,
        )
    missing = sorted(k for k in (*_STAGES, "quantizer_kwargs") if k not in values)
    if missing:
        raise _refused(where, [f"the key {k!r} is missing" for k in missing])
    quantizer = values["quantizer_kwargs"]
    if not isinstance(quantizer, dict):
        raise _refused(where, ["quantizer_kwargs is no object"])
    kind = quantizer.get("quantizer_type", values.get("quantizer_type", "rlfq"))
    if kind != "rlfq":
        raise _refused(where, _differs("quantizer_type", kind, "rlfq"))
    context = values.get("causal_transformer_context_duration", 10.0)
    if isinstance(context, bool) or not isinstance(context, int | float) or context <= 0:
        raise _refused(where, [f"causal_transformer_context_duration is {context!r}"])
    config = CodecConfig(
        sampling_rate=values.get("sampling_rate", values.get("sample_rate", CODE_RATE_HZ)),
        downsample_rate=values.get("downsample_rate", SAMPLES_PER_FRAME),
        context_s=float(context),
        encoder=_stages(values["encoder_kwargs"], where=f"{where}: encoder_kwargs"),
        decoder=_stages(values["decoder_kwargs"], where=f"{where}: decoder_kwargs"),
        quantizer=typed(QuantizerConfig, quantizer, where=f"{where}: quantizer_kwargs"),
    )
    if faults := config.faults():
        raise _refused(where, faults)
    return config


def _other_kind(values: Mapping[str, Any]) -> str | None:
    """A newer codec of the family, by what it says of itself or by its rate and channels."""
    says = f"{values.get('model_type', '')} {values.get('version', '')} {values.get('architectures', '')}".lower()
    rate = values.get("sampling_rate", values.get("sample_rate"))
    is_stereo = values.get("number_channels", 1) != 1 or bool(values.get("enable_channel_interleave"))
    if rate != 48_000 and not is_stereo and "v2" not in says and "nano" not in says:
        return None
    quantizer = values.get("quantizer_kwargs")
    levels = quantizer.get("num_quantizers") if isinstance(quantizer, dict) else None
    # both newer ones are 48 kHz stereo; the small one has 16 codebooks
    return f"MOSS-Audio-Tokenizer-{'Nano' if 'nano' in says or levels == 16 else 'v2'} (48 kHz stereo)"


def _stages(items: object, *, where: str) -> tuple[Stage, ...]:
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise _refused(where, ["it is no list of stages"])
    found: list[Stage] = []
    for number, item in enumerate(items):
        kind = item.get("module_type")
        if kind not in _KINDS:
            raise _refused(f"{where}[{number}]", [f"module_type is {kind!r}, not one of {', '.join(_KINDS)}"])
        found.append(typed(_KINDS[kind], item, where=f"{where}[{number}]"))
    return tuple(found)


def _chain_faults(stages: tuple[Stage, ...], width: int, last: int, *, folds: bool) -> list[str]:
    """Whether every stage takes what the one before gives."""
    found: list[str] = []
    for number, stage in enumerate(stages):
        if isinstance(stage, PatchStage):
            if not folds:
                found += _differs(
                    f"width modulo patch_size before stage {number}", width % stage.patch_size, 0
                )
            width = width * stage.patch_size if folds else width // stage.patch_size
        else:
            found += _differs(f"input_dimension of stage {number}", stage.input_dimension, width)
            width = stage.output_dimension
    return [*found, *_differs("the width after the last stage", width, last)]


def _differs(name: str, found: object, known: object) -> list[str]:
    return [] if found == known else [f"{name} is {found!r}, not {known!r}"]


def _refused(where: str, faults: list[str]) -> BackendError:
    return BackendError("; ".join(faults), where=where, fix=_FIX)
