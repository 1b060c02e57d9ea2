"""GPT-SoVITS's ``.list``: ``wav|speaker|language|text``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refprep.errors import ManifestError
from refprep.manifest.content import lines
from refprep.manifest.row import audio_path
from refprep.manifest.utterance import Utterance

_LANGUAGES = {"jp": "ja", "cn": "zh", "kr": "ko"}


def read_list(path: Path) -> Iterator[Utterance]:
    """Read the rows in order.

    Raises:
        ManifestError: Not UTF-8, or a row that cannot be read.
    """
    for number, line in enumerate(lines(path), start=1):
        if not line.strip():
            continue
        cells = line.split("|", 3)
        if len(cells) != 4:
            raise ManifestError(
                "expected wav|speaker|language|text", where=f"{path}:{number}", fix="Write GPT-SoVITS rows."
            )
        audio, speaker, language, text = (c.strip() for c in cells)
        code, where = language.lower(), f"{path}:{number}"
        yield Utterance(
            audio_path(path.parent, audio, where), text, _LANGUAGES.get(code, code), speaker, where
        )
