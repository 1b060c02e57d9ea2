"""voice.json -> what lies where in the reference: clips, words, what was put between them, where shorter ones end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refprep.report.waveform import extent, place
from refprep.types import Reference


def clips_view(document: Mapping[str, Any], reference: Reference) -> list[dict[str, Any]]:
    """The chosen clips with their places and words, numbered from one."""
    return [_clip(row, number, reference) for number, row in enumerate(document.get("clips") or [], 1)]


def silences_view(
    document: Mapping[str, Any], clips: Sequence[Mapping[str, Any]], reference: Reference
) -> list[dict[str, Any]]:
    """What follows each clip: ``kind`` (gap or tail), ``policy``, ``filling`` (zeros or room-tone), and its place.

    Where voice.json does not say, it is whatever lies between the clips.
    """
    rate_hz, duration_s = reference.sample_rate_hz, reference.duration_s
    ends = {len(clips), *(n["num_clips"] for n in document.get("nested") or [])}
    rows = document.get("silences")
    if rows is None:
        starts = [*(clip["row"]["start_sample"] for clip in clips[1:]), int(reference.samples.shape[0])]
        rows = [
            {"policy": "", "start_sample": clip["row"]["end_sample"], "end_sample": start}
            for clip, start in zip(clips, starts, strict=False)
        ]
    found = []
    for number, row in enumerate(rows, start=1):
        kind = "tail" if number in ends else "gap"
        policy = str(row["policy"] or document.get(f"{kind}_policy") or "")
        if row["end_sample"] > row["start_sample"]:
            found.append(
                {
                    "kind": kind,
                    "policy": policy,
                    "filling": "room-tone" if policy.startswith("room-tone") else "zeros",
                    **extent(row["start_sample"] / rate_hz, row["end_sample"] / rate_hz, duration_s),
                }
            )
    return found


def tone_view(
    document: Mapping[str, Any], silences: Sequence[Mapping[str, Any]], reference: Reference
) -> dict[str, Any] | None:
    """The pause of a clip that room tone is a copy of; None without room tone."""
    start_sample = document.get("room_tone_sample")
    lengths_s = [s["end_s"] - s["start_s"] for s in silences if s["filling"] == "room-tone"]
    if start_sample is None or not lengths_s:
        return None
    start_s = start_sample / reference.sample_rate_hz
    return extent(start_s, start_s + max(lengths_s), reference.duration_s)


def nested_view(document: Mapping[str, Any], reference: Reference) -> list[dict[str, Any]]:
    """The shorter references, each a prefix of the whole one: file, clips, text, and where it ends."""
    found = []
    for row in document.get("nested") or []:
        end_s = row["num_samples"] / row["sample_rate_hz"]
        found.append(
            {
                "row": row,
                "end_s": end_s,
                "at": place(end_s, reference.duration_s),
                # A label that ends at a place needs room before it.
                "anchor": "end" if 2 * end_s >= reference.duration_s else "start",
            }
        )
    return found


def _clip(row: Mapping[str, Any], number: int, reference: Reference) -> dict[str, Any]:
    rate_hz, duration_s = reference.sample_rate_hz, reference.duration_s
    start_s = row["start_sample"] / rate_hz
    # Word times count from the clip's own start.
    words = [
        {"text": text, **extent(start_s + word_start_s, start_s + word_end_s, duration_s)}
        for text, word_start_s, word_end_s in (row.get("coverage") or {}).get("words") or []
    ]
    return {
        "number": number,
        "row": row,
        "words": words,
        **extent(start_s, row["end_sample"] / rate_hz, duration_s),
    }
