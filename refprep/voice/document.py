"""BuiltVoice -> voice.json."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from refprep import __version__
from refprep.pipeline.build import BuiltVoice
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.select import Selection
from refprep.text.words import join_texts
from refprep.types import Samples
from refprep.voice.clip_row import clip_row, finding_row, finite, refusal_row, stored_path
from refprep.voice.names import AUDIO_NAME, SCHEMA_VERSION, TEXT_NAME, nested_names, sha256_of_file


def voice_document(voice: BuiltVoice, *, speaker: str, written: Path) -> dict[str, Any]:
    """What goes into voice.json.

    Args:
        voice: The built voice.
        speaker: Speaker id; may be empty.
        written: Folder with the audio and the text as they will be.
    """
    reference, folder = voice.reference, voice.folder
    return {
        "schema_version": SCHEMA_VERSION,
        "refprep_version": __version__,
        "speaker_id": speaker,
        "language": reference.language,
        "is_verified": voice.joined.is_verified,
        "text": reference.text,
        "audio": _audio(written / AUDIO_NAME, reference.samples, voice)
        | {"sample_format": reference.sample_format.value},
        "text_file": {"file": TEXT_NAME, "file_sha256": sha256_of_file(written / TEXT_NAME)},
        "gap_policy": reference.gap_policy,
        "tail_policy": reference.tail_policy,
        "silences": [asdict(s) for s in reference.silences],
        "room_tone_sample": reference.room_tone_sample,
        "nested": [_nested(voice, k, written) for k in range(len(reference.nested))],
        "clips": [
            {
                **clip_row(voice.candidates[index], folder),
                "start_sample": joined.start_sample,
                "end_sample": joined.end_sample,
            }
            for joined, index in zip(reference.clips, voice.chosen, strict=True)
        ],
        "consent": _consent(voice),
        "selection": _selection(voice.selection),
        "joined_check": _joined(voice),
        "similarity": {
            "encoder": voice.verifiers[0].model,
            "scale": voice.verifiers[0].scale,
            "threshold": voice.verifiers[0].threshold,
            "paths": [stored_path(voice.candidates[i].path, folder) for i in voice.proof.compared],
            "scores": [[round(float(s), 4) for s in row] for row in voice.proof.scores],
        },
        "encoders": [
            {
                "encoder": v.model,
                "scale": v.scale,
                "threshold": v.threshold,
                "window_threshold": v.window_threshold,
                "calibrated_on": v.calibration.source if v.calibration is not None else "",
            }
            for v in voice.verifiers
        ],
        "controls": list(voice.proof.controls),
        "refused": [refusal_row(c, folder) for c in voice.candidates if c.refusal is not None],
        "not_chosen": [
            {**clip_row(c, folder), "reason": _spare_reason(voice, i)}
            for i, c in enumerate(voice.candidates)
            if c.refusal is None and i not in voice.chosen
        ],
        "models": dict(voice.models),
        "weights": {model: dict(files) for model, files in voice.weights.items()},
    }


def _audio(path: Path, samples: Samples, voice: BuiltVoice) -> dict[str, Any]:
    rate_hz = voice.reference.sample_rate_hz
    return {
        "file": path.name,
        "file_sha256": sha256_of_file(path),
        "pcm_sha256": pcm_sha256(samples, rate_hz),
        "sample_rate_hz": rate_hz,
        "num_samples": int(samples.shape[0]),
        "duration_s": round(int(samples.shape[0]) / rate_hz, 6),
    }


def _nested(voice: BuiltVoice, number: int, written: Path) -> dict[str, Any]:
    """A shorter reference that is a prefix of the whole one."""
    reference = voice.reference
    num_clips = reference.nested[number]
    audio, text = nested_names(voice.nested_s[number])
    return {
        **_audio(written / audio, reference.samples[: reference.nested_samples(number)], voice),
        "num_clips": num_clips,
        "text": join_texts([c.text for c in reference.clips[:num_clips]]),
        "text_file": {"file": text, "file_sha256": sha256_of_file(written / text)},
        "selection": _selection(voice.selections[number]),
    }


def _selection(selection: Selection) -> dict[str, Any]:
    return {
        "proof": selection.proof,
        "is_optimal": selection.is_optimal,
        "min_pairwise_score": finite(selection.min_pairwise_score),
        "steps": [asdict(step) for step in selection.steps],
    }


def _joined(voice: BuiltVoice) -> dict[str, Any]:
    joined, check = voice.joined, voice.joined.text
    return {
        "verdict": check.verdict.value,
        "reason": check.reason,
        "coverage": round(check.coverage.ratio, 4),
        "error_rate": round(check.error_rate, 4),
        "heard_text": check.heard.text,
        "min_window_score": finite(joined.min_window_score),
        "window_threshold": joined.window_threshold,
        "findings": [finding_row(f) for f in joined.findings],
    }


def _consent(voice: BuiltVoice) -> dict[str, Any]:
    """What the chosen clips' rows say of consent."""
    said = Counter(voice.candidates[i].utterance.consent for i in voice.chosen)
    without = said.pop("", 0)
    return {
        "statements": [{"text": text, "clips": count} for text, count in said.most_common()],
        "clips_without": without,
    }


def _spare_reason(voice: BuiltVoice, index: int) -> str:
    for one, other, why in voice.duplicates:
        twin = {one: other, other: one}.get(index)
        if twin is not None and twin in voice.chosen:
            return f"a near-duplicate of {stored_path(voice.candidates[twin].path, voice.folder)}: {why}"
    return "admissible; the chosen set is better without it"
