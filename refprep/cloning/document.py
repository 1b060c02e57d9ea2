"""What a synthesis is, as JSON beside its audio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import refprep
from refprep.cloning.record import Attempt, CloneOptions, SpokenPiece, Streamed
from refprep.guard.budget import FrameBudget

SCHEMA_VERSION = 1


def spoken_document(
    spoken: Streamed, *, options: CloneOptions, facts: Mapping[str, Any], audio: str, audio_sha256: str
) -> dict[str, Any]:
    """All that was asked, and every attempt.

    Args:
        spoken: The job, done.
        options: It was spoken with.
        facts: About model, device and voice, as the caller knows them.
        audio: File name of the audio.
        audio_sha256: Of the file.
    """
    job = spoken.job
    return {
        "schema_version": SCHEMA_VERSION,
        "refprep_version": refprep.__version__,
        "audio": audio,
        "audio_sha256": audio_sha256,
        "passed": spoken.passed,
        "stop": spoken.stop.value,
        "text": job.text,
        "language": job.language or None,
        "seed": job.seed,
        "speaker": job.speaker,
        "instruct": job.instruct,
        **({} if job.tokens is None else {"tokens": job.tokens}),
        "sample_rate_hz": spoken.sample_rate_hz,
        "num_samples": spoken.num_samples,
        "duration_s": round(spoken.duration_s, 3),
        "first_audio_s": _rounded(spoken.first_audio_s),
        "wall_s": round(spoken.wall_s, 3),
        "rtf": round(spoken.wall_s / spoken.duration_s, 3) if spoken.duration_s else None,
        **facts,
        "sampling": asdict(options.sampling),
        "options": {k: v for k, v in asdict(options).items() if k != "sampling"},
        "pieces": [_piece(piece) for piece in spoken.pieces],
    }


def _piece(piece: SpokenPiece) -> dict[str, Any]:
    return {
        "text": piece.text,
        "chosen": piece.chosen,
        "budget": _budget(piece.attempts[0].budget),
        "attempts": [_attempt(a) for a in piece.attempts],
    }


def _budget(budget: FrameBudget) -> dict[str, Any]:
    return {
        "expected_s": round(budget.expected_s, 3),
        "max_s": round(budget.max_s, 3),
        "max_frames": budget.max_frames,
        "pace_per_s": round(budget.pace_per_s, 3),
        "pace_is_measured": budget.is_measured,
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    generated, signs = attempt.result.generated, attempt.signs
    return {
        "seed": generated.seed,
        "stop": attempt.stop.value,
        "passed": attempt.passed,
        "frames": generated.num_frames,
        "duration_s": round(attempt.result.duration_s, 3),
        "first_frame_s": _rounded(generated.first_frame_s),
        "first_audio_s": _rounded(attempt.result.first_audio_s),
        "wall_s": round(attempt.result.wall_s, 3),
        "guard": {
            "why": signs.why or None,
            "longest_repeat_frames": signs.longest_repeat_frames,
            "lowest_eos_rank": signs.lowest_eos_rank,
        },
        "faults": None if attempt.score is None else list(attempt.score.faults),
        "findings": None
        if attempt.score is None
        else [
            {"code": f.code, "severity": f.severity.value, "message": f.message}
            for f in attempt.score.findings
        ],
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
