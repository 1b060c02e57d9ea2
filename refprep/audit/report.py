"""Audit -> JSON, and lines for people. The HTML report is made of the same JSON (``refprep.report.audit``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from refprep.audit.agreement import Agreement
from refprep.audit.matrix import CHUNK_FRAMES, Audit, Cell, EncoderRow
from refprep.audit.round_trip import Likeness

SCHEMA_VERSION = 1


def audit_json(
    audit: Audit, *, voice: str, model: str, weights: str, device: str, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """All that was measured; its schema is manifests/audit.schema.json.

    Args:
        audit: Of a voice under a model.
        voice: Its folder.
        model: As it was named.
        weights: ``random``, or ``as given``.
        device: That computed.
        notes: Of what was left out before the audit began.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "voice": voice,
        "model": model,
        "weights": weights,
        "device": device,
        "codec": audit.codec,
        "frames": audit.frames,
        "passed": audit.passed,
        "stored_dtypes": list(audit.stored),
        "is_refused_by_encode": audit.is_refused,
        "float32": {
            "repeats": audit.exactness.repeats,
            "prefix_agreement": _rounded(audit.exactness.prefix),
            "passed": audit.exactness.passed,
        },
        "chunking": {"chunk_frames": CHUNK_FRAMES, "how": audit.chunking},
        "original": [_likeness(x) for x in audit.original],
        "encoders": [_encoder(row) for row in audit.encoders],
        "decoders": [{"precision": p, **_difference(db)} for p, db in audit.decoders.items()],
        "cells": [_cell(cell) for cell in audit.cells],
        "notes": [*notes, *audit.notes],
    }


def audit_lines(document: dict[str, Any]) -> list[str]:
    """The document without its tables: what was looked at, the verdicts with their evidence, the notes."""
    exact = document["float32"]
    lines = [f"{document['voice']}: {document['codec']}, {document['frames']} frames"]
    if document["weights"] == "random":
        lines.append("note: the weights are random numbers: agreement is real, and voices are noise")
    stored = ", ".join(document["stored_dtypes"])
    if document["is_refused_by_encode"]:
        lines.append(
            f"RP501 error: the encoder's weights are stored as {stored}; `refprep encode` refuses them, and what is called "
            "exact below is float32 arithmetic on rounded weights"
        )
    prefix = exact["prefix_agreement"]
    half = "" if prefix is None else f"; a clip's first half keeps {prefix:.1%} of its codes"
    lines.append(
        f"float32: {'the same codes twice' if exact['repeats'] else 'NOT THE SAME CODES TWICE'}{half}: "
        f"{'consistent' if exact['passed'] else 'INCONSISTENT, nothing below means anything'}"
    )
    if document["original"]:
        lines.append(f"the reference against itself: {likeness_text(document['original'])}")
    for row in document["encoders"][1:]:
        lines.append(f"encoder {row['precision']}: {row['verdict']['kind']}. {row['verdict']['words']}")
        lines += [f"  {clause}" for clause in row["verdict"]["evidence"]]
    lines += [f"note: {note}" for note in document["notes"]]
    return lines


def encoder_table(document: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: every encoder against the exact one."""
    header = [
        "encoder",
        "verdict",
        "all codes",
        "codebook 0",
        "first / last quarter",
        "early / middle / late",
    ]
    header += ["chance", "states", "first other frame", "chunked", "audio", "likeness"]
    rows = []
    for row in document["encoders"]:
        curve = row["agreement"]["per_codebook"]
        quarter = max(1, len(curve) // 4)
        windows = row["agreement"]["windows"]
        rows.append(
            [
                row["precision"],
                row["verdict"]["kind"],
                _percent(row["agreement"]["mean"]),
                _percent(curve[0]),
                f"{_percent(_mean(curve[:quarter]))} / {_percent(_mean(curve[-quarter:]))}",
                " / ".join(_percent(_mean(windows[name])) for name in windows),
                _percent(_mean(row["agreement"]["chance"])),
                f"{row['distance']['worst']:.3f}" if row["distance"]["worst"] is not None else "no numbers",
                "-" if (at := row["agreement"]["first_difference"]) is None else str(at),
                "-" if row["chunked"] is None else _percent(row["chunked"]["mean"]),
                difference_text(row["audio"]),
                likeness_text(row["likeness"]),
            ]
        )
    return header, rows


def cell_table(document: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the matrix."""
    header = [
        "generator",
        "encoder",
        "decoder",
        "logits",
        "same choice",
        "written codes",
        "decoder's audio",
        "likeness",
    ]
    rows = [
        [
            cell["generator"],
            cell["encoder"],
            cell["decoder"],
            f"{cell['logit_shift']['rel_diff']:.4f}",
            _percent(cell["logit_shift"]["same_choice"]),
            _percent(cell["written"]["mean"]),
            difference_text(cell["decoder_audio"]),
            likeness_text(cell["likeness"]),
        ]
        for cell in document["cells"]
    ]
    return header, rows


def difference_text(found: dict[str, Any]) -> str:
    """A level of difference for people."""
    if found["is_identical"]:
        return "the same"
    return "-" if found["difference_db"] is None else f"{found['difference_db']:.1f} dB"


def likeness_text(found: Sequence[dict[str, Any]]) -> str:
    """Scores of the windows, encoder by encoder, each beside the nearest other person."""
    parts = []
    for one in found:
        windows = " ".join(
            f"{w['score']:.2f}" + ("" if w["control_score"] is None else f" (other {w['control_score']:.2f})")
            for w in one["windows"]
        )
        parts.append(f"{one['encoder']} {windows}")
    return "; ".join(parts) or "-"


def _encoder(row: EncoderRow) -> dict[str, Any]:
    return {
        "precision": row.precision,
        "verdict": {
            "kind": row.verdict.kind.value,
            "words": row.verdict.words,
            "evidence": list(row.verdict.evidence),
        },
        "agreement": _agreement(row.agreement),
        "distance": {
            "whole": _rounded(row.distance.whole),
            "worst": _rounded(row.distance.worst),
            "windows": {name: _rounded(v) for name, v in row.distance.windows.items()},
        },
        "chunked": None if row.chunked is None else _agreement(row.chunked),
        "audio": _difference(row.audio_db),
        "likeness": [_likeness(x) for x in row.likeness],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "generator": cell.generator,
        "encoder": cell.encoder,
        "decoder": cell.decoder,
        "logit_shift": {
            "rel_diff": _rounded(cell.shift.rel_diff),
            "same_choice": _rounded(cell.shift.same_choice),
        },
        "written": _agreement(cell.written),
        "decoder_audio": _difference(cell.decoder_db),
        "likeness": [_likeness(x) for x in cell.likeness],
    }


def _agreement(found: Agreement) -> dict[str, Any]:
    return {
        "mean": _rounded(found.mean),
        "per_codebook": [_rounded(v) for v in found.per_codebook],
        "windows": {name: [_rounded(v) for v in part] for name, part in found.windows.items()},
        "chance": [_rounded(v) for v in found.chance],
        "first_difference": found.first_difference,
        "frames": found.frames,
    }


def _likeness(found: Likeness) -> dict[str, Any]:
    return {
        "encoder": found.encoder,
        "scale": found.scale,
        "windows": [
            {"name": n, "score": _rounded(v), "control_score": _rounded(found.controls[n])}
            for n, v in found.windows.items()
        ],
    }


def _difference(value_db: float | None) -> dict[str, Any]:
    return {"difference_db": _rounded(value_db), "is_identical": value_db == -math.inf}


def _rounded(value: float | None) -> float | None:
    return round(value, 6) if value is not None and math.isfinite(value) else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _percent(value: float) -> str:
    return f"{value:.1%}"
