"""Hostile names, targets, settings and baselines: nothing lands elsewhere, each fault is one clear error."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from process import Done, clean, refprep

RATE_HZ = 16_000
NAMES = [
    "-rf", "--fix", "%s%n%d", "a\nb", "a\tb\r", "\u202eevil", "..", "...", "~", "$(id)", "`id`", "a'b\"c", "con", "a" * 200,
    os.fsdecode(b"caf\xe9"), "今日", "<b>&amp;", "a;b", "*", "[x]", "{0}", " ", "utterances",
]  # fmt: skip


def refused(done: Done) -> str:
    """One clear error: what and where, the help below it."""
    assert clean(done, 2).out == ""
    *told, last = done.err.strip().splitlines()
    assert told[0].startswith("refprep: ")
    assert last.startswith("  help: ")
    return "\n".join(told)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def wav_bytes(samples: np.ndarray, rate_hz: int) -> bytes:
    """Written by Python: libsndfile cannot open every name."""
    file = io.BytesIO()
    soundfile.write(file, samples, rate_hz, format="WAV")
    return file.getvalue()


def audio_in(folder: Path) -> list[Path]:
    """The files by name: those that begin with a dot are not looked for in a folder."""
    return [p.relative_to(folder.parent) for p in sorted(folder.iterdir()) if p.suffix == ".wav"]


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """Files of every name, each with a text, in a folder beside nothing else."""
    folder = tmp_path / "in"
    folder.mkdir()
    noise = np.random.default_rng(0).normal(0, 0.05, RATE_HZ // 2)
    audio = wav_bytes(noise, RATE_HZ)
    for name in NAMES:
        (folder / f"{name}.wav").write_bytes(audio)
        (folder / f"{name}.txt").write_text(f"text of {name!a}", encoding="utf-8")
    return folder


def test_labels_and_report_of_any_name_stay_in_their_places(named: Path) -> None:
    before = everything(named)
    done = refprep(
        "lint", *audio_in(named), "--select", "RP0,RP2", "--labels", "out/labels", "--report", "out/page.html",
        "--format", "jsonl", cwd=named.parent,
    )  # fmt: skip
    rows = [json.loads(line) for line in clean(done, 0, 1).out.splitlines()]
    assert len(rows) == len(NAMES)
    assert all(r["duration_s"] for r in rows)
    assert everything(named) == before
    assert sorted(p.name for p in named.parent.iterdir()) == ["in", "out"]
    assert sorted(p.name for p in (named.parent / "out").iterdir()) == ["labels", "page.html"]
    labels = {p.name for p in (named.parent / "out" / "labels").iterdir()}
    assert labels == {f"{name}.{kind}" for name in NAMES for kind in ("labels.txt", "TextGrid")}
    assert "<b>&amp;.wav" not in (named.parent / "out" / "page.html").read_text(encoding="utf-8")


@pytest.mark.speech
def test_corrected_copies_of_any_name_stay_in_their_folder(two_cities: Path, tmp_path: Path) -> None:
    samples, rate_hz = soundfile.read(two_cities / "two_cities.wav", frames=4 * 24_000, dtype="int16")
    hiss = np.random.default_rng(0).integers(-4, 5, 3 * rate_hz).astype(np.int16)
    audio = wav_bytes(np.concatenate([hiss, samples, hiss]), rate_hz)
    (tmp_path / "in").mkdir()
    for name in NAMES:
        (tmp_path / "in" / f"{name}.wav").write_bytes(audio)
    before = everything(tmp_path / "in")
    done = refprep(
        "lint", *audio_in(tmp_path / "in"), "--select", "RP205", "--fix", "--format", "jsonl", cwd=tmp_path
    )
    rows = [json.loads(line) for line in clean(done, 0, 1).out.splitlines()]
    assert [r.get("fixed") for r in rows] == [["RP205"]] * len(NAMES), done.err
    assert everything(tmp_path / "in") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["fixed", "in"]
    written = [json.loads(r) for r in (tmp_path / "fixed" / "utterances.jsonl").read_bytes().splitlines()]
    assert len(written) == len(NAMES)
    for row in written:
        assert (tmp_path / "fixed" / row["audio"]).resolve().parent == tmp_path / "fixed"
        assert (tmp_path / "fixed" / row["audio"]).is_file()


@pytest.mark.parametrize("option", ["-o", "--report", "--write-baseline"])
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/dev/stdout", "no regular file"),
        ("/dev/null", "no regular file"),
        ("pipe", "no regular file"),
        ("in", "this is a folder"),
        ("in/a.wav", "being checked"),
        ("in/../in/a.txt", "being checked"),
        ("link", "being checked"),
    ],
)
def test_a_target_that_would_destroy_something_is_refused(
    tmp_path: Path, option: str, target: str, message: str
) -> None:
    (tmp_path / "in").mkdir()
    soundfile.write(tmp_path / "in" / "a.wav", np.zeros(RATE_HZ), RATE_HZ)
    (tmp_path / "in" / "a.txt").write_text("x", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("in/a.wav")
    before = everything(tmp_path)
    assert message in refused(refprep("lint", "in", "--select", "RP2", option, target, cwd=tmp_path))
    assert everything(tmp_path) == before
    assert not Path("/dev/null").is_file()


def test_a_target_whose_name_the_disk_refuses_is_one_error(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(RATE_HZ), RATE_HZ)
    for name in ("json", "jsonl"):
        done = refprep("lint", "a.wav", "--select", "RP2", "--format", name, "-o", "x" * 300, cwd=tmp_path)
        assert "File name too long" in clean(done, 2, 3).err
        assert len(done.err.strip().splitlines()) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["a.wav"]


# --------------------------------------------------------------------------- settings and baselines


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[lint\n", "refprep.toml: not TOML"),
        (b"\xff\xfe", "refprep.toml: not TOML"),
        (b"[lint]\nselect = 5\n", "lint.select: 5 is not a list"),
        (b"[lint]\nselect = [5]\n", "lint.select"),
        (b'[lint]\nselect = ["RP999"]\n', "RP999"),
        (b"[lint]\nignore = { RP205 = '' }\n", "lint.ignore"),
        (b"[lint]\ncolour = true\n", "unknown key 'colour'"),
        (b"[linter]\n", "unknown section 'linter'"),
        (b"lint = 5\n", "unknown section 'lint'"),
        (b"[lint]\njobs = 1e400\n", "lint.jobs"),
        (b'[lint]\njobs = "two"\n', "lint.jobs"),
        (b"[lint]\njobs = -3\n", "-3 processes"),
        (b'[lint]\nfail_on = "panic"\n', "'panic' is no severity"),
        (b'[lint]\nseverity = { RP205 = "loud" }\n', "loud"),
        (b'[lint]\nprofile = "no-such-engine"\n', "no-such-engine"),
        (b'[lint]\nbaseline = "nowhere.json"\n', "nowhere.json: it cannot be read"),
        (b'[lint]\nbaseline = "a\\u0000b"\n', "no baseline"),
        (b"[" * 100_000, "refprep.toml: not TOML"),
        (b"a = " + b"[" * 100_000, "refprep.toml: not TOML"),
    ],
)
def test_settings_that_are_none_are_one_error(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "refprep.toml").write_bytes(content)
    soundfile.write(tmp_path / "a.wav", np.zeros(RATE_HZ), RATE_HZ)
    assert message in refused(refprep("lint", "a.wav", cwd=tmp_path))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", b"[]", b"5", b"\xff", b'{"schema_version": 99, "findings": []}', b'{"schema_version": 1}',
        b'{"schema_version": 1, "findings": 5}', b'{"schema_version": 1, "findings": [5]}',
        b'{"schema_version": 1, "findings": [{"pair_sha256": "x", "code": "RP205", "count": "many"}]}',
        b'{"schema_version": 1, "findings": [{"pair_sha256": "x", "code": "RP205", "count": 1e999}]}',
        b"[" * 200_000,
    ],
)  # fmt: skip
def test_a_baseline_that_is_none_is_one_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "known.json").write_bytes(content)
    soundfile.write(tmp_path / "a.wav", np.zeros(RATE_HZ), RATE_HZ)
    told = refused(refprep("lint", "a.wav", "--select", "RP2", "--baseline", "known.json", cwd=tmp_path))
    assert "known.json: it " in told
