"""Hugging Face's AudioFolder: metadata of three kinds, beside the audio or in a folder for each split."""

from __future__ import annotations

import sys

import pytest
from test_manifest import refused, touch, write
from test_manifest_folders import make_voice

from refprep.corpus.groups import group_rows
from refprep.errors import UsageError
from refprep.manifest import read_utterances

ROW = '{"file_name": "a.wav", "transcription": "It was.", "speaker_id": 7, "age": 31}\n'


def test_metadata_jsonl_is_read_instead_of_the_files(tmp_path):
    touch(tmp_path / "a.wav", tmp_path / "not_listed.wav")
    write(tmp_path / "metadata.jsonl", ROW)
    (found,) = read_utterances([tmp_path])
    assert (found.audio, found.text, found.speaker) == (tmp_path / "a.wav", "It was.", "7")
    assert (found.extra, found.source) == ({"age": 31}, f"{tmp_path / 'metadata.jsonl'}:1")


def test_every_split_is_read_relative_to_its_own_folder(tmp_path):
    for split in ("train", "test", "data/validation"):
        touch(tmp_path / split / "a.wav", tmp_path / split / "not_listed.wav")
    write(tmp_path / "train" / "metadata.jsonl", ROW)
    write(tmp_path / "test" / "metadata.csv", "file_name,text\na.wav,It is.\nclips/b.wav,And so on.\n")
    write(tmp_path / "data" / "validation" / "metadata.csv", "file_name,text\na.wav,Still.\n")
    assert [(u.audio.relative_to(tmp_path).as_posix(), u.text) for u in read_utterances([tmp_path])] == [
        ("data/validation/a.wav", "Still."),
        ("test/a.wav", "It is."),
        ("test/clips/b.wav", "And so on."),
        ("train/a.wav", "It was."),
    ]


def test_metadata_above_goes_before_metadata_below(tmp_path):
    write(tmp_path / "metadata.csv", "file_name,text\ntrain/a.wav,above\n")
    write(tmp_path / "train" / "metadata.csv", "file_name,text\na.wav,below\n")
    assert [u.text for u in read_utterances([tmp_path])] == ["above"]
    (tmp_path / "metadata.csv").rename(tmp_path / "train" / "more.csv")
    write(tmp_path / "train" / "deep" / "metadata.csv", "file_name,text\na.wav,deeper\n")
    assert [u.text for u in read_utterances([tmp_path])] == ["below"]


def test_audio_and_voices_beside_a_split_are_read_as_ever(tmp_path):
    touch(tmp_path / "other" / "b.wav", tmp_path / "train" / "a.wav")
    write(tmp_path / "other" / "b.txt", "a sidecar")
    write(tmp_path / "train" / "metadata.jsonl", ROW)
    make_voice(tmp_path / "voices" / "ana", language="de")
    assert [u.text for u in read_utterances([tmp_path])] == [
        "It was.",
        "a sidecar",
        "What it says.",
    ]


def test_metadata_in_hidden_folders_is_nobodys(tmp_path):
    touch(tmp_path / "a.wav")
    write(tmp_path / ".git" / "metadata.jsonl", ROW)
    assert [u.audio for u in read_utterances([tmp_path])] == [tmp_path / "a.wav"]


@pytest.mark.parametrize("split", ["", "train"])
def test_two_metadata_files_are_an_error_that_names_both(tmp_path, split):
    write(tmp_path / split / "metadata.jsonl", ROW)
    write(tmp_path / split / "metadata.csv", "file_name,text\na.wav,x\n")
    error = refused(tmp_path)
    assert error.where == str(tmp_path / split)
    assert "metadata.csv and metadata.jsonl" in error.what
    assert len(read_utterances([tmp_path / split / "metadata.jsonl"])) == 1


def test_a_row_without_file_name_is_named(tmp_path):
    metadata = write(tmp_path / "train" / "metadata.jsonl", ROW + '{"video_file_name": "a.mp4"}\n')
    error = refused(tmp_path)
    assert error.where == f"{metadata}:2"
    assert "no audio column" in error.what


def test_without_metadata_the_folders_are_the_labels(tmp_path):
    touch(
        tmp_path / "train" / "ana" / "1.wav",
        tmp_path / "train" / "bo" / "2.wav",
        tmp_path / "test" / "ana" / "3.wav",
    )
    groups = group_rows(read_utterances([tmp_path]), "folder")
    assert {name: [u.audio.name for u in rows] for name, rows in groups.items()} == {
        "ana": ["3.wav", "1.wav"], "bo": ["2.wav"],
    }  # fmt: skip


def test_metadata_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    write(tmp_path / "metadata.parquet", b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    error = refused(tmp_path, UsageError)
    assert error.where == str(tmp_path / "metadata.parquet")
    assert "pip install 'refprep[datasets]'" in error.fix
