"""A sidecar that is named alone, both files of a pair, the commit hook that names them; CSV that is not whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_manifest import read_one, refused, touch, write

from refprep.errors import UsageError
from refprep.manifest import AUDIO_SUFFIXES, TEXT_SUFFIXES, read_utterances


@pytest.mark.parametrize("suffix", [".txt", ".lab", ".TXT"])
def test_a_sidecar_named_means_its_audio(tmp_path, suffix):
    touch(tmp_path / "a.flac")
    sidecar = write(tmp_path / f"a{suffix}", "It was.")
    assert read_one(sidecar).audio == tmp_path / "a.flac"
    assert read_one(sidecar) == read_one(tmp_path / "a.flac")


def test_audio_with_a_suffix_in_capitals_is_found_beside_its_text(tmp_path):
    touch(tmp_path / "a.WAV")
    assert read_one(write(tmp_path / "a.txt", "It was.")).audio == tmp_path / "a.WAV"


@pytest.mark.parametrize("order", [["a.wav", "a.txt"], ["a.txt", "a.wav"], ["a.lab", "a.txt"]])
def test_who_names_both_files_of_a_pair_means_it_once(tmp_path, order):
    touch(tmp_path / "a.wav", tmp_path / "b.wav")
    write(tmp_path / "a.txt", "It was.")
    write(tmp_path / "a.lab", "older")
    found = read_utterances([*(tmp_path / name for name in order), tmp_path / "b.wav"])
    assert [(u.audio.name, u.text) for u in found] == [("a.wav", "It was."), ("b.wav", None)]


def test_a_text_of_two_files_means_both(tmp_path):
    touch(tmp_path / "a.wav", tmp_path / "a.flac")
    found = read_utterances([write(tmp_path / "a.txt", "It was.")])
    assert [u.audio.name for u in found] == ["a.flac", "a.wav"]


def test_a_text_without_audio_is_one_error(tmp_path):
    assert "no audio beside this text" in refused(write(tmp_path / "a.txt", "x"), UsageError).what
    assert "no such file" in refused(tmp_path / "b.txt", UsageError).what


def test_a_folder_may_be_called_like_a_text(tmp_path):
    touch(tmp_path / "takes.txt" / "a.wav")
    assert read_one(tmp_path / "takes.txt").audio.name == "a.wav"


def test_the_hook_is_given_audio_and_sidecars():
    hook = (Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"files: '(.+)'", hook)
    suffixes = set(re.findall(r"\w+", re.search(r"\((\w+(?:\|\w+)+)\)", pattern)[1]))
    assert {f".{s}" for s in suffixes} <= AUDIO_SUFFIXES | set(TEXT_SUFFIXES)
    for name in ("a.wav", "voices/a.FLAC", "a.txt", "a.lab", "a.b.mp3"):
        assert re.search(pattern, name), name
    for name in ("a.wav.md", "txt", "README.md", "a.json"):
        assert not re.search(pattern, name), name


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ('path,text\na.wav,x\n"b.wav,x\nc.wav,y\n', 3, "unexpected end"),
        ("path,text\na.wav," + "x" * 200_000 + "\n", 2, "field larger"),
        ('path,text\n\na.wav,"two\nlines"\nb.wav,"x" y\n', 5, "expected after"),
    ],
)
def test_a_quote_that_nobody_closes_is_one_error_at_its_row(tmp_path, content, line, what):
    error = refused(write(tmp_path / "m.csv", content))
    assert error.where == f"{tmp_path / 'm.csv'}:{line}"
    assert what in error.what
