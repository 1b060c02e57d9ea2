"""Samples in memory -> Clip, for the stages that read clips."""

from __future__ import annotations

import numpy as np

from refprep.pipeline.decode import narrowest_format, pcm_sha256
from refprep.types import AudioSource, Clip, Downmix, SampleFormat, Samples, freeze


def clip_of(
    samples: Samples, sample_rate_hz: int, *, path: str, sample_format: SampleFormat | None = None
) -> Clip:
    """A clip of samples that come from no file.

    Args:
        samples: (T,) float32.
        sample_rate_hz: Of them.
        path: Name that messages call it by.
        sample_format: That holds every sample; found when None.
    """
    samples = freeze(samples)
    stored = narrowest_format(samples) if sample_format is None else sample_format
    duration_s = len(samples) / sample_rate_hz
    return Clip(
        id=pcm_sha256(samples, sample_rate_hz),
        source=AudioSource(
            path=path,
            file_sha256="",
            container="wav",
            codec=stored.value.lower(),
            sample_format=stored,
            num_channels=1,
            declared_duration_s=duration_s,
            decoded_duration_s=duration_s,
            downmix=Downmix.NONE,
            channel_peaks=(float(np.max(np.abs(samples), initial=0.0)),),
        ),
        samples=samples,
        sample_rate_hz=sample_rate_hz,
    )
