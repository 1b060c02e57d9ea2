"""A voice read back from its folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.errors import ManifestError, RefprepError
from refprep.pipeline.decode import decode_file
from refprep.report.card import voice_card
from refprep.types import Clip, JoinedClip, JoinedSilence, Reference
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

    def read_reference(self) -> Reference:
        """The joined samples and where its clips lie, as they were built; nothing is verified.

        Raises:
            AudioDecodeError: reference.wav is gone or cannot be read.
            ManifestError: An entry of voice.json is missing or of the wrong kind.
        """
        clip = decode_file(self.audio_path)
        try:
            return _reference(self.document, clip)
        except (KeyError, TypeError, ValueError) as error:
            raise ManifestError(
                f"an entry is missing or of the wrong kind ({error})",
                where=str(self.folder / VOICE_NAME),
                fix="Build the voice again.",
            ) from error

    def _repr_html_(self) -> str:
        """The voice as a card, for notebooks; one whose samples cannot be read is shown without them."""
        name = self.folder.resolve().name
        try:
            return voice_card(self.document, self.read_reference(), name=name)
        except RefprepError as error:
            return voice_card(self.document, None, name=name, fault=error.what)


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


def _reference(document: Mapping[str, Any], clip: Clip) -> Reference:
    tone = document.get("room_tone_sample")
    return Reference(
        samples=clip.samples,
        sample_rate_hz=clip.sample_rate_hz,
        sample_format=clip.source.sample_format,
        clips=tuple(
            JoinedClip(
                str(row["pcm_sha256"]),
                str(row["path"]),
                int(row["start_sample"]),
                int(row["end_sample"]),
                str(row["text"]),
            )
            for row in document["clips"]
        ),
        gap_policy=str(document["gap_policy"]),
        tail_policy=str(document["tail_policy"]),
        text=str(document["text"]),
        language=str(document["language"]),
        silences=tuple(
            JoinedSilence(str(row["policy"]), int(row["start_sample"]), int(row["end_sample"]))
            for row in document["silences"]
        ),
        room_tone_sample=None if tone is None else int(tone),
        nested=tuple(int(row["num_clips"]) for row in document["nested"]),
    )
