"""Seconds and samples, samples and codec frames, decibels and gains: one rule each, said once."""

from __future__ import annotations

CODE_RATE_HZ = 24_000
"""Of the audio that the 12.5 Hz codec takes and gives."""

SAMPLES_PER_FRAME = 1920
"""Of it: 80 ms."""

FRAME_RATE_HZ = CODE_RATE_HZ / SAMPLES_PER_FRAME
"""12.5: what the "12Hz" models run at."""


def seconds_to_samples(seconds: float, sample_rate_hz: int) -> int:
    """Nearest sample to a time; halves go to the even sample, as Python rounds."""
    return round(seconds * sample_rate_hz)


def samples_to_frames(num_samples: int) -> int:
    """Frames that the codec makes of so many samples at 24 kHz: the last one may be a part of one."""
    return -(-num_samples // SAMPLES_PER_FRAME)


def db_to_gain(level_db: float) -> float:
    """Amplitude factor of a level difference in dB."""
    return float(10.0 ** (level_db / 20.0))
