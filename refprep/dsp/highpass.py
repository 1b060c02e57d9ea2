"""What lies below the voice: offset, rumble, hum."""

from __future__ import annotations

import numpy as np
from scipy.signal import butter, sosfiltfilt

from refprep.types import Samples

_ORDER = 2


def high_pass(samples: Samples, sample_rate_hz: int, *, cutoff_hz: float) -> Samples:
    """Take out what lies below a frequency, without moving anything in time (Butterworth, forwards and backwards).

    Args:
        samples: (T,) float32; a few dozen at least.
        sample_rate_hz: Of the samples.
        cutoff_hz: 6 dB down here, 24 dB an octave below.

    Returns:
        (T,) float32.
    """
    sections = butter(_ORDER, cutoff_hz, "highpass", fs=sample_rate_hz, output="sos")
    return np.ascontiguousarray(sosfiltfilt(sections, samples), dtype=np.float32)
