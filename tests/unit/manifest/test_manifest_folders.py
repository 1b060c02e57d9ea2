"""Sidecars, folders of audio, and built voices in them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_manifest import refused, touch, write

from refprep.errors import TextInputError, UsageError
from refprep.manifest import Utterance, read_text_file, read_utterances

# --------------------------------------------------------------------------- text files


def test_a_sidecar_that_is_not_utf_8(tmp_path):
    touch(tmp_path / "a.wav")
    write(tmp_path / "a.txt", b"caf\xe9")
    error = refused(tmp_path / "a.wav", TextInputError)
    assert (error.what, error.where) == ("not UTF-8 (byte 3)", str(tmp_path / "a.txt"))


def test_a_sidecar_that_is_a_book(tmp_path):
    write(tmp_path / "a.txt", "x" * (1 << 20))
    assert len(read_text_file(tmp_path / "a.txt")) == 1 << 20
    write(tmp_path / "a.txt", "x" * ((1 << 20) + 1))
    with pytest.raises(TextInputError, match="more than 1 MiB"):
        read_text_file(tmp_path / "a.txt")


def test_a_text_file_that_is_a_folder(tmp_path):
    with pytest.raises(TextInputError, match="cannot be read"):
        read_text_file(tmp_path)


# --------------------------------------------------------------------------- folders


def test_a_folder_is_read_sorted_and_deep(tmp_path):
    touch(
        tmp_path / "b.flac", tmp_path / "a.WAV", tmp_path / "deep" / "er" / "c.mp3", tmp_path / ".hidden.wav"
    )
    touch(tmp_path / "notes.pdf")
    write(tmp_path / "a.txt", "first")
    found = read_utterances([tmp_path])
    assert [(str(u.audio.relative_to(tmp_path)), u.text) for u in found] == [
        ("a.WAV", "first"),
        ("b.flac", None),
        ("deep/er/c.mp3", None),
    ]


def test_a_folder_without_audio(tmp_path):
    write(tmp_path / "a.txt", "text alone")
    assert refused(tmp_path, UsageError).where == str(tmp_path)


def test_what_a_running_build_has_beside_its_target_is_nobodys_audio(tmp_path):
    """A folder of voices, while one of them is being rebuilt."""
    touch(tmp_path / "a.wav", tmp_path / ".ana.refprep-12-0a1b2c3d" / "reference.wav")
    assert [u.audio.name for u in read_utterances([tmp_path])] == ["a.wav"]


def make_voice(folder: Path, **fields: str) -> Path:
    touch(folder / "reference.wav")
    write(folder / "reference.txt", "What it says.\n")
    write(folder / "voice.json", json.dumps(fields))
    return folder


def test_a_voice_is_one_utterance(tmp_path):
    folder = make_voice(tmp_path / "ana", language="de", speaker_id="c/de/f/ana")
    assert read_utterances([folder]) == [
        Utterance(
            folder / "reference.wav", "What it says.", "de", "c/de/f/ana", str(folder / "reference.txt")
        )
    ]


def test_voices_inside_a_folder_are_one_utterance_each(tmp_path):
    make_voice(tmp_path / "v" / "ana", language="de")
    make_voice(tmp_path / "v" / "eva", language="en")
    touch(tmp_path / "v" / "ana" / "second.wav", tmp_path / "v" / "z.wav")
    found = read_utterances([tmp_path / "v"])
    assert [(u.audio.parent.name, u.audio.name, u.language) for u in found] == [
        ("ana", "reference.wav", "de"),
        ("eva", "reference.wav", "en"),
        ("v", "z.wav", ""),
    ]


@pytest.mark.parametrize("content", ["{", "[1]", "\xff"])
def test_a_broken_voice(tmp_path, content):
    folder = make_voice(tmp_path / "ana")
    (folder / "voice.json").write_bytes(content.encode("latin-1"))
    assert refused(folder).where == str(folder / "voice.json")
