"""A model's codec, as an audit needs it: encoders and decoders at every precision, from the same files.

Two kinds are known: that of Qwen3-TTS (``speech_tokenizer`` in a checkpoint) and MOSS-Audio-Tokenizer v1 (a folder of its
own, or ``audio_tokenizer`` beside a generator). Either may be given alone.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from safetensors import safe_open

from refprep.audit.qwen3_encoder import qwen3_encoder_at
from refprep.audit.rounding import round_weights
from refprep.engine.codec import load_codec_decoder
from refprep.engine.codec.config import codec_folder, read_codec_config
from refprep.engine.json_config import read_json
from refprep.engine.loader import WeightFiles, open_weights
from refprep.errors import BackendError, UsageError, WeightsMissing
from refprep.moss.codec.audit import quantized_for_audit
from refprep.moss.codec.config import CODEC_NAME
from refprep.moss.codec.config import read_codec_config as read_moss_codec
from refprep.moss.codec.load import ENCODER, QUANTIZER, open_codec
from refprep.moss.codec.output_decoder import OutputDecoder
from refprep.moss.codec.precision import Precision
from refprep.moss.config import is_moss
from refprep.types import CodeMatrix, Samples

FLOAT32 = "float32"
ENCODERS = (FLOAT32, "bfloat16", "float16", "int8", "int8-dynamic", "tf32")
DECODERS = (FLOAT32, "bfloat16", "int8")

MOSS_CODEC = "audio_tokenizer"
"""Folder of the codec below that of a MOSS generator."""

_NAMES = {"BF16": "bfloat16", "F16": "float16", "I8": "int8", "U8": "uint8"}


class Trace(Protocol):
    """One clip through an encoder: (frames, codebooks) int32, and (frames, width) float32 before the quantizer."""

    @property
    def codes(self) -> CodeMatrix:
        """Chosen codes."""
        ...

    @property
    def hidden(self) -> npt.NDArray[np.float32]:
        """States."""
        ...


class TracingEncoder(Protocol):
    """An encoder at some precision."""

    def trace(self, samples: Samples, *, chunk_frames: int | None = None) -> Trace:
        """(T,) float32 at 24 kHz to codes and states."""
        ...


class WholeDecoder(Protocol):
    """A decoder at some precision."""

    def decode(self, codes: torch.Tensor) -> torch.Tensor:
        """(frames, codebooks) integers to (frames * 1920,) float32 on the CPU."""
        ...


class AuditCodec(Protocol):
    """A codec's files.

    Attributes:
        folder: Of the codec.
        name: Of its kind.
        num_codebooks: That its encoder computes.
        stored: Types of the encoder's weights in the files; anything but float32 and float64 is refused by `refprep encode`.
        chunking: What ``chunk_frames`` of a trace does, for people.
    """

    folder: Path
    name: str
    num_codebooks: int
    stored: tuple[str, ...]
    chunking: str

    def encoder(self, precision: str) -> TracingEncoder:
        """Load the encoder."""
        ...

    def decoder(self, precision: str) -> WholeDecoder:
        """Load the decoder."""
        ...

    def note(self, precision: str) -> str:
        """What to know about a precision here; empty for nothing."""
        ...


def lacks_codec(folder: Path) -> bool:
    """Whether a folder holds a MOSS generator, and its codec is somewhere else."""
    values = read_json(folder / "config.json")
    is_generator = is_moss(values) and "encoder_kwargs" not in values
    return is_generator and not (folder / MOSS_CODEC / "config.json").is_file()


def open_audit_codec(folder: Path, *, codec: Path | None = None, device: str = "cpu") -> AuditCodec:
    """Find the codec of a model.

    Args:
        folder: Of a checkpoint, or of a codec.
        codec: Of the codec, where it is not in the checkpoint.
        device: ``cpu`` or ``cuda``.

    Raises:
        WeightsMissing: No codec there, or files of it are missing.
        BackendError: A codec of another kind.
    """
    place = codec or folder
    if codec is None and lacks_codec(folder):
        raise WeightsMissing(
            f"the generator's folder has no {MOSS_CODEC}, and an audit is of the codec",
            where=str(folder),
            fix="Put OpenMOSS-Team/MOSS-Audio-Tokenizer there, or name its folder with --codec.",
        )
    if codec is None and (folder / MOSS_CODEC / "config.json").is_file():
        place = folder / MOSS_CODEC
    values = read_json(place / "config.json")
    if "encoder_kwargs" in values:
        return MossCodec(place, device)
    return Qwen3Codec(place, device)


class Qwen3Codec:
    """See ``AuditCodec``."""

    chunking = "pieces of so many frames, each encoded by itself"

    def __init__(self, folder: Path, device: str) -> None:
        self._model, self.folder, self._device = folder, codec_folder(folder), device
        config = read_codec_config(folder)
        self.name, self.num_codebooks = config.model_type, config.encoder_valid_num_quantizers
        weights = open_weights(self.folder)
        if not any(n.startswith("encoder.") for n in weights.files):
            raise WeightsMissing(
                "the codec carries no encoder",
                where=str(self.folder),
                fix="Audit where the whole checkpoint is.",
            )
        self.stored = stored_types(weights, ("encoder.",))

    def encoder(self, precision: str) -> TracingEncoder:
        """See ``AuditCodec``."""
        return qwen3_encoder_at(self._model, precision, device=self._device)

    def decoder(self, precision: str) -> WholeDecoder:
        """See ``AuditCodec``."""
        dtype = torch.bfloat16 if precision == "bfloat16" else torch.float32
        found = load_codec_decoder(self._model, self._device, dtype)
        if precision == "int8":
            round_weights(found.network, lambda name: not name.startswith("quantizer"))
        return found

    def note(self, precision: str) -> str:
        """See ``AuditCodec``."""
        if precision == "int8":
            return "int8: weights of matrices and convolutions, a scale for each output channel, by our own rounding"
        if precision == "int8-dynamic":
            return "int8-dynamic: as int8, and what they take is rounded at every step in time, too"
        return _tf32_note(precision, self._device)


class MossCodec:
    """See ``AuditCodec``."""

    name = CODEC_NAME
    chunking = "as the published code does with a chunk_duration: its memory forgets what a chunk overwrites"

    def __init__(self, folder: Path, device: str) -> None:
        self.folder, self._device = folder, device
        self.num_codebooks = read_moss_codec(folder).quantizer.num_quantizers
        self.stored = tuple(open_codec(folder).dtypes((ENCODER, QUANTIZER)))

    def encoder(self, precision: str) -> TracingEncoder:
        """See ``AuditCodec``."""
        return quantized_for_audit(self.folder, self._kind(precision), device=self._device)

    def decoder(self, precision: str) -> WholeDecoder:
        """See ``AuditCodec``."""
        return OutputDecoder(self.folder, precision=self._kind(precision), device=self._device)

    def note(self, precision: str) -> str:
        """See ``AuditCodec``."""
        if precision.startswith("int8") and not _has_torchao():
            return (
                f"{precision}: torchao is not installed; our own plain {precision} does the same arithmetic"
            )
        return _tf32_note(precision, self._device)

    def _kind(self, precision: str) -> Precision:
        if precision.startswith("int8") and not _has_torchao():
            return Precision(f"plain-{precision}")
        return Precision(precision)


def check_precisions(chosen: Sequence[str], known: Sequence[str], *, option: str) -> tuple[str, ...]:
    """The exact one first, then those that were asked for, each once.

    Raises:
        UsageError: One is unknown.
    """
    for precision in chosen:
        if precision not in known:
            raise UsageError(
                f"precision {precision!r} is unknown", where=option, fix=f"Choose of {', '.join(known)}."
            )
    return tuple(dict.fromkeys((FLOAT32, *chosen)))


def is_exact(stored: Sequence[str]) -> bool:
    """Whether weights of these types may encode a reference."""
    return set(stored) <= {"float32", "float64"}


def stored_types(weights: WeightFiles, prefixes: tuple[str, ...]) -> tuple[str, ...]:
    """Types of tensors, from the files' headers alone.

    Raises:
        BackendError: A file that is no safetensors.
    """
    found: set[str] = set()
    by_file: dict[Path, list[str]] = {}
    for name, path in weights.files.items():
        if name.startswith(prefixes):
            by_file.setdefault(path, []).append(name)
    for path, names in by_file.items():
        try:
            with safe_open(path, framework="np") as file:
                found |= {file.get_slice(name).get_dtype() for name in names}
        except Exception as error:  # safetensors has one class for all its faults
            raise BackendError(
                f"it cannot be read: {error}",
                where=str(path),
                fix="Take the checkpoint from its publisher again.",
            ) from error
    return tuple(sorted({"F32": "float32", "F64": "float64"}.get(k, _NAMES.get(k, k.lower())) for k in found))


def _has_torchao() -> bool:
    return importlib.util.find_spec("torchao") is not None


def _tf32_note(precision: str, device: str) -> str:
    if precision == "tf32" and device == "cpu":
        return "tf32: a CPU has no such units, so these are float32 products; use --device cuda to measure it"
    return ""
