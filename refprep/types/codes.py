"""Codes and speaker embedding of a reference, and everything that decides what they are."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from refprep.types.arrays import freeze

CodeMatrix: TypeAlias = npt.NDArray[np.int32]
"""(frames, codebooks) int32, codebook 0 first."""

LAYOUT_VERSION = 1
"""Of the files that hold an entry; another layout is another key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderFacts:
    """The encoder's side of a key.

    Attributes:
        codec: Kind of codec, as its config names it.
        codec_weights_sha256: Of the codec encoder's tensors as stored; empty where there are none that may encode.
        speaker_weights_sha256: Of the speaker encoder's tensors as stored; empty where there are none.
        config_sha256: Of the shapes and constants of both networks; empty where one of them is not described.
        encoder_dtype: ``float32``, or the narrower type that the codec encoder's weights are stored in.
        device: ``cpu`` or ``cuda``.
        tail_policy: How a clip that ends inside a frame is completed.
        frame_rate_hz: Of the codes.
        num_codebooks: Codes in a frame.
        codebook_size: Codes run from 0 to one below.
        encoder_version: Of our code that computes both networks, raised when it computes other numbers.
        torch_version: That computed.
    """

    codec: str
    codec_weights_sha256: str
    speaker_weights_sha256: str
    config_sha256: str
    encoder_dtype: str
    device: str
    tail_policy: str
    frame_rate_hz: float
    num_codebooks: int
    codebook_size: int
    encoder_version: int
    torch_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey(EncoderFacts):
    """Every fact that changes codes or embedding.

    Attributes:
        audio_sha256: Of the reference's canonical PCM, never its path.
        sample_rate_hz: Of the reference.
        resampler: Name and version of what brought it to 24 kHz; ``none`` where it has that rate.
        layout_version: Of the file.
    """

    audio_sha256: str
    sample_rate_hz: int
    resampler: str
    layout_version: int = LAYOUT_VERSION

    @property
    def digest(self) -> str:
        """SHA-256 of every field, by name."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        return hashlib.sha256(json.dumps(named, sort_keys=True).encode("ascii")).hexdigest()

    def differs_in(self, other: CacheKey) -> frozenset[str]:
        """Names of the fields that the two keys do not share."""
        return frozenset(f.name for f in fields(self) if getattr(self, f.name) != getattr(other, f.name))


@dataclass(frozen=True, slots=True, eq=False)
class CodeCacheEntry:
    """A reference as a talker takes it, and where that comes from.

    Attributes:
        key: What it was made of.
        codes: (frames, codebooks) int32, read-only, codebook 0 first.
        speaker_embedding: (D,) float32, read-only, not normalised; D is the talker's hidden size. None where the key names no
            speaker encoder.
        num_samples: Of the reference at 24 kHz.
        created_by: Name and version of the program.
    """

    key: CacheKey
    codes: CodeMatrix
    speaker_embedding: npt.NDArray[np.float32] | None
    num_samples: int
    created_by: str

    def __post_init__(self) -> None:
        vector = self.speaker_embedding
        if self.codes.ndim != 2 or (vector is not None and vector.ndim != 1):
            raise ValueError("codes are (frames, codebooks), an embedding is (D,)")
        if (vector is None) != (not self.key.speaker_weights_sha256):
            raise ValueError("an embedding and the weights of a speaker encoder come together")
        codes = np.ascontiguousarray(self.codes, dtype=np.int32)
        codes = codes.view() if codes is self.codes else codes
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        if vector is not None:
            object.__setattr__(self, "speaker_embedding", freeze(vector))

    @property
    def num_frames(self) -> int:
        """Frames of 80 ms."""
        return int(self.codes.shape[0])

    @property
    def embedding_size(self) -> int | None:
        """Length of the embedding; None without one."""
        return None if self.speaker_embedding is None else int(self.speaker_embedding.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class CodesCase:
    """An entry, held against the reference as it is now.

    Attributes:
        entry: Codes and embedding.
        audio_sha256: Of the reference's canonical PCM.
        num_samples: Of the reference at 24 kHz.
        is_loud: (frames of the reference,) bool, read-only: whether the frame's samples are louder than a pause.
    """

    entry: CodeCacheEntry
    audio_sha256: str
    num_samples: int
    is_loud: npt.NDArray[np.bool_]

    @property
    def name(self) -> str:
        """Of the entry, for messages: enough of its file's name to find it."""
        return f"codes/{self.entry.key.digest[:8]}"


@dataclass(frozen=True, slots=True)
class DamagedCodes:
    """A file that holds no whole entry.

    Attributes:
        path: Of the file.
        what: Why it is none.
    """

    path: str
    what: str

    @property
    def name(self) -> str:
        """Of the file, for messages."""
        return f"codes/{PurePath(self.path).name}"
