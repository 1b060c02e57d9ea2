"""Samples -> what a page can show and play: peaks, an SVG outline, a time axis, a WAV in a data URI."""

from __future__ import annotations

import base64
import io
import wave
from typing import Any

import numpy as np

from refprep.types import Samples

COLUMNS = 1000
HALF_HEIGHT = 100
# Round steps of the time axis, seconds; the first that makes at most this many ticks is taken.
_STEPS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_MAX_TICKS = 16


def envelope(samples: Samples, columns: int) -> tuple[Samples, Samples]:
    """Lowest and highest sample of each column.

    Args:
        samples: (T,) float32.
        columns: How many, at most: clips shorter than this many samples get one for each.

    Returns:
        Two arrays (min(T, columns),) float32.
    """
    if samples.shape[0] == 0:
        return samples, samples
    count = min(columns, int(samples.shape[0]))
    starts = np.arange(count) * samples.shape[0] // count
    return np.minimum.reduceat(samples, starts), np.maximum.reduceat(samples, starts)


def outline(samples: Samples, columns: int = COLUMNS) -> str:
    """Lowest and highest sample of each column as one closed SVG path.

    Args:
        samples: (T,) float32.
        columns: How many, at most: clips shorter than this many samples get one for each.

    Returns:
        A path in a box of ``columns`` by ``2 * HALF_HEIGHT``, scaled so that the loudest sample touches an edge, half a
        unit thick at least, so that silence is a line and not nothing. Empty without samples.
    """
    lowest, highest = envelope(samples, columns)
    if lowest.shape[0] == 0:
        return ""
    scale = HALF_HEIGHT / max(float(np.max(np.abs(samples))), 1e-9)
    top = HALF_HEIGHT - highest * scale - 0.25
    bottom = HALF_HEIGHT - lowest * scale + 0.25
    x = (np.arange(lowest.shape[0]) + 0.5) * (columns / lowest.shape[0])
    there = [f"{a:.4g} {b:.1f}" for a, b in zip(x, top, strict=True)]
    back = [f"{a:.4g} {b:.1f}" for a, b in zip(x[::-1], bottom[::-1], strict=True)]
    return "M" + "L".join([*there, *back]) + "Z"


def peak_dbfs(samples: Samples) -> float | None:
    """Largest absolute sample; None for silence."""
    peak = float(np.max(np.abs(samples), initial=0.0))
    return float(20.0 * np.log10(peak)) if peak > 0.0 else None


def axis_ticks(duration_s: float) -> list[float]:
    """Round times from zero up to the end, seconds, at most seventeen."""
    step_s = next((s for s in _STEPS_S if duration_s / s <= _MAX_TICKS), duration_s / _MAX_TICKS)
    return [round(k * step_s, 3) for k in range(int(duration_s / step_s + 1e-9) + 1)] if step_s else [0.0]


def place(time_s: float, duration_s: float) -> str:
    """A place on the time axis as an SVG length."""
    return f"{min(100.0, max(0.0, 100.0 * time_s / duration_s if duration_s else 0.0)):.3f}%"


def extent(start_s: float, end_s: float, duration_s: float) -> dict[str, Any]:
    """A stretch of time with its place on the axis."""
    return {
        "start_s": start_s,
        "end_s": end_s,
        "at": place(start_s, duration_s),
        "width": place(end_s - start_s, duration_s),
        "middle": place((start_s + end_s) / 2, duration_s),
    }


def wav_data_uri(samples: Samples, sample_rate_hz: int) -> str:
    """A 16-bit WAV in a data URI, for a player only: wider samples are rounded, overshoots held at full scale."""
    scaled = np.rint(samples.astype(np.float64) * 2**15)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(sample_rate_hz)
        file.writeframes(np.clip(scaled, -(2**15), 2**15 - 1).astype("<i2").tobytes())
    return "data:audio/wav;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
