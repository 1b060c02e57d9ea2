"""Candidate -> its row in voice.json."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from refprep.linter.render import finding_json
from refprep.linter.rule import Finding
from refprep.pipeline.candidate import Candidate
from refprep.types import Identity

_QUALITY = (
    "loudness_lufs",
    "speech_level_dbfs",
    "true_peak_dbtp",
    "snr_db",
    "clipped_ratio",
    "bandwidth_hz",
    "leading_silence_s",
    "trailing_silence_s",
    "pace_per_s",
)


def clip_row(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """All that is known of a clip; what was not looked at is left out.

    Args:
        candidate: The clip.
        folder: Of the voice: paths are told relative to it.
    """
    clip, check, quality = candidate.clip, candidate.check, candidate.quality
    row: dict[str, Any] = {"path": stored_path(candidate.path, folder), "text": candidate.text}
    if clip is not None:
        row |= {
            "file_sha256": clip.source.file_sha256,
            "pcm_sha256": clip.id,
            "source_pcm_sha256": candidate.source_pcm_sha256,
            "sample_rate_hz": clip.sample_rate_hz,
            "num_samples": clip.num_samples,
            "container": clip.source.container,
            "codec": clip.source.codec,
            "num_channels": clip.source.num_channels,
            "downmix": clip.source.downmix.value,
            "converted_from": candidate.converted_from,
        }
    row["text_origin"] = candidate.text_origin
    if check is not None:
        row["coverage"] = {
            "verdict": check.verdict.value,
            "ratio": round(check.coverage.ratio, 4),
            "error_rate": round(check.error_rate, 4),
            "words": [
                [w.text, round(w.span.start_s, 3), round(w.span.end_s, 3)] for w in check.alignment.words
            ],
        }
    if quality is not None:
        row["quality"] = {name: finite(getattr(quality, name)) for name in _QUALITY}
    if candidate.identities:
        first, *others = candidate.identities
        row["identity"] = _identity_row(first)
        if others:
            row["further_identities"] = [_identity_row(i) for i in others]
    row["findings"] = [finding_row(f) for f in candidate.findings]
    if candidate.utterance.speaker:
        row["speaker_id"] = candidate.utterance.speaker
    if candidate.utterance.extra:
        row["provenance"] = {k: v for k, v in candidate.utterance.extra.items() if _is_plain(v)}
    return row


def _identity_row(identity: Identity) -> dict[str, Any]:
    return {
        "encoder": identity.model,
        "scale": identity.scale,
        "min_pairwise_score": finite(identity.min_pairwise_score),
        "mean_pairwise_score": finite(identity.mean_pairwise_score),
        "centroid_score": finite(identity.centroid_score),
        "min_window_score": finite(identity.min_window_score),
        "margin": finite(identity.margin),
        "control_scores": {k: round(v, 5) for k, v in identity.control_scores.items()},
    }


def finding_row(finding: Finding) -> dict[str, Any]:
    """A finding without its path: that stands above, relative to the folder; the caller's own would leak where clips were."""
    return {k: v for k, v in finding_json(finding).items() if k != "path"}


def refusal_row(candidate: Candidate, folder: Path) -> dict[str, Any]:
    """A refused clip, with the finding that refused it."""
    row = clip_row(candidate, folder)
    refusal = candidate.refusal
    if refusal is not None:
        row |= {"code": refusal.code, "reason": refusal.message, "remedy": refusal.remedy}
    return row


def stored_path(path: str, folder: Path) -> str:
    """Relative to the voice's folder where that is possible, so that voice and clips can move together."""
    try:
        stored = Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        stored = Path(path).resolve().as_posix()
    # A file name need not be UTF-8; JSON must be.
    return stored.encode("utf-8", "backslashreplace").decode("utf-8")


def finite(value: float | None) -> float | None:
    """Rounded to five decimals; None for infinities, which JSON does not have."""
    return round(float(value), 5) if value is not None and np.isfinite(value) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool) or value is None
