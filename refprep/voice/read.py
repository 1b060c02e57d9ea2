"""A voice read back from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.errors import ManifestError
from refprep.voice.names import AUDIO_NAME, SCHEMA_VERSION, VOICE_NAME


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """A voice read from its folder.

    Attributes:
        folder: Where it is.
        document: voice.json.
    """

    folder: Path
    document: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What the reference says, word for word."""
        return str(self.document["text"])

    @property
    def language(self) -> str:
        """BCP 47."""
        return str(self.document["language"])

    @property
    def audio_path(self) -> Path:
        """Of reference.wav."""
        return self.folder / AUDIO_NAME


_REQUIRED = ("schema_version", "text", "language", "audio", "text_file", "clips", "gap_policy", "tail_policy")


def load_voice(folder: str | Path) -> Voice:
    """Read voice.json.

    Raises:
        ManifestError: No voice there, not JSON, a key missing, or written by a newer refprep.
    """
    path = Path(folder) / VOICE_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ManifestError(
            "no voice.json there", where=str(folder), fix="Name a folder that `refprep build` wrote."
        ) from error
    except (OSError, ValueError) as error:
        raise ManifestError(
            f"it cannot be read: {error}", where=str(path), fix="Build the voice again."
        ) from error
    missing = [k for k in _REQUIRED if not isinstance(document, dict) or k not in document]
    if missing:
        raise ManifestError(f"{', '.join(missing)} missing", where=str(path), fix="Build the voice again.")
    if document["schema_version"] != SCHEMA_VERSION:
        raise ManifestError(
            f"schema version {document['schema_version']}, this refprep reads {SCHEMA_VERSION}",
            where=str(path),
            fix="Use the refprep that wrote it, or build the voice again.",
        )
    return Voice(Path(folder), document)
