"""`refprep export` as a process: every engine, a broken voice, a wrong name, a wrong call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import soundfile
from export_kit import make_voice
from process import clean, refprep

from refprep.export import EXPORTERS


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    return make_voice(tmp_path / "ana's voice")


@pytest.mark.parametrize("engine", list(EXPORTERS))
def test_every_engine(voice: Path, tmp_path: Path, engine: str) -> None:
    out = tmp_path / "out dir" / engine
    done = clean(refprep("export", voice, "--to", engine, "-o", out), 0)
    document = json.loads((out / "export.json").read_text(encoding="utf-8"))
    assert done.out.splitlines()[0].startswith(f"{out}: {engine}, ")
    for row in document["files"]:
        assert f"\n  {row['file']}\n" in done.out
        assert (out / row["file"]).is_file()
    warned = [line for line in done.err.splitlines() if ": warning: " in line]
    assert [line.partition(": warning: ")[2] for line in warned] == document["warnings"]
    assert sum(": note: " in line for line in done.err.splitlines()) == 4
    assert document["use"] in done.out
    for row in document["clips"]:
        assert soundfile.info(out / row["file"]).samplerate == document["sample_rate_hz"]
    assert clean(refprep("export", voice, "--to", engine, "-o", out, "-q"), 0).out == done.out


def test_json(voice: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = clean(refprep("export", voice, "--to", "f5-tts", "-o", out, "--format", "json"), 0)
    row = json.loads(done.out)
    assert row.pop("output") == str(out)
    assert row == json.loads((out / "export.json").read_text(encoding="utf-8"))
    line = clean(refprep("export", voice, "--to", "f5-tts", "-o", out, "--format", "jsonl"), 0).out
    assert json.loads(line)["engine"] == "f5-tts"
    assert line.count("\n") == 1


def test_a_relative_folder(voice: Path, tmp_path: Path) -> None:
    done = clean(refprep("export", voice.name, "--to", "chatterbox", "-o", "out", cwd=tmp_path), 0)
    assert done.out.startswith("out: chatterbox, ")
    (tmp_path / "here").mkdir()
    clean(refprep("export", f"../{voice.name}", "--to", "chatterbox", "-o", ".", cwd=tmp_path / "here"), 0)
    assert (tmp_path / "here" / "reference.wav").is_file()


def test_the_list(tmp_path: Path) -> None:
    done = clean(refprep("export", "--list"), 0)
    assert all(any(line.split()[0] == name for line in done.out.splitlines()) for name in EXPORTERS)
    rows = json.loads(clean(refprep("export", "--list", "--format", "json"), 0).out)["engines"]
    assert [row["engine"] for row in rows] == list(EXPORTERS)


def test_a_broken_voice_is_refused(voice: Path, tmp_path: Path) -> None:
    (voice / "reference.txt").write_text("Something else.\n", encoding="utf-8")
    done = clean(refprep("export", voice, "--to", "f5-tts", "-o", tmp_path / "out"), 1)
    assert "not what was built: reference.txt: it was changed" in done.err
    assert "help: Build the voice again" in done.err
    assert not (tmp_path / "out").exists()


def test_an_engine_that_takes_no_set_of_the_clips(tmp_path: Path) -> None:
    make_voice(tmp_path / "voice", (11.0, 12.0))
    done = clean(refprep("export", tmp_path / "voice", "--to", "gpt-sovits", "-o", tmp_path / "out"), 1)
    assert "gpt-sovits refuses more than 10 s" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--to", "f6-tts", "-o", "out"], "'f6-tts' is no engine"),
        (["-o", "out"], "--to ENGINE missing"),
        (["--to", "f5-tts"], "--output DIR missing"),
        (["--to", "f5-tts", "-o", "."], "no earlier export"),
    ],
)
def test_a_wrong_call_writes_nothing(voice: Path, tmp_path: Path, args: list[str], says: str) -> None:
    done = clean(refprep("export", voice, *args, cwd=tmp_path), 2)
    assert says in done.err
    assert {p.name for p in tmp_path.iterdir()} == {voice.name}


def test_no_voice(tmp_path: Path) -> None:
    done = clean(refprep("export", tmp_path, "--to", "f5-tts", "-o", tmp_path / "out"), 2)
    assert "no voice.json" in done.err
