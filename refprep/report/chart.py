"""A chart of one number per clip -> places in an SVG that keeps its text's size at every width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refprep.report.levels import LevelChart

HEIGHT = 150
"""Pixels."""
_TOP, _BOTTOM = 16.0, 124.0
_LEFT, _RIGHT = 15.0, 97.0
"""Percent of the width; on the left stand the numbers."""
_MAX_NUMBERS = 12
"""At the foot: as many two-digit numbers as 220 px hold."""


def chart_view(chart: LevelChart, clips: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Places of the dots, the median and the band in which clips are like each other.

    Args:
        chart: What to draw.
        clips: The chosen clips with their places in time, so that a dot can be heard.
    """
    low, high = chart.extremes
    room = max(high - low, 1e-9)

    def height(value: float) -> float:
        return round(_BOTTOM - (value - low) / room * (_BOTTOM - _TOP), 1)

    count = len(chart.points)
    step = (_RIGHT - _LEFT) / max(count, 1)
    every = -(-sum(p.number is not None for p in chart.points) // _MAX_NUMBERS)
    by_number = {clip["number"]: clip for clip in clips}
    return {
        "chart": chart,
        "height": HEIGHT,
        "left": f"{_LEFT:g}%",
        "foot": HEIGHT - 8,
        "median_y": height(chart.median),
        "band_y": height(chart.highest),
        "band_height": round(height(chart.lowest) - height(chart.highest), 1),
        "low_y": height(chart.lowest),
        "points": [
            {
                "point": point,
                "clip": by_number.get(point.number),
                "x": f"{_LEFT + (k + 0.5) * step:.2f}%",
                "y": height(point.value),
                "label_y": height(point.value) + 4,
                "is_late": 2 * k >= count,
                "difference": point.value - chart.median,
                "is_numbered": point.number is not None and k % every == 0,
            }
            for k, point in enumerate(chart.points)
        ],
        "num_outliers": sum(p.is_outlier for p in chart.points),
    }
