"""Integrated loudness, ITU-R BS.1770-4, computed by pyloudnorm."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pyloudnorm

from refprep.types import Samples

_BLOCK_S = 0.4  # BS.1770-4, gating block


def integrated_lufs(samples: Samples, sample_rate_hz: int) -> float:
    """Loudness of a clip.

    BS.1770-4 is not defined below one gating block of 400 ms. A shorter clip is measured as one block of its own
    length: padded with silence to 400 ms, then raised by the 10 log10 of the padding, without gating.

    Args:
        samples: (T,) float32 mono.
        sample_rate_hz: Of the samples.

    Returns:
        LUFS; -inf where no block is above the absolute gate of -70 LUFS (silence).
    """
    block_samples = round(_BLOCK_S * sample_rate_hz)
    if samples.size == 0:
        return -math.inf
    missing = max(0, block_samples + 1 - samples.shape[0])
    padded = np.pad(samples, (0, missing)).astype(np.float64)
    meter = pyloudnorm.Meter(sample_rate_hz, block_size=_BLOCK_S)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # the logarithm of silence, the mean of no gated blocks
        loudness = float(meter.integrated_loudness(padded))
    if not math.isfinite(loudness):
        return -math.inf
    return loudness + (10.0 * math.log10(padded.shape[0] / samples.shape[0]) if missing else 0.0)
