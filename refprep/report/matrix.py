"""The similarity matrix as a table: who was compared, what became of them, how alike they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# A table larger than this is read by nobody; voice.json holds the whole one.
MAX_ROWS = 40
MAX_CONTROLS = 6
_SHADES = 5

_ORDER = {"chosen": 0, "not chosen": 1, "refused": 2}


def matrix_view(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Rows, cells and control columns of the heat map; None where nothing was compared.

    Chosen clips come first, then admissible ones, then refused ones, so that a voice shows as one block.
    """
    similarity = document.get("similarity") or {}
    paths: Sequence[str] = similarity.get("paths") or []
    cosines: Sequence[Sequence[float]] = similarity.get("cosines") or []
    if not paths or len(cosines) != len(paths):
        return None
    threshold = (document.get("selection") or {}).get("threshold")
    known = _known(document)
    order = sorted(range(len(paths)), key=lambda i: (_ORDER[_status(known, paths[i])], i))
    shown = order[:MAX_ROWS]
    controls = _nearest_controls(known)
    rows = []
    for number, i in enumerate(shown, start=1):
        status, row = known.get(paths[i], ("refused", {}))
        scores = _control_cosines(row)
        rows.append(
            {
                "number": number,
                "path": paths[i],
                "status": status,
                "cells": [None if i == j else _cell(cosines[i][j], threshold) for j in shown],
                "controls": [_cell(scores.get(name), threshold, is_control=True) for name in controls],
            }
        )
    num_controls = len({n for _, row in known.values() for n in _control_cosines(row)})
    return {
        "rows": rows,
        "controls": controls,
        "encoder": similarity.get("encoder", ""),
        "threshold": threshold,
        "rows_left_out": len(order) - len(shown),
        "controls_left_out": num_controls - len(controls),
    }


def _known(document: Mapping[str, Any]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Path -> (what became of it, its row). A file given twice is refused the second time: the first entry counts."""
    known: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for status, key in (("chosen", "clips"), ("not chosen", "not_chosen"), ("refused", "refused")):
        for row in document.get(key) or []:
            known.setdefault(str(row.get("path", "")), (status, row))
    return known


def _status(known: Mapping[str, tuple[str, Mapping[str, Any]]], path: str) -> str:
    return known[path][0] if path in known else "refused"


def _control_cosines(row: Mapping[str, Any]) -> Mapping[str, float]:
    return (row.get("identity") or {}).get("control_cosines") or {}


def _nearest_controls(known: Mapping[str, tuple[str, Mapping[str, Any]]]) -> list[str]:
    """The controls that come nearest to any chosen clip, nearest first."""
    best: dict[str, float] = {}
    for status, row in known.values():
        for name, cosine in _control_cosines(row).items():
            # A refused clip is another voice: who it resembles says nothing about this one.
            best[name] = max(best.get(name, -1.0), cosine if status == "chosen" else -1.0)
    return sorted(best, key=lambda name: (-best[name], name))[:MAX_CONTROLS]


def _cell(value: float | None, threshold: float | None, *, is_control: bool = False) -> dict[str, Any] | None:
    """A cosine with the shade it gets: deeper the further it lies from the threshold, on its own side."""
    if value is None:
        return None
    if threshold is None:
        return {"value": value, "shade": "plain"}
    room = 1.0 - threshold if value >= threshold else 0.35
    depth = min(_SHADES, 1 + int(abs(value - threshold) / max(room, 1e-6) * _SHADES))
    side = "above" if value >= threshold else "below"
    return {"value": value, "shade": f"control {side}" if is_control else f"{side} s{depth}"}
