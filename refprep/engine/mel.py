"""The mel spectrogram that the speaker encoder hears.

name     shape            meaning
samples  (T,)             float32 mono at 24 kHz
mel      (frames, mels)   log of magnitudes through the filterbank, natural, floor 1e-5; 93.75 frames a second

frames = floor((T + 768 - 1024) / 256) + 1
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.errors import UsageError

SAMPLE_RATE_HZ = 24_000
WINDOW_SAMPLES = 1024
HOP_SAMPLES = 256
EDGE_SAMPLES = (WINDOW_SAMPLES - HOP_SAMPLES) // 2
"""Mirrored at both ends, so that every hop has a frame."""

_FLOOR = 1e-5
# The Slaney scale: linear up to 1 kHz, 15 mels there, then 27 mels for every factor of 6.4.
_HZ_PER_MEL = 200.0 / 3.0
_BREAK_HZ = 1000.0
_LOG_STEP = math.log(6.4) / 27.0


def frame_count(num_samples: int) -> int:
    """Frames of a clip, at least one for more than ``EDGE_SAMPLES`` samples."""
    return (num_samples + 2 * EDGE_SAMPLES - WINDOW_SAMPLES) // HOP_SAMPLES + 1


def least_samples(frames: int) -> int:
    """The shortest clip that has so many frames and can be mirrored at its ends."""
    return max(EDGE_SAMPLES + 1, (frames - 1) * HOP_SAMPLES + WINDOW_SAMPLES - 2 * EDGE_SAMPLES)


def slaney_filterbank(bands: int, bins: int, low_hz: float, high_hz: float) -> torch.Tensor:
    """Triangles on the Slaney mel scale, each of unit area in Hz.

    Args:
        bands: Triangles.
        bins: Of the spectrum, from 0 Hz to half the sample rate.
        low_hz: Left foot of the first triangle.
        high_hz: Right foot of the last.

    Returns:
        (bands, bins) float32.
    """
    corners = _to_hz(np.linspace(_to_mel(low_hz), _to_mel(high_hz), bands + 2))
    left, peak, right = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    hz = np.linspace(0.0, SAMPLE_RATE_HZ / 2, bins)[None]
    triangles = np.maximum(0.0, np.minimum((hz - left) / (peak - left), (right - hz) / (right - peak)))
    return torch.from_numpy((triangles * 2.0 / (right - left)).astype(np.float32))


def _to_mel(hz: float) -> float:
    if hz < _BREAK_HZ:
        return hz / _HZ_PER_MEL
    return _BREAK_HZ / _HZ_PER_MEL + math.log(hz / _BREAK_HZ) / _LOG_STEP


def _to_hz(
    mels: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    break_mel = _BREAK_HZ / _HZ_PER_MEL
    above = _BREAK_HZ * np.exp(_LOG_STEP * (np.maximum(mels, break_mel) - break_mel))
    return np.where(mels < break_mel, mels * _HZ_PER_MEL, above)


class MelFrontEnd(nn.Module):
    """Samples to the logarithm of a mel spectrogram, in float32; it has no weights."""

    window: torch.Tensor
    filters: torch.Tensor

    def __init__(self, bands: int) -> None:
        super().__init__()
        filters = slaney_filterbank(bands, WINDOW_SAMPLES // 2 + 1, 0.0, SAMPLE_RATE_HZ / 2)
        self.register_buffer("filters", filters, persistent=False)
        self.register_buffer("window", torch.hann_window(WINDOW_SAMPLES), persistent=False)

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        """(T,) float32 to (frames, bands).

        Raises:
            UsageError: Too few samples to mirror the ends.
        """
        if samples.shape[0] <= EDGE_SAMPLES:
            raise too_short(samples.shape[0], EDGE_SAMPLES + 1)
        mirrored = F.pad(samples[None], (EDGE_SAMPLES, EDGE_SAMPLES), mode="reflect")[0]
        spectrum = torch.stft(
            mirrored,
            WINDOW_SAMPLES,
            hop_length=HOP_SAMPLES,
            window=self.window,
            center=False,
            return_complex=True,
        )
        magnitude = (spectrum.real.square() + spectrum.imag.square() + 1e-9).sqrt()
        return (self.filters @ magnitude).clamp(min=_FLOOR).log().T


def too_short(num_samples: int, least: int) -> UsageError:
    """The one error of a clip without enough to hear."""
    return UsageError(
        f"the clip has {num_samples} samples, the speaker encoder needs {least}",
        where="speaker encoder",
        fix="Give a longer clip; a voice needs some seconds.",
    )
