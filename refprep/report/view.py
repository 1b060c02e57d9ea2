"""voice.json and its samples -> the values that the page's template lays out. Nothing here is markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from refprep.report.chart import chart_view
from refprep.report.levels import level_charts, pace_unit
from refprep.report.matrix import matrix_view
from refprep.report.proof import (
    consent_view,
    encoders_view,
    joined_view,
    opinions,
    selections_view,
    verdict_view,
)
from refprep.report.timeline import clips_view, nested_view, silences_view, tone_view
from refprep.report.waveform import (
    COLUMNS,
    HALF_HEIGHT,
    axis_ticks,
    outline,
    peak_dbfs,
    place,
    wav_data_uri,
)
from refprep.types import Reference, SampleFormat


def report_view(document: Mapping[str, Any], reference: Reference, *, name: str) -> dict[str, Any]:
    """Everything the template reads, by name.

    Args:
        document: voice.json; optional parts may be missing.
        reference: The voice's samples.
        name: What to call a voice without a speaker id.
    """
    clips = clips_view(document, reference)
    silences = silences_view(document, clips, reference)
    return {
        "document": document,
        "title": document.get("speaker_id") or name or "Unnamed voice",
        "language": str(document.get("language") or ""),
        "duration_s": reference.duration_s,
        "verdict": verdict_view(document),
        "check": document.get("joined_check") or {},
        "joined": joined_view(document),
        "clips": clips,
        "silences": silences,
        "tone": tone_view(document, silences, reference),
        "nested": nested_view(document, reference),
        "ticks": [
            {"time_s": t, "at": place(t, reference.duration_s)} for t in axis_ticks(reference.duration_s)
        ],
        "outline": outline(reference.samples),
        "columns": COLUMNS,
        "height": 2 * HALF_HEIGHT,
        "peak_dbfs": peak_dbfs(reference.samples),
        "player_uri": wav_data_uri(reference.samples, reference.sample_rate_hz),
        "player_is_exact": reference.sample_format is SampleFormat.PCM_16,
        "sample_format": reference.sample_format.value,
        "sample_rate_hz": reference.sample_rate_hz,
        "pace_unit": pace_unit(document),
        "charts": [chart_view(chart, clips) for chart in level_charts(document)],
        "findings": [
            {
                **finding,
                "clip": clip,
                "seek_s": None if finding.get("start_s") is None else clip["start_s"] + finding["start_s"],
            }
            for clip in clips
            for finding in clip["row"].get("findings") or []
        ],
        "refused": [_refused_view(row, document) for row in _rows(document, "refused")],
        "not_chosen": [
            {"row": row, "duration_s": _duration_s(row), "opinions": opinions(row, document)}
            for row in _rows(document, "not_chosen")
        ],
        "selections": selections_view(document),
        "matrix": matrix_view(document),
        "encoders": encoders_view(document),
        "num_candidates": sum(len(_rows(document, k)) for k in ("clips", "refused", "not_chosen")),
        "consent": consent_view(document, len(clips)),
        "provenance": _provenance(clips),
    }


def _rows(document: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    return document.get(key) or []


def _refused_view(row: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """A refused clip with the finding that refused it (it knows where, and the right text) and its further errors."""
    findings = row.get("findings") or []
    cause: Mapping[str, Any] = next((f for f in findings if f.get("code") == row.get("code")), {})
    others = [f for f in findings if f is not cause and f.get("severity") == "error"]
    return {
        "row": row,
        "duration_s": _duration_s(row),
        "cause": cause,
        "others": others,
        "opinions": opinions(row, document),
    }


def _duration_s(row: Mapping[str, Any]) -> float | None:
    return row["num_samples"] / row["sample_rate_hz"] if row.get("sample_rate_hz") else None


def _provenance(clips: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Fields that all clips share, once; the others by clip; who has none. None where no clip has any."""
    rows = [clip["row"].get("provenance") or {} for clip in clips]
    if not any(rows):
        return None
    counts = Counter((key, repr(value)) for row in rows for key, value in row.items())
    shared = {
        key: value
        for key, value in rows[0].items()
        if counts[key, repr(value)] == len(rows) and len(rows) > 1
    }
    own = [
        {"clip": clip, "fields": {k: v for k, v in row.items() if k not in shared}}
        for clip, row in zip(clips, rows, strict=True)
    ]
    return {
        "shared": shared,
        "own": [o for o in own if o["fields"]],
        "without": [clip["number"] for clip, row in zip(clips, rows, strict=True) if not row],
    }
