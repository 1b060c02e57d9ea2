"""Samples -> a WAV file that holds exactly them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import soundfile

from refprep.types import SampleFormat, Samples


def write_wav(path: Path, samples: Samples, sample_rate_hz: int, sample_format: SampleFormat) -> None:
    """Write samples without changing one.

    Integers are scaled here, by powers of two: libsndfile's own conversion of floats rounds and clips.

    Args:
        path: Of the file; not atomic by itself, the caller writes into a folder that is.
        samples: (T,) float32; every value must fit ``sample_format`` exactly.
        sample_rate_hz: Of the samples.
        sample_format: As found by the decoder: narrow enough to be small, wide enough to be exact.

    Raises:
        OSError: The disk refused.
    """
    data: np.ndarray[tuple[int, ...], np.dtype[np.int16 | np.int32 | np.float32]]
    if sample_format is SampleFormat.PCM_16:
        data = (samples.astype(np.float64) * 2**15).astype(np.int16)
    elif sample_format is SampleFormat.PCM_24:
        data = (samples.astype(np.float64) * 2**31).astype(np.int32)
    else:
        data = samples
    # Through memory: of a full disk libsndfile says "System error", the system says what it is.
    buffer = io.BytesIO()
    soundfile.write(buffer, data, sample_rate_hz, subtype=sample_format.value, format="WAV")
    path.write_bytes(buffer.getbuffer())
