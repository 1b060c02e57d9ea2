"""Entries of codes as values, and an encoder that needs no weights."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from refprep.types import (
    AudioSource,
    CacheKey,
    Clip,
    CodeCacheEntry,
    CodeMatrix,
    CodesCase,
    Downmix,
    EncoderFacts,
    SampleFormat,
    Samples,
    freeze,
)
from refprep.units import samples_to_frames

FACTS = EncoderFacts(
    codec="fake-codec", codec_weights_sha256="1" * 64, speaker_weights_sha256="2" * 64, config_sha256="3" * 64,
    encoder_dtype="float32", device="cpu", tail_policy="zeros", frame_rate_hz=12.5, num_codebooks=16,
    codebook_size=2048, encoder_version=1, torch_version="0.0",
)  # fmt: skip
KEY = CacheKey(
    **{name: getattr(FACTS, name) for name in FACTS.__dataclass_fields__},
    audio_sha256="a" * 64,
    sample_rate_hz=24_000,
    resampler="none",
)
NUM_SAMPLES = 287_040


def codes(frames: int = 150, codebooks: int = 16, seed: int = 0) -> CodeMatrix:
    """Codes that say as much as codes can."""
    return np.random.default_rng(seed).integers(0, 2048, (frames, codebooks)).astype(np.int32)


def entry(**changes: object) -> CodeCacheEntry:
    """A sound entry, or one with changes."""
    vector = np.random.default_rng(1).standard_normal(24).astype(np.float32)
    whole = CodeCacheEntry(KEY, codes(), vector, NUM_SAMPLES, "refprep test")
    return replace(whole, **changes)  # type: ignore[arg-type]


def case(loud: npt.NDArray[np.bool_] | None = None, **changes: object) -> CodesCase:
    """A sound entry beside its own reference, loud throughout, or one with changes."""
    frames = samples_to_frames(NUM_SAMPLES)
    return CodesCase(
        entry(**changes), KEY.audio_sha256, NUM_SAMPLES, np.ones(frames, bool) if loud is None else loud
    )


def clip(samples: npt.NDArray[np.float32], sample_rate_hz: int = 24_000) -> Clip:
    """A clip of samples."""
    source = AudioSource(
        "fake.wav", "0" * 64, "wav", "pcm_s16le", SampleFormat.FLOAT, 1, None, 1.0, Downmix.NONE, (1.0,)
    )
    return Clip("0" * 64, source, freeze(samples), sample_rate_hz)


@dataclass
class FakeReferenceEncoder:
    """Codes that depend on the samples and nothing else."""

    facts: EncoderFacts = FACTS
    name: str = "fake"
    asked: int = 0

    def encode(self, samples: Samples) -> CodeMatrix:
        """See ``refprep.protocols.ReferenceEncoder``."""
        self.asked += 1
        seed = int.from_bytes(hashlib.sha256(samples.tobytes()).digest()[:4], "little")
        return codes(samples_to_frames(len(samples)), seed=seed)

    def embed(self, samples: Samples) -> npt.NDArray[np.float32]:
        """See ``refprep.protocols.ReferenceEncoder``."""
        return np.array([samples.mean(), samples.std(), 1.0], np.float32)


def flip(path: Path, position: int) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
