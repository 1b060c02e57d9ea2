"""One audio file and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Utterance:
    """One audio file and what is known of it.

    Attributes:
        audio: Path of the file.
        text: What it is said to say; None when nobody wrote it down.
        language: BCP 47; empty when not stated.
        speaker: Speaker id; empty when not stated.
        source: Where the text comes from, for messages: a sidecar, or ``manifest.jsonl:12``.
        extra: The manifest row's other fields, such as ``licence`` and ``consent``.
    """

    audio: Path
    text: str | None = None
    language: str = ""
    speaker: str = ""
    source: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def consent(self) -> str:
        """What the row says of the speaker's consent; empty where it says nothing."""
        said = self.extra.get("consent")
        if isinstance(said, bool):
            return "yes" if said else "no"
        return str(said).strip() if said is not None else ""
