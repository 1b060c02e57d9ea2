"""The similarity matrix as a table: who was compared, what became of them, how alike they are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

# A table larger than this is read by nobody; voice.json holds the whole one.
MAX_ROWS = 40
MAX_CONTROLS = 6
SHADES = 5

_ORDER = {"chosen": 0, "not chosen": 1, "refused": 2}
_STRANGERS_COSINE = 0.35
"""So far below the threshold of one voice cosines of strangers get the deepest shade."""
_NORMED_ROOM = 4.0
"""Of as-norm scores, whose unit is the cohort's standard deviation: GE2E's threshold is 3, strangers lie about 0 and clips
of one voice run up to 8. Scores have no upper end there, as cosines have."""


def matrix_view(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Rows, cells and control columns of the heat map; None where nothing was compared.

    Chosen clips come first, in the order of the reference, then admissible ones, then refused ones, so that a voice
    shows as one block.
    """
    similarity = document.get("similarity") or {}
    paths: Sequence[str] = similarity.get("paths") or []
    scores: Sequence[Sequence[float]] = similarity.get("scores") or []
    if not paths or len(scores) != len(paths):
        return None
    threshold, scale = similarity.get("threshold"), str(similarity.get("scale") or "cosine")
    edges = () if threshold is None else shade_edges(threshold, scale)
    known = _known(document)
    shown = sorted(range(len(paths)), key=lambda i: (_place(known, paths[i]), i))[:MAX_ROWS]
    controls = _nearest_controls(known)
    rows = []
    for number, i in enumerate(shown, start=1):
        status, _, row = known.get(paths[i], _UNKNOWN)
        own = _control_scores(row)
        rows.append(
            {
                "number": number,
                "path": paths[i],
                "status": status,
                "code": row.get("code", ""),
                "cells": [None if i == j else _cell(scores[i][j], edges) for j in shown],
                "controls": [_cell(own.get(name), edges, is_control=True) for name in controls],
            }
        )
    num_controls = len({n for _, _, row in known.values() for n in _control_scores(row)})
    return {
        "rows": rows,
        "controls": controls,
        "encoder": similarity.get("encoder", ""),
        "scale": scale,
        "threshold": threshold,
        "edges": edges,
        "rows_left_out": len(paths) - len(shown),
        "controls_left_out": num_controls - len(controls),
    }


def shade_edges(threshold: float, scale: str) -> tuple[float, ...]:
    """Where one shade ends and the next begins, rising: five shades below the threshold, five from it on.

    Args:
        threshold: Lowest score of one voice.
        scale: ``cosine``, which ends at 1, or ``as-norm``, which has no end.

    Returns:
        ``2 * SHADES - 1`` scores, the threshold in the middle; the outermost shades are open.
    """
    is_normed = scale == "as-norm"
    above = _NORMED_ROOM if is_normed else max(1.0 - threshold, 1e-6)
    below = _NORMED_ROOM if is_normed else _STRANGERS_COSINE
    steps = range(1, SHADES)
    return (
        *(threshold - below * k / SHADES for k in reversed(steps)),
        threshold,
        *(threshold + above * k / SHADES for k in steps),
    )


def shade_of(score: float, edges: Sequence[float]) -> int:
    """-5 (deepest below the threshold) to 5 (deepest above it), never 0: a score on the threshold is one voice."""
    number = bisect_right(edges, score)
    return number - SHADES if number < SHADES else number - SHADES + 1


_UNKNOWN: tuple[str, int, Mapping[str, Any]] = ("refused", 0, {})


def _known(document: Mapping[str, Any]) -> dict[str, tuple[str, int, Mapping[str, Any]]]:
    """Path -> (what became of it, its place there, its row).

    A file given twice is refused the second time: the first entry counts.
    """
    known: dict[str, tuple[str, int, Mapping[str, Any]]] = {}
    for status, key in (("chosen", "clips"), ("not chosen", "not_chosen"), ("refused", "refused")):
        for place, row in enumerate(document.get(key) or []):
            known.setdefault(str(row.get("path", "")), (status, place, row))
    return known


def _place(known: Mapping[str, tuple[str, int, Mapping[str, Any]]], path: str) -> tuple[int, int]:
    status, place, _ = known.get(path, _UNKNOWN)
    # The numbers of the chosen rows are those of the clips in the waveform.
    return _ORDER[status], place if status == "chosen" else 0


def _control_scores(row: Mapping[str, Any]) -> Mapping[str, float]:
    return (row.get("identity") or {}).get("control_scores") or {}


def _nearest_controls(known: Mapping[str, tuple[str, int, Mapping[str, Any]]]) -> list[str]:
    """The controls that come nearest to any chosen clip, nearest first."""
    best: dict[str, float] = {}
    for status, _, row in known.values():
        for name, score in _control_scores(row).items():
            # A refused clip is another voice: who it resembles says nothing about this one.
            best[name] = max(best.get(name, float("-inf")), score if status == "chosen" else float("-inf"))
    return sorted(best, key=lambda name: (-best[name], name))[:MAX_CONTROLS]


def _cell(value: float | None, edges: Sequence[float], *, is_control: bool = False) -> dict[str, Any] | None:
    """A score with the shade it gets: deeper the further it lies from the threshold, on its own side."""
    if value is None:
        return None
    if not edges:
        return {"value": value, "depth": 0, "shade": "plain"}
    depth = shade_of(value, edges)
    side = "above" if depth > 0 else "below"
    return {
        "value": value,
        "depth": depth,
        "shade": f"control {side}" if is_control else f"{side} s{abs(depth)}",
    }
