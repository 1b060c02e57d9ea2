"""A reference's samples on their way into the encoder: a gain or none, then silence to a whole frame."""

from __future__ import annotations

import enum
import math

import numpy as np

from refprep.types import Samples
from refprep.units import SAMPLES_PER_FRAME, db_to_gain, samples_to_frames

TAIL_POLICY = "silence-to-frame"
"""How a clip that ends inside a frame is completed. The published processor drops such a frame: up to 80 ms of speech."""

_TARGET_DBFS, _LARGEST_DB = -20.0, 3.0


class Loudness(enum.StrEnum):
    """Whether a reference is brought nearer to the level of the published processor.

    The gain comes from the mean square of the whole clip, so with it the codes of a clip are no longer those of a longer
    one that starts with it.
    """

    AS_IS = "as-is"
    PUBLISHED = "toward-20dbfs-by-3db"  # mean square toward -20 dBFS, by 3 dB at most


def loudness_gain_db(samples: Samples, loudness: Loudness) -> float:
    """Gain that a policy gives a clip, in dB.

    Args:
        samples: (T,) or (channels, T) float32; channels share one gain.
        loudness: The policy.
    """
    if loudness is Loudness.AS_IS:
        return 0.0
    mean_square = float(np.square(samples, dtype=np.float64).mean()) if samples.size else 0.0
    level_dbfs = 10.0 * math.log10(mean_square) if mean_square > 0.0 else -math.inf
    return min(max(_TARGET_DBFS - level_dbfs, -_LARGEST_DB), _LARGEST_DB)


def with_loudness(samples: Samples, loudness: Loudness) -> Samples:
    """The clip with its gain; the same array where there is none."""
    if loudness is Loudness.AS_IS:
        return samples
    return samples * np.float32(db_to_gain(loudness_gain_db(samples, loudness)))


def prepared(samples: Samples, loudness: Loudness) -> Samples:
    """(T,) float32 mono at 24 kHz to the samples that are encoded: (frames * 1920,) float32."""
    whole = np.zeros(samples_to_frames(samples.shape[0]) * SAMPLES_PER_FRAME, np.float32)
    whole[: samples.shape[0]] = with_loudness(samples, loudness)
    return whole


def preparation_name(loudness: Loudness) -> str:
    """Of everything that happens to the samples here, for keys under which codes are kept."""
    return f"{TAIL_POLICY}, loudness {loudness.value}"
