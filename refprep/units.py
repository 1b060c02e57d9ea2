"""Seconds, samples and codec frames: one rounding rule each, said once."""

from __future__ import annotations

CODEC_SAMPLE_RATE_HZ = 24_000
CODEC_FRAME_SAMPLES = 1_920  # 80 ms at 24 kHz: 12.5 frames a second


def seconds_to_samples(seconds: float, sample_rate_hz: int) -> int:
    """Nearest sample to a time; halves go to the even sample, as Python rounds."""
    return round(seconds * sample_rate_hz)


def samples_to_seconds(num_samples: int, sample_rate_hz: int) -> float:
    """Duration of a number of samples, in seconds."""
    return num_samples / sample_rate_hz


def codec_frames(num_samples: int) -> int:
    """Frames that hold ``num_samples`` at 24 kHz: the last one may be padded."""
    return -(-num_samples // CODEC_FRAME_SAMPLES)


def db_to_gain(level_db: float) -> float:
    """Amplitude factor of a level difference in dB."""
    return float(10.0 ** (level_db / 20.0))
