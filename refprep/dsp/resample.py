"""Change of sample rate: a polyphase filter with 90 dB of stop band, for what models hear, and for what is kept only where --resample asks for it."""

from __future__ import annotations

from functools import lru_cache
from math import gcd

import numpy as np
import numpy.typing as npt

from refprep.types import Samples

_ZERO_CROSSINGS = 32
_KAISER_BETA = 9.0  # Kaiser (1974): 0.1102 (A - 8.7) for a stop band of A = 90 dB
_ROLLOFF = 0.945


def resample(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """Resample a clip.

    Args:
        samples: (T,) float32 mono at ``from_hz``.
        from_hz: Present rate.
        to_hz: Wanted rate.

    Returns:
        (ceil(T * to_hz / from_hz),) float32; the same array where the rates are equal.
    """
    if from_hz == to_hz or samples.size == 0:
        return samples
    # Most of a second to load: runs that find everything in the cache are spared it.
    from scipy import signal

    divisor = gcd(from_hz, to_hz)
    up, down = to_hz // divisor, from_hz // divisor
    return np.asarray(signal.resample_poly(samples, up, down, window=_low_pass(up, down)), dtype=np.float32)


@lru_cache(maxsize=16)
def _low_pass(up: int, down: int) -> npt.NDArray[np.float32]:
    from scipy import signal

    widest = max(up, down)
    taps = signal.firwin(2 * _ZERO_CROSSINGS * widest + 1, _ROLLOFF / widest, window=("kaiser", _KAISER_BETA))
    return np.asarray(taps, dtype=np.float32)
