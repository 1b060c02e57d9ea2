"""Real speech for the processes: a reading, cut once into utterances."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from process import refprep


@pytest.fixture(scope="session")
def pieces(two_cities: Path, whisper_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder that `refprep split` made of the 44 s reading: utterances, texts and utterances.jsonl."""
    del whisper_folder
    folder = tmp_path_factory.mktemp("real") / "pieces"
    done = refprep(
        "split", two_cities / "two_cities.wav", "-o", folder, "--speaker", "moonshine/en/m/two_cities", "-q"
    )
    assert done.code == 0, done.err
    return folder


@pytest.fixture(scope="session")
def rows(pieces: Path) -> list[dict[str, object]]:
    """The manifest's rows."""
    return [
        json.loads(line) for line in (pieces / "utterances.jsonl").read_text(encoding="utf-8").splitlines()
    ]
