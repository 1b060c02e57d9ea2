"""The nouns of an export: what an engine takes, what it gets, and what is written beside the audio."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.export.source import Source
from refprep.linter.profiles import EngineProfile


class Layout(enum.StrEnum):
    """How the clips become audio files."""

    JOINED = "joined"  # one file: the clips with the voice's gaps and tail
    CLIPS = "clips"  # one file a clip: its samples and nothing else


@dataclass(frozen=True, slots=True)
class AudioFile:
    """An audio file of an export.

    Attributes:
        name: Relative to the export's folder, with slashes.
        path: Where its bytes lie while the export is being written.
        text: What is said in it, on one line.
        clips: Indices of the voice's clips in it, in order.
        num_samples: Its length.
    """

    name: str
    path: Path
    text: str
    clips: tuple[int, ...]
    num_samples: int


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """What an engine gets of a voice.

    Attributes:
        source: The voice.
        files: The audio, as written.
        text: Of all of it, joined.
    """

    source: Source
    files: tuple[AudioFile, ...]
    text: str

    @property
    def audio(self) -> AudioFile:
        """The one audio file of a joined export."""
        (audio,) = self.files
        return audio


@dataclass(frozen=True, slots=True)
class Sidecars:
    """What goes beside the audio.

    Attributes:
        texts: File name, relative to the export, with slashes -> its content.
        use: How the engine is called with it, for people.
        warnings: What this engine will not do with this voice, beyond what its profile says.
    """

    texts: Mapping[str, str]
    use: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exporter:
    """One engine, or one kind of dataset.

    Attributes:
        takes: What is written, in one line.
        profile: How much audio it takes, and whether it reads the text; its name is the exporter's.
        layout: One file, or one a clip.
        audio_name: Of an audio file; ``{voice}`` and ``{number}`` are filled in.
        describe: What goes beside the audio. May raise NoReferenceError for a voice that the format cannot hold.
    """

    takes: str
    profile: EngineProfile
    layout: Layout
    audio_name: str
    describe: Callable[[Excerpt], Sidecars]

    @property
    def name(self) -> str:
        """As ``--to`` takes it."""
        return self.profile.name


def json_text(value: Mapping[str, Any]) -> str:
    """A JSON file's content."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
