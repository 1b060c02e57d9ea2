"""Parquet: metadata, and tables with the audio inside; damaged files and odd columns are named."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_embedded import wav_of
from test_manifest import refused, touch

from refprep.errors import ManifestError
from refprep.manifest import read_utterances

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def table_of(path: Path, columns: dict, *, metadata: dict[str, str] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    pq.write_table(table.replace_schema_metadata(metadata) if metadata else table, path)
    return path


def cells(*contents: bytes | None) -> list[dict | None]:
    return [None if c is None else {"bytes": c, "path": f"{k}.wav"} for k, c in enumerate(contents)]


def test_metadata_parquet_names_the_files(tmp_path):
    touch(tmp_path / "train" / "a.wav", tmp_path / "train" / "not_listed.wav")
    path = table_of(
        tmp_path / "train" / "metadata.parquet",
        {"file_name": ["a.wav", "d/b.wav"], "transcription": ["It was.", None], "speaker_id": [7, 8],
         "age": [31, None], "tags": [["x"], []]},
    )  # fmt: skip
    one, other = read_utterances([tmp_path])
    assert (one.audio, one.text, one.speaker, one.extra) == (
        path.parent / "a.wav",
        "It was.",
        "7",
        {"age": 31},
    )
    assert (other.audio, other.text, other.extra) == (path.parent / "d" / "b.wav", None, {})
    assert other.source == f"{path}, row 2"


def test_audio_inside_is_kept_once_below_the_folder_given(tmp_path):
    path = table_of(
        tmp_path / "m.parquet",
        {
            "audio": cells(wav_of(1), wav_of(2), wav_of(1)),
            "sentence": ["x", "y", "z"],
            "client_id": ["s"] * 3,
        },
    )
    one, two, three = read_utterances([path], clips=tmp_path / "clips")
    assert one.audio == three.audio
    assert one.audio.read_bytes() == wav_of(1)
    assert one.audio.is_relative_to(tmp_path / "clips")
    assert two.audio.read_bytes() == wav_of(2)
    assert (one.text, one.speaker, one.extra) == ("x", "s", {"original_name": "0.wav"})


def test_without_a_folder_it_lies_below_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path / "cache"))
    path = table_of(tmp_path / "m.parquet", {"audio": cells(wav_of(1))})
    assert read_utterances([path])[0].audio.is_relative_to(tmp_path / "cache" / "clips")


def test_a_folder_of_tables_alone_is_read_in_order(tmp_path):
    for number, split in enumerate(("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")):
        table_of(tmp_path / "data" / f"{split}.parquet", {"audio": cells(wav_of(number)), "text": [split]})
    found = read_utterances([tmp_path], clips=tmp_path / ".clips")
    assert [u.text for u in found] == ["test-00000-of-00001", "train-00000-of-00002", "train-00001-of-00002"]


def test_a_folder_with_audio_is_not_read_by_its_tables(tmp_path):
    touch(tmp_path / "a.wav")
    table_of(tmp_path / "features.parquet", {"x": [1]})
    assert [u.audio.name for u in read_utterances([tmp_path])] == ["a.wav"]


def test_bytes_under_a_name_of_audio_are_audio(tmp_path):
    path = table_of(tmp_path / "m.parquet", {"audio": [wav_of(1)], "text": ["x"], "waveform": [b"not read"]})
    (found,) = read_utterances([path], clips=tmp_path)
    assert found.audio.read_bytes() == wav_of(1)
    assert found.extra == {}


def test_audio_goes_before_a_column_with_paths(tmp_path):
    path = table_of(tmp_path / "m.parquet", {"path": ["elsewhere/a.mp3"], "audio": cells(wav_of(1))})
    (found,) = read_utterances([path], clips=tmp_path)
    assert found.audio.read_bytes() == wav_of(1)


def test_classes_are_told_by_name(tmp_path):
    features = {"gender": {"_type": "ClassLabel", "names": ["f", "m"]}, "age": {"_type": "Value"}}
    path = table_of(
        tmp_path / "m.parquet",
        {"path": ["a.wav", "b.wav", "c.wav"], "gender": [1, 0, -1], "age": [1, 0, 1]},
        metadata={"huggingface": json.dumps({"info": {"features": features}})},
    )
    assert [dict(u.extra) for u in read_utterances([path])] == [
        {"gender": "m", "age": 1}, {"gender": "f", "age": 0}, {"gender": -1, "age": 1},
    ]  # fmt: skip


@pytest.mark.parametrize(
    "said", ["{", "[]", '{"info": 3}', '{"info": {"features": {"gender": {"_type": "ClassLabel"}}}}']
)
def test_metadata_of_a_schema_that_says_nothing_is_left_alone(tmp_path, said):
    path = table_of(
        tmp_path / "m.parquet", {"path": ["a.wav"], "gender": [1]}, metadata={"huggingface": said}
    )
    assert read_utterances([path])[0].extra == {"gender": 1}


def test_categories_and_large_strings_are_single_values(tmp_path):
    columns = {
        "path": pa.array(["a.wav"], pa.large_string()),
        "text": pa.array(["x"]).dictionary_encode(),
        "licence": pa.array(["CC0"]).dictionary_encode(),
        "when": pa.array([0], pa.timestamp("s")),
    }
    (found,) = read_utterances([table_of(tmp_path / "m.parquet", columns)])
    assert (found.text, found.extra) == ("x", {"licence": "CC0"})


def test_a_part_of_a_file_is_refused_and_a_clip_with_an_offset_is_not(tmp_path):
    path = table_of(tmp_path / "m.parquet", {"audio_filepath": ["a.wav", "a.wav"], "offset": [0.0, 3.5]})
    assert refused(path).where == f"{path}, row 2"
    inside = table_of(tmp_path / "n.parquet", {"audio": cells(wav_of(1)), "offset": [3.5]})
    (found,) = read_utterances([inside], clips=tmp_path)
    assert found.extra["offset"] == 3.5


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ({"text": ["x"]}, "no audio column"),
        ({"audio": [[1.0, 2.0]]}, "audio is a list"),
        (
            {"one": [{"bytes": b"", "path": ""}], "two": [{"bytes": b"", "path": ""}]},
            "several audio columns: one, two",
        ),
        ({"audio": [{"bytes": None, "path": None}]}, "no audio"),
        ({"audio": pa.array([None], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))}, "no audio"),
        ({"path": pa.array([None], pa.string())}, "no audio column"),
        ({"path": ["a.wav"], "text": [["x"]]}, "text is a list"),
        ({"path": ["a\0.wav"]}, "NUL"),
    ],
)
def test_tables_that_name_no_audio_are_told_apart(tmp_path, columns, what):
    path = table_of(tmp_path / "m.parquet", columns)
    error = refused(path)
    assert what in error.what
    assert error.where.startswith(str(path))


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + b"\xff" * 64 + b"PAR1", b"audio,text\na.wav,x\n"]
)
def test_a_file_that_is_no_parquet(tmp_path, content):
    (tmp_path / "m.parquet").write_bytes(content)
    error = refused(tmp_path / "m.parquet")
    assert "not readable as Parquet" in error.what
    assert error.where == str(tmp_path / "m.parquet")


@settings(deadline=None, max_examples=120)
@given(st.data())
def test_a_damaged_table_is_read_or_refused(data):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = table_of(folder / "m.parquet", {"audio": cells(wav_of(1), wav_of(2)), "text": ["x", "y"]})
        whole = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 8))):
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(
            whole[: data.draw(st.integers(0, len(whole)))] if data.draw(st.booleans()) else whole
        )
        try:
            found = read_utterances([path], clips=folder / "clips")
        except ManifestError:
            return
        assert len(found) <= 2
