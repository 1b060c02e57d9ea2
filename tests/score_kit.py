"""Readers of the labelled speech pack, for outputs made of their clips (``refprep.bench.composites``)."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import soundfile

from refprep.types import Samples


def rows_of(pack: Path, speaker: str) -> list[dict[str, str]]:
    """A speaker's clips with a text, as the pack's manifest has them."""
    with (pack / "manifest.csv").open(encoding="utf-8", newline="") as file:
        return [
            row
            for row in csv.DictReader(file)
            if row["speaker_id"] == speaker
            and row["kind"] == "original"
            and row["transcript_status"] in ("official", "verified")
        ]


def write(path: Path, samples: Samples, rate_hz: int) -> Path:
    """A WAV file of 16 bits."""
    soundfile.write(path, np.clip(samples, -1.0, 1.0), rate_hz, subtype="PCM_16")
    return path


def some(rows: Sequence[dict[str, str]], *names: str) -> list[dict[str, str]]:
    """Rows whose file is called so, in the order of the names."""
    return [next(r for r in rows if Path(r["path"]).stem == name) for name in names]
