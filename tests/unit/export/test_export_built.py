"""What `refprep build` writes is what `refprep export` reads."""

from __future__ import annotations

import pytest
from build_kit import ordinary_scene

from refprep.export import EXPORTERS, export_voice


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built")
    (folder / "clips").mkdir()
    return ordinary_scene(folder / "clips").build(folder / "voice")


@pytest.mark.parametrize("engine", list(EXPORTERS))
def test_a_built_voice_is_exported(built, tmp_path, engine):
    done = export_voice(built.folder, engine, tmp_path / "out")
    assert done.notes == ()
    assert done.document["licence"] == ["CC0-1.0"]
    assert done.document["speaker_id"] == "book/en/m/reader"
    assert len(done.document["clips"]) == len(built.chosen)
    assert done.document["text"] == built.reference.text
