"""The ratios that a run is judged by: ours over the other, so that smaller is better (``ratio_batch8``: larger).

    ratio_ms_per_frame_tiny        our fastest float row over the peer, at tiny shapes
    ratio_ms_per_frame_0p6b        the same at the shapes of the 0.6B
    ratio_ms_per_frame_0p6b_int8   the int8 row over the peer, there
    ratio_second_first_audio       first audio of a voice's second request over that of its first
    ratio_batch8                   audio seconds a second of 8 clients over those of one

None is what was not measured. Each has a ``..._row`` beside it: the row of ours that it is of.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from refprep.bench.synth_frame import OURS

NAMES = (
    "ratio_ms_per_frame_tiny",
    "ratio_ms_per_frame_0p6b",
    "ratio_ms_per_frame_0p6b_int8",
    "ratio_second_first_audio",
    "ratio_batch8",
)
_INT8 = f"{OURS}-int8"


def ratios_of(
    shapes: str,
    engines: Mapping[str, Mapping[str, Any]],
    peer: str | None,
    measurements: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """All ratios, and whose they are.

    Args:
        shapes: Of the checkpoint: ``synth_facts.shapes_label``.
        engines: Summaries of the frame part, by row.
        peer: The other engine's name among them.
        measurements: Of the load and the clone part.
    """
    found: dict[str, Any] = {}
    for name in NAMES:
        found[name] = found[f"{name}_row"] = None

    def put(name: str, value: float | None, row: str) -> None:
        if value is not None:
            found[name], found[f"{name}_row"] = round(value, 4), row

    best = fastest(engines)
    if peer is not None and peer in engines:
        theirs = engines[peer]["ms_per_frame"]
        key = {"tiny": "ratio_ms_per_frame_tiny", "0.6b": "ratio_ms_per_frame_0p6b"}.get(shapes)
        if key is not None and best is not None:
            put(key, engines[best]["ms_per_frame"] / theirs, row_name(best))
        if shapes == "0.6b" and _INT8 in engines:
            put("ratio_ms_per_frame_0p6b_int8", engines[_INT8]["ms_per_frame"] / theirs, row_name(_INT8))
    put("ratio_second_first_audio", *_second_over_first(measurements))
    put("ratio_batch8", *_batch_gain(measurements))
    return found


def fastest(engines: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Our row with the least time a frame, int8 left out: it is other numbers."""
    ours = [name for name in engines if name.startswith(OURS) and name != _INT8]
    return min(ours, key=lambda name: float(engines[name]["ms_per_frame"]), default=None)


def row_name(engine: str) -> str:
    """``eager``, ``compiled``, ``graph`` or ``int8``."""
    return engine.removeprefix(OURS).removeprefix("-") or "eager"


def _second_over_first(measurements: Sequence[Mapping[str, Any]]) -> tuple[float | None, str]:
    """Median over the voices, each against itself."""
    clones = [m for m in measurements if m["load"]["kind"] == "clone"]
    firsts = {m["load"]["reference"]: [s["playable_ms"] for s in m["samples"]] for m in clones}
    pairs = zip(firsts.get("cold", []), firsts.get("cached", []), strict=True)
    quotients = [cached / cold for cold, cached in pairs if cold and cached]
    return (statistics.median(quotients), _row(clones)) if quotients else (None, "")


def _batch_gain(measurements: Sequence[Mapping[str, Any]]) -> tuple[float | None, str]:
    closed = [m for m in measurements if m["load"]["kind"] == "closed"]
    rates = {m["load"]["c"]: m["results"]["audio_s_per_s"] for m in closed}
    one, eight = rates.get(1), rates.get(8)
    return (eight / one, _row(closed)) if one and eight else (None, "")


def _row(measurements: Sequence[Mapping[str, Any]]) -> str:
    return str(measurements[0]["engine"]["flags"]["mode"])
