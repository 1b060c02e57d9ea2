"""How the channels of a file become one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refprep.types import Downmix, Samples

# A dead channel may carry the dither of its converter: two steps of 16 bits, and 40 dB below the live one.
_DEAD_PEAK = 2.0 / 2**15
_DEAD_RATIO = 0.01
# Two channels of opposite sign cancel in a mean: at a correlation of -0.99 it is 23 dB below either of them.
_INVERTED_CORRELATION = -0.99


@dataclass(frozen=True, slots=True)
class Mono:
    """One channel made of several.

    Attributes:
        samples: (T,) float32; all but MEAN keep samples as they are in the file.
        downmix: How it was made.
        peaks: Largest absolute sample of every channel.
        correlation: Lowest correlation of the first channel with another; None for a single one.
    """

    samples: Samples
    downmix: Downmix
    peaks: tuple[float, ...]
    correlation: float | None


def to_mono(channels: Samples) -> Mono:
    """Make one channel.

    Args:
        channels: (T, C) float32, finite.
    """
    num_channels = channels.shape[1]
    peaks = tuple(float(np.max(np.abs(channels[:, c]), initial=0.0)) for c in range(num_channels))
    first = np.ascontiguousarray(channels[:, 0])
    if num_channels == 1:
        return Mono(first, Downmix.NONE, peaks, None)
    if all(np.array_equal(first, channels[:, c]) for c in range(1, num_channels)):
        return Mono(first, Downmix.IDENTICAL, peaks, 1.0)
    correlation = min(_correlation(first, channels[:, c]) for c in range(1, num_channels))
    loudest = int(np.argmax(peaks))
    if all(is_dead_peak(p, peaks[loudest]) for c, p in enumerate(peaks) if c != loudest):
        live = np.ascontiguousarray(channels[:, loudest])
        return Mono(live, Downmix.LIVE_CHANNEL, peaks, correlation)
    if correlation < _INVERTED_CORRELATION:
        return Mono(first, Downmix.INVERTED, peaks, correlation)
    mean = channels.mean(axis=1, dtype=np.float64).astype(np.float32)
    return Mono(mean, Downmix.MEAN, peaks, correlation)


def is_dead_peak(peak: float, loudest_peak: float) -> bool:
    """Whether a channel of this peak carries nothing beside one of ``loudest_peak``."""
    return peak <= _DEAD_PEAK and peak <= _DEAD_RATIO * loudest_peak


def _correlation(a: Samples, b: Samples) -> float:
    """Cosine of two channels, -1 to 1; 0.0 when one is silent. Sums in float64: float32 loses digits over minutes."""
    dot = float(np.einsum("i,i", a, b, dtype=np.float64))
    power = float(np.einsum("i,i", a, a, dtype=np.float64)) * float(np.einsum("i,i", b, b, dtype=np.float64))
    return dot / power**0.5 if power > 0.0 else 0.0
