"""Seconds and samples, decibels and gains: one rule each, said once."""

from __future__ import annotations


def seconds_to_samples(seconds: float, sample_rate_hz: int) -> int:
    """Nearest sample to a time; halves go to the even sample, as Python rounds."""
    return round(seconds * sample_rate_hz)


def db_to_gain(level_db: float) -> float:
    """Amplitude factor of a level difference in dB."""
    return float(10.0 ** (level_db / 20.0))
