"""Names of the files in a voice's folder, and their hashes."""

from __future__ import annotations

import hashlib
from pathlib import Path

SCHEMA_VERSION = 2
VOICE_NAME, AUDIO_NAME, TEXT_NAME, REPORT_NAME = "voice.json", "reference.wav", "reference.txt", "report.html"
CODES_NAME = "codes"


def sha256_of_file(path: Path) -> str:
    """SHA-256 of a file's bytes, as hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def nested_names(target_s: float) -> tuple[str, str]:
    """Names of the audio and the text of a nested reference, by the length that was asked for."""
    return f"reference-{target_s:g}s.wav", f"reference-{target_s:g}s.txt"
