"""NeMo rows that mean a part of a file are not read as if they meant the whole of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_manifest import read_one, refused, write

from refprep.errors import ManifestError
from refprep.manifest.row import utterance_of_row


@pytest.mark.parametrize("offset", [3.45, 1, "2.5", 1e-3, float("inf")])
def test_a_row_that_begins_inside_its_file_is_an_error(tmp_path, offset):
    rows = [
        {"audio_filepath": "a.wav", "offset": 0.0, "duration": 3.45, "text": "x"},
        {"audio_filepath": "a.wav", "offset": offset, "duration": 1.45, "text": "y"},
    ]
    manifest = write(tmp_path / "m.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    error = refused(manifest)
    assert error.where == f"{manifest}:2"
    assert f"from {float(offset):g} s" in error.what
    assert "refprep split" in error.fix
    assert "source_offset" in error.fix


def test_so_is_one_of_a_table(tmp_path):
    manifest = write(tmp_path / "m.csv", "path,text,offset\na.wav,x,0\na.wav,y,4.2\n")
    assert refused(manifest).where == f"{manifest}:3"


@pytest.mark.parametrize("offset", [0, 0.0, "0", None, "", "start", float("nan"), True, [1], {"s": 1}, -1.0])
def test_other_offsets_are_provenance_as_the_duration_is(tmp_path, offset):
    row = {"audio_filepath": "a.wav", "offset": offset, "duration": 3.45, "text": "x"}
    found = read_one(write(tmp_path / "m.jsonl", json.dumps(row)))
    assert found.extra["duration"] == 3.45
    assert json.dumps(found.extra["offset"]) == json.dumps(offset)


@given(st.one_of(st.floats(allow_nan=False), st.integers(), st.text(max_size=8)))
def test_whatever_the_offset_is_the_row_is_read_or_refused(offset):
    import tempfile
    from pathlib import Path

    row = {"audio_filepath": "a.wav", "offset": offset}
    try:
        is_part = float(offset) > 0
    except (ValueError, OverflowError):
        is_part = False
    if is_part:
        with pytest.raises(ManifestError):
            utterance_of_row(Path(tempfile.gettempdir()), "m.jsonl:1", row)
    else:
        assert utterance_of_row(Path(tempfile.gettempdir()), "m.jsonl:1", row).extra == {"offset": offset}
