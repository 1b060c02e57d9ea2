"""Agreement by codebook -> places in an SVG: one line an encoder, told apart by dash and by a name at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WIDTH, HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 610.0, 16.0, 262.0
_LABEL_STEP = 15.0  # between two names, so that both can be read
_MOST_TICKS = 16
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "1 4")


def curves_view(encoders: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lines, names, ticks; the exact encoder, which agrees with itself, is not drawn.

    Args:
        encoders: Rows of the audit's document, the exact one first.
    """
    drawn = encoders[1:]
    books = len(encoders[0]["agreement"]["per_codebook"])
    names = _labels([_y(row["agreement"]["per_codebook"][-1]) for row in drawn])
    every = -(-books // _MOST_TICKS)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": _LEFT,
        "right": _RIGHT,
        "label_x": _RIGHT + 8.0,
        "foot": _BOTTOM + 18.0,
        "middle": (_LEFT + _RIGHT) / 2,
        "lines": [
            {
                "name": row["precision"],
                "kind": row["verdict"]["kind"],
                "points": _points(row["agreement"]["per_codebook"]),
                "dash": _DASHES[number % len(_DASHES)],
                "label_y": names[number],
            }
            for number, row in enumerate(drawn)
        ],
        "chance": _points(_mean_chance(drawn, books)) if drawn else "",
        "levels": [{"y": _y(v), "text": f"{v:.0%}"} for v in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "ticks": [{"x": _x(k, books), "text": str(k)} for k in range(0, books, every)],
    }


def _points(values: Sequence[float]) -> str:
    return " ".join(f"{_x(k, len(values)):.1f},{_y(v):.1f}" for k, v in enumerate(values))


def _x(book: int, books: int) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * book / max(books - 1, 1), 1)


def _y(value: float) -> float:
    return round(_BOTTOM - value * (_BOTTOM - _TOP), 1)


def _labels(wanted: Sequence[float]) -> list[float]:
    """Heights near the wanted ones, none on another: from the lowest on the page upwards."""
    found = [0.0] * len(wanted)
    lowest = _BOTTOM
    for number in sorted(range(len(wanted)), key=lambda n: -wanted[n]):
        found[number] = min(wanted[number], lowest)
        lowest = found[number] - _LABEL_STEP
    return found


def _mean_chance(rows: Sequence[Mapping[str, Any]], books: int) -> list[float]:
    return [sum(row["agreement"]["chance"][k] for row in rows) / len(rows) for k in range(books)]
