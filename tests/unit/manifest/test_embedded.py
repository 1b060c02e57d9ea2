"""Audio that a row carries inside: one file for one content, named by it; paths are believed when they are true."""

from __future__ import annotations

import io
import os
import tempfile
import wave
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import MachineError, ManifestError
from refprep.manifest.embedded import keep, locate, suffix_of


def wav_of(value: int) -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(value.to_bytes(2, "little") * 800)
    return stream.getvalue()


def located(cell: dict, folder: Path | None, clips: Path) -> Path:
    return locate(cell, folder=folder, clips=clips, where="rows, row 1")


@pytest.mark.parametrize(
    ("form", "subtype", "suffix"),
    [
        ("WAV", "PCM_16", ".wav"),
        ("RF64", "PCM_16", ".wav"),
        ("WAVEX", "FLOAT", ".wav"),
        ("FLAC", "PCM_16", ".flac"),
        ("OGG", "VORBIS", ".ogg"),
        ("OGG", "OPUS", ".opus"),
        ("MP3", "MPEG_LAYER_III", ".mp3"),
        ("AIFF", "PCM_16", ".aiff"),
        ("CAF", "PCM_16", ".caf"),
        ("W64", "PCM_16", ".w64"),
    ],
)
def test_the_suffix_is_that_of_the_content(form, subtype, suffix):
    stream = io.BytesIO()
    soundfile.write(stream, np.zeros(4800), 48_000, format=form, subtype=subtype)
    assert suffix_of(stream.getvalue(), hint="a.txt") == suffix


@pytest.mark.parametrize(
    ("form", "codec", "suffix"),
    [("mp4", "aac", ".m4a"), ("adts", "aac", ".aac"), ("webm", "libopus", ".webm")],
)
def test_the_suffix_of_containers_that_libsndfile_does_not_write(form, codec, suffix):
    stream = io.BytesIO()
    with av.open(stream, "w", format=form) as container:
        track = container.add_stream(codec, rate=48_000, layout="mono")
        for _ in range(10):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 960), np.float32), format="fltp", layout="mono")
            frame.sample_rate = 48_000
            container.mux(track.encode(frame))
        container.mux(track.encode(None))
    assert suffix_of(stream.getvalue()) == suffix


@pytest.mark.parametrize(
    ("hint", "suffix"),
    [
        ("a.MP3", ".mp3"),
        ("C:\\x\\a.wav", ".wav"),
        ("a.exe", ".bin"),
        ("", ".bin"),
        ("a.wav/..", ".bin"),
        ("../../.wav", ".bin"),
    ],
)
def test_bytes_that_are_no_audio_have_the_suffix_they_had_if_that_is_one(hint, suffix):
    assert suffix_of(b"#!/bin/sh", hint=hint) == suffix


@settings(max_examples=200)
@given(st.binary(max_size=40), st.text(max_size=12))
def test_every_content_has_a_suffix(data, hint):
    assert suffix_of(data, hint=hint).startswith(".")
    assert "/" not in suffix_of(data, hint=hint)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from([b"one", b"two", b"RIFF....WAVE", b"fLaC"]), min_size=1, max_size=6))
def test_one_file_for_one_content(contents):
    with tempfile.TemporaryDirectory() as folder:
        clips = Path(folder) / "clips"
        paths = [keep(data, clips) for data in contents]
        assert [p.read_bytes() for p in paths] == contents
        assert len({p for p in clips.rglob("*") if p.is_file()}) == len(set(contents)) == len(set(paths))


def test_a_file_that_is_there_is_not_written_again_and_one_cut_short_is(tmp_path):
    path = keep(wav_of(1), tmp_path)
    os.utime(path, ns=(10**9, 10**9))
    assert keep(wav_of(1), tmp_path, hint="another.name") == path
    assert path.stat().st_mtime_ns == 10**9
    path.write_bytes(b"RIFF")
    assert keep(wav_of(1), tmp_path).read_bytes() == wav_of(1)


def test_a_path_that_holds_the_bytes_is_used(tmp_path):
    (tmp_path / "a.wav").write_bytes(wav_of(1))
    cell = {"bytes": wav_of(1), "path": str(tmp_path / "a.wav")}
    assert located(cell, None, tmp_path / "clips") == tmp_path / "a.wav"
    assert not (tmp_path / "clips").exists()


@pytest.mark.parametrize("other", [wav_of(2), b"", wav_of(1) + b"x"])
def test_a_path_that_holds_something_else_is_another_machines(tmp_path, other):
    (tmp_path / "a.wav").write_bytes(other)
    cell = {"bytes": wav_of(1), "path": str(tmp_path / "a.wav")}
    assert located(cell, tmp_path, tmp_path / "clips").is_relative_to(tmp_path / "clips")


def test_a_relative_path_beside_bytes_is_not_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.wav").write_bytes(wav_of(1))
    assert (
        located({"bytes": wav_of(1), "path": "a.wav"}, tmp_path, tmp_path / "clips").parent.parent.name
        == "clips"
    )


def test_a_path_alone_is_relative_to_the_folder(tmp_path):
    assert located({"bytes": None, "path": "d/a.wav"}, tmp_path, tmp_path) == tmp_path / "d" / "a.wav"
    assert located({"path": "/data/a.wav"}, None, tmp_path) == Path("/data/a.wav")


@pytest.mark.parametrize(
    "cell",
    [
        {},
        {"bytes": None, "path": None},
        {"bytes": b"", "path": ""},
        {"bytes": "text", "path": "  "},
        {"path": 3},
    ],
)
def test_a_cell_without_audio_is_a_manifest_error(tmp_path, cell):
    with pytest.raises(ManifestError, match="no audio") as caught:
        located(cell, tmp_path, tmp_path)
    assert caught.value.where == "rows, row 1"


@pytest.mark.parametrize(
    "name", ["https://example.org/a.wav", "zip://a.wav::/data/x.zip", "file:///etc/passwd", "a.wav"]
)
def test_audio_that_is_elsewhere_is_a_manifest_error(tmp_path, name):
    with pytest.raises(ManifestError, match="not on this machine"):
        located({"path": name}, None, tmp_path)


@pytest.mark.parametrize("data", [b"x", None])
def test_a_path_with_a_nul_is_none(tmp_path, data):
    cell = {"bytes": data, "path": "/a\0.wav"}
    if data is None:
        with pytest.raises(ManifestError, match="NUL"):
            located(cell, tmp_path, tmp_path)
    else:
        assert located(cell, tmp_path, tmp_path).read_bytes() == data


def test_a_disk_that_refuses_is_said(tmp_path):
    (tmp_path / "clips").write_text("a file")
    with pytest.raises(MachineError):
        keep(b"x", tmp_path / "clips")
