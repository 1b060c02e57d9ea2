"""A voice -> shorter voices that begin as it does: whole clips, the same samples, for references of several lengths."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refprep.errors import UsageError
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.wav import write_wav
from refprep.text.words import join_texts
from refprep.types import Reference
from refprep.voice.names import AUDIO_NAME, TEXT_NAME, VOICE_NAME, sha256_of_file
from refprep.voice.read import Voice


def nearest_prefixes(reference: Reference, lengths_s: Sequence[float]) -> tuple[int, ...]:
    """Numbers of clips whose ends lie nearest to some lengths; each once, rising.

    Args:
        reference: With its silences.
        lengths_s: Wanted, in any order.

    Raises:
        UsageError: Fewer than two references come of it.
    """
    ends_s = [s.end_sample / reference.sample_rate_hz for s in reference.silences]
    found = sorted({1 + min(range(len(ends_s)), key=lambda k: abs(ends_s[k] - s)) for s in lengths_s})
    if len(found) < 2:
        ends = ", ".join(f"{s:.1f}" for s in ends_s)
        raise UsageError(
            f"its clips end at {ends} s, so these lengths are one reference",
            where="--nested",
            fix="Give lengths that are further apart, or a voice of more and shorter clips.",
        )
    return tuple(found)


def write_prefix(voice: Voice, reference: Reference, num_clips: int, folder: Path) -> Path:
    """Write a voice of the first clips of another, for as long as it is compared.

    Args:
        voice: The whole one.
        reference: Its samples.
        num_clips: Of the shorter one.
        folder: To write; it must not exist.

    Returns:
        The folder: audio, text and voice.json, whose selection and proof are left out: nobody chose this set.
    """
    folder.mkdir(parents=True)
    samples = reference.samples[: reference.silences[num_clips - 1].end_sample]
    text = join_texts([c.text for c in reference.clips[:num_clips]])
    audio = folder / AUDIO_NAME
    write_wav(audio, samples, reference.sample_rate_hz, reference.sample_format)
    (folder / TEXT_NAME).write_text(text + "\n", encoding="utf-8")
    tone = reference.room_tone_sample
    document: dict[str, Any] = {
        **voice.document,
        "text": text,
        "text_file": {"file": TEXT_NAME, "file_sha256": sha256_of_file(folder / TEXT_NAME)},
        "audio": {
            "file": AUDIO_NAME,
            "file_sha256": sha256_of_file(audio),
            "pcm_sha256": pcm_sha256(samples, reference.sample_rate_hz),
            "sample_rate_hz": reference.sample_rate_hz,
            "num_samples": len(samples),
            "duration_s": round(len(samples) / reference.sample_rate_hz, 6),
        },
        "clips": voice.document["clips"][:num_clips],
        "silences": voice.document["silences"][:num_clips],
        "room_tone_sample": tone if tone is not None and tone < len(samples) else None,
        "nested": [],
    }
    (folder / VOICE_NAME).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return folder
