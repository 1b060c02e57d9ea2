"""A Qwen3-TTS checkpoint as a ReferenceEncoder: its codec's encoder and its speaker encoder, in float32.

Weights are hashed as they are stored, whenever the facts are asked for first: no hash is remembered by name or date.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import safe_open

from refprep.engine.codec.config import codec_folder, read_codec_config
from refprep.engine.codec.encoder import TAIL_POLICY, CodecEncoder
from refprep.engine.codec.load import load_codec_encoder
from refprep.engine.config import ModelKind, read_config
from refprep.engine.json_config import read_json, typed
from refprep.engine.loader import WeightFiles, open_weights
from refprep.engine.speaker import SpeakerConfig, SpeakerEncoder, load_speaker_encoder
from refprep.errors import UsageError, WeightsMissing
from refprep.types import CodeCacheEntry, CodeMatrix, EncoderFacts, Samples
from refprep.units import CODE_RATE_HZ, FRAME_RATE_HZ

ENCODER_VERSION = 1
"""Raised when our encoders compute other numbers from the same weights."""

_CODEC, _SPEAKER = "encoder.", "speaker_encoder."
_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "BF16": "bfloat16",
    "F16": "float16",
    "F8_E4M3": "float8_e4m3",
    "F8_E5M2": "float8_e5m2",
    "I8": "int8",
    "U8": "uint8",
}
_EXACT = ("float32", "float64")
# The publisher stores the speaker encoder in bfloat16, with the talker: those are its weights, not rounded ones.
_SPEAKER_DTYPES = (*_EXACT, "bfloat16", "float16")


class Qwen3ReferenceEncoder:
    """The two encoders of a Base checkpoint; each is loaded when it is first asked for something.

    Args:
        folder: Of the checkpoint.
        device: ``cpu`` or ``cuda``.
        allow_quantized: Encode with rounded weights, too, for comparisons; the key says so, and no voice takes it.

    Attributes:
        talker_width: Length of an embedding that the checkpoint's talker takes.

    Raises:
        WeightsMissing: No checkpoint there.
        UsageError: A checkpoint that clones no recorded voice.
        BackendError: Another model.
    """

    sample_rate_hz = CODE_RATE_HZ

    def __init__(self, folder: Path, *, device: str = "cpu", allow_quantized: bool = False) -> None:
        config = read_config(folder)
        if config.kind is not ModelKind.BASE:
            raise UsageError(
                f"a {config.kind.value} checkpoint takes no recorded voice: it has no speaker encoder",
                where=str(folder),
                fix="Use the Base checkpoint, such as Qwen3-TTS-12Hz-0.6B-Base.",
            )
        self.folder, self.device, self._allow_quantized = folder, torch.device(device), allow_quantized
        self.talker_width = config.talker_config.hidden_size
        self._codec_config = read_codec_config(folder)
        values = read_json(folder / "config.json").get("speaker_encoder_config")
        self._speaker_values: Mapping[str, Any] | None = values if isinstance(values, dict) else None

    @property
    def name(self) -> str:
        """Of the checkpoint's folder."""
        return self.folder.resolve().name

    def fault(self) -> UsageError | WeightsMissing | None:
        """Why it cannot encode: weights that are not there, or rounded ones; None where it can."""
        for prefix, what in ((_CODEC, "encoder of its codec"), (_SPEAKER, "speaker encoder")):
            if not self._names(prefix) or (prefix == _SPEAKER and self._speaker_values is None):
                return WeightsMissing(
                    f"the checkpoint carries no {what}",
                    where=str(self.folder),
                    fix="Encode the voice where the whole checkpoint is, and take its folder along: the codes in it "
                    "serve here.",
                )
        if not self._allow_quantized:
            for prefix, allowed in ((_CODEC, _EXACT), (_SPEAKER, _SPEAKER_DTYPES)):
                if rounded := sorted(set(self._dtypes[prefix]) - set(allowed)):
                    return _quantized(self.folder, prefix, rounded)
        return None

    @cached_property
    def facts(self) -> EncoderFacts:
        """The encoder's side of a key; hashes of weights that are not there, or may not encode, are empty."""
        config, speaker = self._codec_config, self._speaker_values
        rounded = sorted(set(self._dtypes[_CODEC]) - set(_EXACT))
        may_encode = not rounded or self._allow_quantized
        described = [
            asdict(config.encoder_config),
            config.encoder_valid_num_quantizers,
            asdict(typed(SpeakerConfig, speaker, where=str(self.folder))) if speaker else None,
        ]
        return EncoderFacts(
            codec=config.model_type,
            codec_weights_sha256=self._sha256(_CODEC) if may_encode else "",
            speaker_weights_sha256=self._sha256(_SPEAKER),
            config_sha256=_sha256_of(described) if speaker else "",
            encoder_dtype="+".join(rounded) if rounded and may_encode else "float32",
            device=self.device.type,
            tail_policy=TAIL_POLICY,
            frame_rate_hz=FRAME_RATE_HZ,
            num_codebooks=config.encoder_valid_num_quantizers,
            codebook_size=config.encoder_config.codebook_size,
            encoder_version=ENCODER_VERSION,
            torch_version=str(torch.__version__),
        )

    def encode(self, samples: Samples) -> CodeMatrix:
        """See ``refprep.protocols.ReferenceEncoder``."""
        codes: CodeMatrix = self._codec_encoder.encode(torch.from_numpy(samples.copy())).numpy()
        return codes

    def embed(self, samples: Samples) -> npt.NDArray[np.float32]:
        """See ``refprep.protocols.ReferenceEncoder``."""
        vector: npt.NDArray[np.float32] = self._speaker_encoder.embed(
            torch.from_numpy(samples.copy())
        ).numpy()
        return vector

    def fits(self, entry: CodeCacheEntry) -> bool:
        """See ``refprep.protocols.VoiceEncoder``."""
        return entry.key.codec == self._codec_config.model_type and entry.embedding_size == self.talker_width

    def require(self) -> None:
        """Fail now rather than after the audio was read.

        Raises:
            WeightsMissing: A part of the checkpoint is not here.
            UsageError: Its weights are rounded (RP501).
        """
        if fault := self.fault():
            raise fault

    # ---------------------------------------------------------------- weights

    @cached_property
    def _codec_encoder(self) -> CodecEncoder:
        self.require()
        return load_codec_encoder(self.folder, self.device)

    @cached_property
    def _speaker_encoder(self) -> SpeakerEncoder:
        self.require()
        return load_speaker_encoder(self.folder, self._speaker_values or {}, self.device)

    @cached_property
    def _weights(self) -> dict[str, WeightFiles]:
        return {_CODEC: open_weights(codec_folder(self.folder)), _SPEAKER: open_weights(self.folder)}

    @cached_property
    def _dtypes(self) -> dict[str, list[str]]:
        return {p: _stored_dtypes(self._weights[p], self._names(p)) for p in (_CODEC, _SPEAKER)}

    def _names(self, prefix: str) -> list[str]:
        return [n for n in self._weights[prefix].files if n.startswith(prefix)]

    def _sha256(self, prefix: str) -> str:
        return self._weights[prefix].sha256(prefix) if self._names(prefix) else ""


def _stored_dtypes(weights: WeightFiles, names: Iterable[str]) -> list[str]:
    """Of the tensors, from the headers alone."""
    found: set[str] = set()
    by_file: dict[Path, list[str]] = {}
    for name in names:
        by_file.setdefault(weights.files[name], []).append(name)
    for path, inside in by_file.items():
        with safe_open(path, framework="np") as file:
            found |= {file.get_slice(name).get_dtype() for name in inside}
    return sorted(_DTYPES.get(kind, kind.lower()) for kind in found)


def _sha256_of(values: object) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode("ascii")).hexdigest()


def _quantized(folder: Path, prefix: str, rounded: list[str]) -> UsageError:
    what = "the codec encoder's" if prefix == _CODEC else "the speaker encoder's"
    return UsageError(
        f"RP501 quantized-reference-encoder: {what} weights are stored as {', '.join(rounded)}; rounded weights choose "
        "other codes, which are another voice",
        where=str(folder),
        fix="Encode with the publisher's checkpoint (speech_tokenizer in float32); a rounded one may speak with those "
        "codes. See `refprep explain RP501`.",
    )
