"""Reference, ReferenceEncoder -> CodeCacheEntry: codes and speaker embedding, in float32."""

from __future__ import annotations

import importlib.metadata
from dataclasses import asdict

import numpy as np

from refprep import __version__
from refprep.dsp.resample import resample
from refprep.pipeline.decode import pcm_sha256
from refprep.protocols import ReferenceEncoder
from refprep.types import (
    CacheKey,
    Clip,
    CodeCacheEntry,
    CodesCase,
    EncoderFacts,
    Reference,
    Samples,
)
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME, samples_to_frames

RESAMPLER_VERSION = 1
"""Raised whenever ``refprep.dsp.resample`` gives other samples."""

PAUSE_DBFS = -50.0
"""A frame whose samples are below is a pause: codes may stand still there."""


def encode_reference(reference: Reference | Clip, encoder: ReferenceEncoder) -> CodeCacheEntry:
    """Encode the whole of a reference, gaps and tail included.

    Args:
        reference: Samples at any rate.
        encoder: Of the checkpoint that will speak.

    Returns:
        Codes and embedding under the key of everything they depend on.

    Raises:
        UsageError: Too short a reference, or an encoder that may not encode.
        MachineError: The encoder's weights are missing, or the device failed.
    """
    samples = resample(reference.samples, reference.sample_rate_hz, CODE_RATE_HZ)
    return CodeCacheEntry(
        key=reference_key(reference.samples, reference.sample_rate_hz, encoder.facts),
        codes=encoder.encode(samples),
        speaker_embedding=encoder.embed(samples),
        num_samples=int(samples.shape[0]),
        created_by=f"refprep {__version__}",
    )


def reference_key(samples: Samples, sample_rate_hz: int, facts: EncoderFacts) -> CacheKey:
    """The key of a reference under an encoder; nothing is encoded."""
    return CacheKey(
        **asdict(facts),
        audio_sha256=pcm_sha256(samples, sample_rate_hz),
        sample_rate_hz=sample_rate_hz,
        resampler=_resampler(sample_rate_hz),
    )


def codes_case(entry: CodeCacheEntry, samples: Samples, sample_rate_hz: int) -> CodesCase:
    """An entry beside the reference that it should be of, for the rules."""
    heard = resample(samples, sample_rate_hz, CODE_RATE_HZ)
    num_samples = int(heard.shape[0])
    frames = np.zeros(samples_to_frames(num_samples) * SAMPLES_PER_FRAME, np.float32)
    frames[:num_samples] = heard
    power = np.square(frames.reshape(-1, SAMPLES_PER_FRAME), dtype=np.float64).mean(axis=1)
    is_loud = power > 10.0 ** (PAUSE_DBFS / 10.0)
    is_loud.flags.writeable = False
    return CodesCase(
        entry=entry,
        audio_sha256=pcm_sha256(samples, sample_rate_hz),
        num_samples=num_samples,
        is_loud=is_loud,
    )


def _resampler(sample_rate_hz: int) -> str:
    if sample_rate_hz == CODE_RATE_HZ:
        return "none"
    return f"polyphase-kaiser9/{RESAMPLER_VERSION} scipy-{importlib.metadata.version('scipy')}"
