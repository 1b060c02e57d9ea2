"""What all samples of a file have to be looked at for: how many there are, whether they are sound, how to mix them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from refprep.pipeline.decoding.downmix import ChannelSums, Mixdown
from refprep.pipeline.decoding.source import Source
from refprep.types import Samples

# What recorders and archives use lies well within; a header beyond is damaged, and resampling it would take all memory.
RATES_HZ = (1_000, 768_000)
# Floats that somebody scaled as 32-bit integers reach 2^31. Beyond are bytes that are no samples, and their squares
# overflow.
LOUDEST = 2.0**40


def _is_absurd(samples: Samples) -> npt.NDArray[np.bool_]:
    return (samples > LOUDEST) | (samples < -LOUDEST)


_FAULTS: tuple[tuple[str, Callable[[Samples], npt.NDArray[np.bool_]]], ...] = (
    ("NaN (not a number)", np.isnan),
    ("infinite", np.isinf),
    ("beyond any level of sound", _is_absurd),
)


class AudioScan:
    """Blocks of a file, counted one after the other.

    Args:
        num_channels: Of every block.
    """

    def __init__(self, num_channels: int) -> None:
        self.num_samples = 0
        self._sums = ChannelSums(num_channels)
        self._faults: dict[str, tuple[int, int]] = {}  # kind -> how many, index of the first

    def add(self, channels: Samples) -> None:
        """Count a block, (T, C) float32."""
        if not channels.shape[0]:
            return
        peaks = np.max(np.abs(channels), axis=0)
        if np.all(peaks <= LOUDEST):  # false for a NaN, too
            self._sums.add(channels, peaks)
        else:
            self._count_faults(channels)
        self.num_samples += channels.shape[0]

    def _count_faults(self, channels: Samples) -> None:
        for kind, is_bad in _FAULTS:
            bad = is_bad(channels).any(axis=1)
            if bad.any():
                number, first = self._faults.get(kind, (0, self.num_samples + int(np.argmax(bad))))
                self._faults[kind] = (number + int(bad.sum()), first)

    def mixdown(self) -> Mixdown:
        """How to make one channel of them."""
        return self._sums.choose()

    def refuse_unusable(self, source: Source, sample_rate_hz: int) -> None:
        """Raise when this is no audio.

        Raises:
            AudioDecodeError: No samples, a rate of no audio, or samples that are none.
        """
        if self.num_samples == 0:
            raise source.error("the file holds no samples", fix="Record or export it again")
        if not RATES_HZ[0] <= sample_rate_hz <= RATES_HZ[1]:
            raise source.error(
                f"{sample_rate_hz} samples a second are no sample rate of audio",
                fix="The header is damaged: copy, download or export the file again",
            )
        for kind, _ in _FAULTS:
            if kind in self._faults:
                number, first = self._faults[kind]
                raise source.error(
                    f"{number} of {self.num_samples} samples are {kind}, the first at {first / sample_rate_hz:.3f} s",
                    fix="Export it again from the original recording",
                )
