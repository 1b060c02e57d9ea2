"""A folder of utterances: audio, text beside it, and a manifest of them all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refprep.atomic import replace_folder
from refprep.errors import UsageError
from refprep.pipeline.split import Utterance
from refprep.pipeline.wav import write_wav

MANIFEST_NAME = "utterances.jsonl"


def write_utterances(
    folder: Path, utterances: Sequence[Utterance], *, source: Path, speaker: str = ""
) -> list[dict[str, Any]]:
    """Write utterances as ``NAME_0001.wav`` with ``NAME_0001.txt``, and ``utterances.jsonl``; whole, or not at all.

    Args:
        folder: Where to; an earlier split is replaced.
        utterances: What to write.
        source: The recording they come from.
        speaker: Speaker id for the manifest; may be empty.

    Returns:
        The manifest's rows.

    Raises:
        UsageError: The folder holds something else.
        MachineError: The disk refused.
    """
    if folder.exists() and not (
        folder.is_dir() and ((folder / MANIFEST_NAME).is_file() or not any(folder.iterdir()))
    ):
        raise UsageError(
            "it exists and is no folder of utterances",
            where=str(folder),
            fix="Choose another folder; nothing was overwritten.",
        )
    rows: list[dict[str, Any]] = []
    with replace_folder(folder) as fresh:
        for number, utterance in enumerate(utterances, start=1):
            name = f"{source.stem}_{number:04}"
            clip = utterance.clip
            write_wav(fresh / f"{name}.wav", clip.samples, clip.sample_rate_hz, clip.source.sample_format)
            (fresh / f"{name}.txt").write_text(utterance.text + "\n", encoding="utf-8")
            row: dict[str, Any] = {
                "audio": f"{name}.wav",
                "text": utterance.text,
                "language": utterance.check.given.language,
                "duration_s": round(clip.duration_s, 6),
                "source": source.name,
                "start_s": round(utterance.span.start_s, 6),
                "end_s": round(utterance.span.end_s, 6),
                "pcm_sha256": clip.id,
                "coverage": round(utterance.check.coverage.ratio, 4),
            }
            rows.append(row | ({"speaker": speaker} if speaker else {}))
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (fresh / MANIFEST_NAME).write_text(lines, encoding="utf-8")
    return rows
