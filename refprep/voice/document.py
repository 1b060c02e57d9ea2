"""BuiltVoice -> voice.json."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from refprep import __version__
from refprep.linter.render import finding_json
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.candidate import Candidate
from refprep.pipeline.decode import pcm_sha256
from refprep.voice.names import AUDIO_NAME, SCHEMA_VERSION, TEXT_NAME, sha256_of_file


def voice_document(voice: BuiltVoice, *, speaker: str, written: Path) -> dict[str, Any]:
    """What goes into voice.json.

    Args:
        voice: The built voice.
        speaker: Speaker id; may be empty.
        written: Folder with the audio and the text as they will be.
    """
    reference, selection, check = voice.reference, voice.selection, voice.joined_check
    return {
        "schema_version": SCHEMA_VERSION,
        "refprep_version": __version__,
        "speaker_id": speaker,
        "language": reference.language,
        "text": reference.text,
        "audio": {
            "file": AUDIO_NAME,
            "file_sha256": sha256_of_file(written / AUDIO_NAME),
            "pcm_sha256": pcm_sha256(reference.samples, reference.sample_rate_hz),
            "sample_rate_hz": reference.sample_rate_hz,
            "sample_format": reference.sample_format.value,
            "num_samples": int(reference.samples.shape[0]),
            "duration_s": round(reference.duration_s, 6),
        },
        "text_file": {"file": TEXT_NAME, "file_sha256": sha256_of_file(written / TEXT_NAME)},
        "gap_policy": reference.gap_policy,
        "tail_policy": reference.tail_policy,
        "clips": [
            {
                **_clip_row(voice.candidates[index], voice.folder),
                "start_sample": joined.start_sample,
                "end_sample": joined.end_sample,
            }
            for joined, index in zip(reference.clips, voice.chosen, strict=True)
        ],
        "selection": {
            "proof": selection.proof,
            "is_optimal": selection.is_optimal,
            "min_pairwise_cosine": _finite(selection.min_pairwise_cosine),
            "threshold": voice.threshold,
        },
        "joined_check": {
            "verdict": check.verdict.value,
            "reason": check.reason,
            "coverage": round(check.coverage.ratio, 4),
            "error_rate": round(check.error_rate, 4),
            "heard_text": check.heard.text,
        },
        "similarity": {
            "encoder": voice.models["speaker_encoder"],
            "paths": [_stored_path(voice.candidates[i].path, voice.folder) for i in voice.compared],
            "cosines": [[round(float(c), 5) for c in row] for row in voice.cosines],
        },
        "controls": list(voice.controls),
        "refused": [_refusal_row(c, voice.folder) for c in voice.candidates if c.refusal is not None],
        "not_chosen": [
            {**_clip_row(c, voice.folder), "reason": "admissible; the chosen set is better without it"}
            for i, c in enumerate(voice.candidates)
            if c.refusal is None and i not in voice.chosen
        ],
        "models": dict(voice.models),
        "weights": {model: dict(files) for model, files in voice.weights.items()},
    }


def _clip_row(candidate: Candidate, folder: Path) -> dict[str, Any]:
    clip, check, quality, identity = candidate.clip, candidate.check, candidate.quality, candidate.identity
    row: dict[str, Any] = {"path": _stored_path(candidate.path, folder), "text": candidate.text}
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
        row["quality"] = {
            name: _finite(getattr(quality, name))
            for name in (
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
        }
    if identity is not None:
        row["identity"] = {
            "min_pairwise_cosine": _finite(identity.min_pairwise_cosine),
            "mean_pairwise_cosine": _finite(identity.mean_pairwise_cosine),
            "centroid_cosine": _finite(identity.centroid_cosine),
            "min_window_cosine": _finite(identity.min_window_cosine),
            "margin": _finite(identity.margin),
            "control_cosines": {k: round(v, 5) for k, v in identity.control_cosines.items()},
        }
    # The path stands above, relative to the folder: the caller's own would leak where the clips once were.
    row["findings"] = [{k: v for k, v in finding_json(f).items() if k != "path"} for f in candidate.findings]
    if candidate.utterance.speaker:
        row["speaker_id"] = candidate.utterance.speaker
    if candidate.utterance.extra:
        row["provenance"] = {k: v for k, v in candidate.utterance.extra.items() if _is_plain(v)}
    return row


def _refusal_row(candidate: Candidate, folder: Path) -> dict[str, Any]:
    row = _clip_row(candidate, folder)
    refusal = candidate.refusal
    if refusal is not None:
        row |= {"code": refusal.code, "reason": refusal.message, "remedy": refusal.remedy}
    return row


def _stored_path(path: str, folder: Path) -> str:
    """Relative to the voice's folder where that is possible, so that voice and clips can move together."""
    try:
        stored = Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        stored = Path(path).resolve().as_posix()
    # A file name need not be UTF-8; JSON must be.
    return stored.encode("utf-8", "backslashreplace").decode("utf-8")


def _finite(value: float | None) -> float | None:
    return round(float(value), 5) if value is not None and np.isfinite(value) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool) or value is None
