"""Levels: root mean square in dB relative to full scale, of stretches and of short frames."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from refprep.types import Samples, Span
from refprep.units import seconds_to_samples

Levels = npt.NDArray[np.float64]
"""(N,) float64, dBFS; -inf for digital silence."""


def power_to_db(power: float) -> float:
    """Ten times the decimal logarithm; -inf for no power."""
    return 10.0 * math.log10(power) if power > 0.0 else -math.inf


def mean_power(samples: Samples) -> float:
    """Mean square of (T,) float32, full scale at 1.0, summed in float64; 0.0 without samples."""
    if samples.size == 0:
        return 0.0
    return float(np.einsum("i,i", samples, samples, dtype=np.float64)) / samples.size


def rms_dbfs(samples: Samples) -> float:
    """Root mean square in dB, 0 dB for a square wave of full scale.

    AES17 puts 0 dBFS at a full-scale sine, 3.01 dB higher; speech tools (and every number in our notes) do not.
    """
    return power_to_db(mean_power(samples))


def span_samples(samples: Samples, sample_rate_hz: int, spans: Sequence[Span]) -> Samples:
    """The samples within the spans, one behind the other; (T,) float32."""
    parts = [
        samples[
            max(0, seconds_to_samples(s.start_s, sample_rate_hz)) : seconds_to_samples(
                s.end_s, sample_rate_hz
            )
        ]
        for s in spans
    ]
    return np.concatenate(parts) if parts else samples[:0]


def frame_powers(samples: Samples, frame_samples: int) -> Levels:
    """Mean square of consecutive whole frames; (T // frame_samples,) float64."""
    num_frames = samples.shape[0] // frame_samples
    frames = samples[: num_frames * frame_samples].reshape(num_frames, frame_samples)
    powers: Levels = np.einsum("ij,ij->i", frames, frames, dtype=np.float64) / frame_samples
    return powers


def dc_offset(samples: Samples) -> float:
    """Mean sample, full scale at 1.0; 0.0 without samples."""
    return float(samples.mean(dtype=np.float64)) if samples.size else 0.0
