"""How the channels of a file become one: what is gathered of them block by block, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.types import Downmix, Samples

# A dead channel may carry the dither of its converter: two steps of 16 bits, and 40 dB below the live one.
_DEAD_PEAK = 2.0 / 2**15
_DEAD_RATIO = 0.01
# Two channels of opposite sign cancel in a mean: at a correlation of -0.99 it is 23 dB below either of them.
_INVERTED_CORRELATION = -0.99


@dataclass(frozen=True, slots=True)
class Mixdown:
    """One channel made of several.

    Attributes:
        downmix: How it is made; all but MEAN keep samples as they are in the file.
        channel: The one that is kept; nothing to MEAN.
        peaks: Largest absolute sample of every channel.
        correlation: Lowest correlation of the first channel with another; None for a single one.
    """

    downmix: Downmix
    channel: int
    peaks: tuple[float, ...]
    correlation: float | None

    def apply(self, channels: Samples) -> Samples:
        """(T, C) float32 -> (T,) float32; a block at a time gives what the whole would."""
        if self.downmix is Downmix.MEAN:
            mean: Samples = channels.mean(axis=1, dtype=np.float64).astype(np.float32)
            return mean
        return np.ascontiguousarray(channels[:, self.channel])


class ChannelSums:
    """What the choice of a downmix needs to know of all samples, gathered block by block.

    Sums are float64: float32 loses digits over minutes.

    Args:
        num_channels: Of every block.
    """

    def __init__(self, num_channels: int) -> None:
        self._peaks = np.zeros(num_channels)
        self._powers = np.zeros(num_channels)
        self._products = np.zeros(num_channels)  # of the first channel with each
        self._are_equal = True

    def add(self, channels: Samples, peaks: npt.NDArray[np.float32]) -> None:
        """Count a block.

        Args:
            channels: (T, C) float32, finite.
            peaks: (C,) largest absolute sample of each.
        """
        self._peaks = np.maximum(self._peaks, peaks)
        if channels.shape[1] == 1:
            return
        first = np.ascontiguousarray(channels[:, 0])
        self._are_equal = self._are_equal and bool(np.all(channels == first[:, None]))
        for c in range(channels.shape[1]):
            other = channels[:, c]
            self._products[c] += np.einsum("i,i", first, other, dtype=np.float64)
            self._powers[c] += np.einsum("i,i", other, other, dtype=np.float64)

    def choose(self) -> Mixdown:
        """The downmix for all that was counted."""
        peaks = tuple(float(p) for p in self._peaks)
        if len(peaks) == 1:
            return Mixdown(Downmix.NONE, 0, peaks, None)
        if self._are_equal:
            return Mixdown(Downmix.IDENTICAL, 0, peaks, 1.0)
        correlation = min(self._correlation(c) for c in range(1, len(peaks)))
        loudest = int(np.argmax(peaks))
        if all(is_dead_peak(p, peaks[loudest]) for c, p in enumerate(peaks) if c != loudest):
            return Mixdown(Downmix.LIVE_CHANNEL, loudest, peaks, correlation)
        if correlation < _INVERTED_CORRELATION:
            return Mixdown(Downmix.INVERTED, 0, peaks, correlation)
        return Mixdown(Downmix.MEAN, 0, peaks, correlation)

    def _correlation(self, channel: int) -> float:
        """Cosine of the first channel and another, -1 to 1; 0.0 when one is silent."""
        power = float(self._powers[0] * self._powers[channel])
        return float(self._products[channel]) / power**0.5 if power > 0.0 else 0.0


def is_dead_peak(peak: float, loudest_peak: float) -> bool:
    """Whether a channel of this peak carries nothing beside one of ``loudest_peak``."""
    return peak <= _DEAD_PEAK and peak <= _DEAD_RATIO * loudest_peak
