"""LJSpeech's ``metadata.csv``: ``id|text`` or ``id|text|normalised text``, without a header."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refprep.errors import ManifestError
from refprep.manifest.content import lines
from refprep.manifest.row import AUDIO_SUFFIXES, audio_path
from refprep.manifest.utterance import Utterance


def read_ljspeech(path: Path) -> Iterator[Utterance]:
    """Read the rows in order; audio lies in ``wavs/``, else beside the file, and the last text counts.

    Raises:
        ManifestError: Not UTF-8, or a row that cannot be read.
    """
    folder = path.parent / "wavs" if (path.parent / "wavs").is_dir() else path.parent
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        cells = line.split("|")
        if len(cells) < 2 or not cells[0].strip():
            raise ManifestError(
                "expected id|text or id|text|normalised text",
                where=f"{path}:{number}",
                fix="Write LJSpeech rows, or give the file a header row.",
            )
        name = cells[0].strip()
        file = name if Path(name).suffix.lower() in AUDIO_SUFFIXES else f"{name}.wav"
        where = f"{path}:{number}"
        yield Utterance(audio_path(folder, file, where), cells[-1].strip() or cells[1].strip(), source=where)
