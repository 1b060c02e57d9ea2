"""Loudness and pace of every clip against the others: which one stands out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from refprep.linter.rules.rp207 import CHARACTERS_PER_S, SYLLABLES_PER_S

# As many dots as 300 px keep apart.
MAX_POINTS = 60

_DEVIATIONS = 3.0
"""Scaled median absolute deviations from the median; Leys et al. 2013, "Detecting outliers", call three conservative."""
_TO_STANDARD_DEVIATION = 1.4826  # of normally distributed values, 1 / Phi^-1(3/4)
_SAME_LOUDNESS_LU = 1.0
"""EBU R 128 takes programmes within 1 LU of the target for as loud."""
_SAME_PACE = 0.1
"""Part of the median: twice what the estimate errs by (RP207)."""
_IN_CHARACTERS = ("zh", "ja", "ko", "yue")


@dataclass(frozen=True, slots=True)
class LevelPoint:
    """One clip in a chart.

    Attributes:
        number: In the reference; None for a clip that is not in it.
        path: Of its file.
        status: ``chosen``, ``not chosen`` or ``refused``.
        value: In the chart's unit.
        is_outlier: It lies outside of ``LevelChart.lowest`` to ``highest``.
    """

    number: int | None
    path: str
    status: str
    value: float
    is_outlier: bool


@dataclass(frozen=True, slots=True)
class LevelChart:
    """A number of every clip.

    Attributes:
        name: What is drawn.
        unit: Its unit.
        difference_unit: Of the distance of two values.
        points: In the order chosen, not chosen, refused; ``MAX_POINTS`` at most.
        left_out: How many more there are.
        median: Of the admissible clips.
        lowest, highest: Between them a clip is like the others.
        ordinary: What people usually speak like; None where nobody measured it.
    """

    name: str
    unit: str
    difference_unit: str
    points: tuple[LevelPoint, ...]
    left_out: int
    median: float
    lowest: float
    highest: float
    ordinary: tuple[float, float] | None

    @property
    def extremes(self) -> tuple[float, float]:
        """Lowest and highest value that has to be in the picture."""
        values = [p.value for p in self.points]
        return min(self.lowest, *values), max(self.highest, *values)


def level_charts(document: Mapping[str, Any]) -> tuple[LevelChart, ...]:
    """Loudness and pace; a chart that has no number of any admissible clip is left out.

    Args:
        document: voice.json; optional parts may be missing.
    """
    pace = pace_unit(document)
    charts = (
        _chart(document, "loudness_lufs", name="Loudness", units=("LUFS", "LU"), same=_SAME_LOUDNESS_LU),
        _chart(
            document,
            "pace_per_s",
            name="Pace",
            units=(pace, pace),
            same_part=_SAME_PACE,
            ordinary=CHARACTERS_PER_S if pace.startswith("characters") else SYLLABLES_PER_S,
        ),
    )
    return tuple(chart for chart in charts if chart is not None)


def pace_unit(document: Mapping[str, Any]) -> str:
    """What ``pace_per_s`` counts in the voice's language."""
    language = str(document.get("language") or "").split("-")[0].lower()
    return "characters/s" if language in _IN_CHARACTERS else "syllables/s"


def _chart(
    document: Mapping[str, Any],
    key: str,
    *,
    name: str,
    units: tuple[str, str],
    same: float = 0.0,
    same_part: float = 0.0,
    ordinary: tuple[float, float] | None = None,
) -> LevelChart | None:
    rows = [
        (number if status == "chosen" else None, str(row.get("path", "")), status, float(value))
        for status, part in (("chosen", "clips"), ("not chosen", "not_chosen"), ("refused", "refused"))
        for number, row in enumerate(document.get(part) or [], 1)
        if (value := (row.get("quality") or {}).get(key)) is not None
    ]
    # A refused clip may be anybody's: it is held against the others, and they are not held against it.
    admissible = [value for _, _, status, value in rows if status != "refused"]
    if not admissible:
        return None
    middle = median(admissible)
    spread = _TO_STANDARD_DEVIATION * median(abs(v - middle) for v in admissible)
    limit = max(same + same_part * abs(middle), _DEVIATIONS * spread)
    return LevelChart(
        name=name,
        unit=units[0],
        difference_unit=units[1],
        points=tuple(
            LevelPoint(number, path, status, value, abs(value - middle) > limit)
            for number, path, status, value in rows[:MAX_POINTS]
        ),
        left_out=max(0, len(rows) - MAX_POINTS),
        median=middle,
        lowest=middle - limit,
        highest=middle + limit,
        ordinary=ordinary,
    )
