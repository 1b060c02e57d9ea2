"""True peak: the highest level between the samples too, ITU-R BS.1770-4 annex 2."""

from __future__ import annotations

import math

import numpy as np
from scipy import signal

from refprep.types import Samples

_OVERSAMPLED_HZ = 192_000  # annex 2: four times at 48 kHz; "higher sampling rates need proportionately less"
_MIN_FACTOR = 4
_BLOCK_SAMPLES = 1 << 18
_OVERLAP_SAMPLES = 64  # longer than the interpolation filter reaches


def true_peak_dbtp(samples: Samples, sample_rate_hz: int) -> float:
    """Peak of the oversampled signal.

    Args:
        samples: (T,) float32 mono.
        sample_rate_hz: Below 96 kHz four times oversampled, below 192 kHz twice, else not at all.

    Returns:
        dB relative to full scale (dBTP); -inf for digital silence. Never below the highest sample.
    """
    factor = (
        _MIN_FACTOR if sample_rate_hz < _OVERSAMPLED_HZ // 2 else max(1, _OVERSAMPLED_HZ // sample_rate_hz)
    )
    peak = float(np.max(np.abs(samples), initial=0.0))
    if factor > 1:
        for start in range(0, samples.shape[0], _BLOCK_SAMPLES):
            # Only blocks that can hold the maximum: interpolation of band-limited audio rarely adds over 6 dB.
            block = samples[max(0, start - _OVERLAP_SAMPLES) : start + _BLOCK_SAMPLES + _OVERLAP_SAMPLES]
            if float(np.max(np.abs(block), initial=0.0)) * 4.0 > peak:
                peak = max(peak, _oversampled_peak(block, factor))
    return 20.0 * math.log10(peak) if peak > 0.0 else -math.inf


def _oversampled_peak(block: Samples, factor: int) -> float:
    # A Kaiser window of 10 samples to each side: within 0.1 dB up to 0.45 of the rate, as annex 2 asks of its own filter.
    padded = np.pad(block.astype(np.float64), 1)
    return float(np.max(np.abs(signal.resample_poly(padded, factor, 1)), initial=0.0))
