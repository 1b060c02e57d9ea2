"""Hostile input to `refprep lint`: one finding or one clear error each, no traceback, no hang, nothing written elsewhere."""

# ruff: noqa: RUF001  # letters that look like others are the point

from __future__ import annotations

import csv
import io
import json
import os
import re
import struct
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import soundfile
from format_schemas import check_json, check_junit, check_sarif
from process import Done, clean, refprep

RATE_HZ = 16_000
MUTANTS = 24  # of each container and seed


def refused(done: Done) -> str:
    """One clear error: what and where on one line, the help below it."""
    assert clean(done, 2).out == ""
    first, *rest = done.err.strip().splitlines()
    assert first.startswith("refprep: ")
    assert len(rest) == 1
    assert rest[0].startswith("  help: ")
    return first


def snapshot(folder: Path) -> dict[str, int]:
    return {
        str(p.relative_to(folder)): p.stat().st_mtime_ns
        for p in folder.rglob("*")
        if p.is_file() and not p.is_symlink()
    }


# --------------------------------------------------------------------------- audio


def noise(seconds: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(3).normal(0.0, 0.05, round(seconds * RATE_HZ))


def encode_m4a(path: Path) -> None:
    import av

    with av.open(str(path), "w", format="mp4") as file:
        stream = file.add_stream("aac", rate=RATE_HZ)
        frame = av.AudioFrame.from_ndarray(
            noise(1.0).astype(np.float32)[None, :], format="fltp", layout="mono"
        )
        frame.sample_rate = RATE_HZ
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            file.mux(packet)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    for name, options in {
        "a.wav": {}, "a.flac": {}, "a.mp3": {}, "a.ogg": {}, "b.wav": {"subtype": "FLOAT"}, "a.aiff": {},
    }.items():  # fmt: skip
        soundfile.write(folder / name, noise(1.0), RATE_HZ, **options)
    encode_m4a(folder / "a.m4a")
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def mutate(data: bytes, rng: np.random.Generator) -> bytes:
    """A header with wrong bytes, a file cut short, doubled, padded, or with a size field that lies."""
    spoilt = bytearray(data)
    kind = rng.integers(6)
    if kind == 0:
        for at in rng.integers(0, min(64, len(spoilt)), rng.integers(1, 6)):
            spoilt[at] = rng.integers(256)
    elif kind == 1:
        del spoilt[int(rng.integers(1, len(spoilt))) :]
    elif kind == 2:
        at = int(rng.integers(0, min(200, len(spoilt) - 4)))
        spoilt[at : at + 4] = struct.pack("<I", int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF])))
    elif kind == 3:
        at = int(rng.integers(0, len(spoilt)))
        spoilt[at:at] = rng.bytes(int(rng.integers(1, 400)))
    elif kind == 4:
        for at in rng.integers(0, len(spoilt), 40):
            spoilt[at] = rng.integers(256)
    else:
        at = int(rng.integers(0, len(spoilt) // 2))
        del spoilt[at : at + int(rng.integers(1, 300))]
    return bytes(spoilt)


@pytest.mark.parametrize("seed", [1, 2])
def test_mutated_audio_is_a_report_each(originals: dict[str, bytes], tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = []
    for name, data in originals.items():
        suffixes = [Path(name).suffix, ".wav", ".mp3", ".flac"]
        for k in range(MUTANTS):
            path = (
                tmp_path / f"{name.replace('.', '_')}_{k:02}{suffixes[0] if k % 3 else rng.choice(suffixes)}"
            )
            path.write_bytes(mutate(data, rng))
            names.append(str(path))
    done = clean(refprep("lint", tmp_path, "--select", "RP0,RP2", "--format", "jsonl", "--no-cache"), 0, 1)
    assert done.err == ""
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [r["path"] for r in rows] == sorted(names)
    for row in rows:
        unreadable = [f for f in row["findings"] if f["code"] == "RP001"]
        assert bool(unreadable) != (row["duration_s"] is not None), row
        assert len(unreadable) <= 1
        assert all(f["message"] and f["remedy"] for f in row["findings"])


def test_what_is_no_file_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "zero.wav").symlink_to("/dev/zero")
    (tmp_path / "loop.wav").symlink_to("loop.wav")
    (tmp_path / "gone.wav").symlink_to("nowhere.wav")
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "empty.wav").write_bytes(b"")
    done = clean(refprep("lint", tmp_path, "--select", "RP0", "--format", "jsonl"), 1)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert len(rows) == 6
    assert all([f["code"] for f in r["findings"]] == ["RP001"] for r in rows)


# --------------------------------------------------------------------------- manifests


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.jsonl", b"", "names no audio"),
        ("m.jsonl", b"\n\n", "names no audio"),
        ("m.jsonl", b"[1, 2]\n", "m.jsonl:1: the row is no JSON object"),
        ("m.jsonl", b'{"audio": "a.wav"\n', "m.jsonl:1: not JSON"),
        ("m.jsonl", b'{"text": "x"}\n', "m.jsonl:1: no audio column"),
        ("m.jsonl", b'{"audio": ""}\n', "m.jsonl:1: no audio column"),
        ("m.jsonl", b'{"audio": "a\\u0000.wav"}\n', "m.jsonl:1: the path holds a NUL"),
        ("m.jsonl", b'{"audio": ["a.wav"]}\n', "m.jsonl:1: audio is a list"),
        ("m.jsonl", b'{"audio": "a.wav", "text": {"de": "x"}}\n', "m.jsonl:1: text is an object"),
        ("m.jsonl", b"[" * 200_000 + b"\n", "m.jsonl:1: not JSON"),
        ("m.jsonl", b'{"audio": "a.wav", "text": "caf\xe9"}\n', "not UTF-8 (byte 31)"),
        ("m.jsonl", b"\xff\xfe{\x00}\x00", "not UTF-8"),
        ("m.csv", b"", "the file is empty"),
        ("m.csv", b"wave,words\na.wav,x\n", "m.csv:2: no audio column"),
        ("m.csv", b"path,text\na.wav,x,y,z\n", "m.csv:2: the row has more cells"),
        ("m.csv", b'path,text\na.wav,x\n"b.wav,x\nc.wav,y\n', "m.csv:3: not CSV: unexpected end of data"),
        ("m.csv", b'path,text\na.wav,"x" y\n', "m.csv:2: not CSV: ',' expected after"),
        ("m.csv", b"path,text\na.wav," + b"x" * 1_000_000 + b"\n", "m.csv:2: not CSV"),
        ("m.list", b"a.wav|spk\n", "m.list:1: expected wav|speaker|language|text"),
        ("metadata.csv", b"only one cell\n", "metadata.csv:1: expected id|text"),
    ],
)
def test_a_manifest_that_is_none_is_one_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    before = snapshot(tmp_path)
    told = refused(refprep("lint", name, "-o", "out.json", "--format", "json", cwd=tmp_path))
    assert message in told
    assert snapshot(tmp_path) == before


def test_rows_may_point_anywhere_and_twice_and_nothing_is_written_there(tmp_path: Path) -> None:
    data, work = tmp_path / "data", tmp_path / "work"
    (data / "sub").mkdir(parents=True)
    work.mkdir()
    soundfile.write(data / "a.wav", noise(1.0), RATE_HZ)
    rows = [
        "../data/a.wav",
        str(data / "a.wav"),
        "../data/../data/a.wav",
        "../data/a.wav",
        "../../../../no.wav",
        "a b\n.wav",
    ]
    (work / "m.jsonl").write_text("".join(json.dumps({"audio": r}) + "\n" for r in rows), encoding="utf-8")
    before = snapshot(data)
    done = refprep(
        "lint", "m.jsonl", "--select", "RP0,RP2", "--format", "json", "--labels", "out/labels", "--report",
        "out/r.html", "-o", "out/r.json", cwd=work,
    )  # fmt: skip
    assert clean(done, 1).out == ""
    files = json.loads((work / "out/r.json").read_text(encoding="utf-8"))["files"]
    assert [bool(f["duration_s"]) for f in files] == [True] * 4 + [False] * 2
    assert [f["text_source"] for f in files] == [f"m.jsonl:{k}" for k in range(1, 7)]
    assert snapshot(data) == before
    assert {Path(p).parts[0] for p in snapshot(work)} == {"m.jsonl", "out"}
    labels = sorted(p.name for p in (work / "out/labels").iterdir())
    assert labels == sorted(
        f"a{n}.{kind}" for n in ("", "-2", "-3", "-4") for kind in ("TextGrid", "labels.txt")
    )


# --------------------------------------------------------------------------- texts

TEXTS = [
    "", " \t ", "\u0000", "bell \u0007 escape \u001b[31m red", "line\u2028separator\u2029 and\u0085next",
    "שלום עולם", "\u202eright to left\u202c", "مرحبا بالعالم", "zero\u200bwidth\u200djoined\ufeff",
    "😀 👩‍👩‍👧‍👦 🇩🇪", "a" + "\u0301" * 500, "Ｆｕｌｌ ｗｉｄｔｈ", "ℌ𝔢𝔩𝔩𝔬", "x" * 5000, "... --- !!!", "1" * 400,
    "<script>alert(1)</script>", "{0} %s %n $(rm -rf) `id` ${HOME}", "=HYPERLINK(1)", "\ud800 lone \udfff",
    "เมื่อคืนนี้ฝนตก", "今天天气很好", "０１２３", "½ ² ① Ⅳ", "it was\r\nthe best\x0b of times",
]  # fmt: skip


def rows_of_any_size(text: str) -> list[dict[str, str]]:
    """CSV with cells of a megabyte; the limit is one for the whole process, so it is put back."""
    before = csv.field_size_limit(10_000_000)
    try:
        return list(csv.DictReader(io.StringIO(text, newline="")))
    finally:
        csv.field_size_limit(before)


@pytest.mark.weights
@pytest.mark.speech
def test_hostile_texts_are_a_report_each_in_every_format(
    pieces: Path, rows: list[dict[str, object]], tmp_path: Path
) -> None:
    row = min(rows, key=lambda r: float(str(r["duration_s"])))
    clip = str(pieces / str(row["audio"]))
    texts = [*TEXTS, "word " * 200_000, "x" * 1_000_000]
    manifest = tmp_path / "m.jsonl"
    manifest.write_text(
        "".join(json.dumps({"audio": clip, "text": t, "language": "en"}) + "\n" for t in texts)
    )
    readers: dict[str, Callable[[str], int]] = {
        # The first measures, the others have it from the cache.
        "text": lambda out: len(texts),
        "jsonl": lambda out: len([check_json(line) for line in out.removesuffix("\n").split("\n")]),
        "json": lambda out: len(check_json(out)["files"]),
        "csv": lambda out: len({r["text_source"] for r in rows_of_any_size(out)}),
        "junit": lambda out: check_junit(out) or len(list(ElementTree.fromstring(out.encode()).iter("testcase"))),
        "sarif": lambda out: len(check_sarif(out)["runs"]) * len(texts),
        "github": lambda out: len(texts) if re.fullmatch(r"(?:::.*\n)+", out) else 0,
    }  # fmt: skip
    for name, count in readers.items():
        options = ["--report", tmp_path / "r.html", "--labels", tmp_path / "labels"] if name == "text" else []
        target = tmp_path / f"out.{name}"
        done = clean(refprep("lint", manifest, "--format", name, "-o", target, "-q", *options), 1)
        assert (done.out, done.err) == ("", "")
        out = target.read_bytes().decode("utf-8")
        assert count(out) == len(texts), name
        assert name == "text" or "\x1b" not in out
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page


def test_a_text_file_that_is_not_utf_8_is_one_error(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", noise(1.0), RATE_HZ)
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    assert "a.txt: not UTF-8 (byte 3)" in refused(refprep("lint", tmp_path))
    (tmp_path / "a.txt").write_bytes(b"x" * (1 << 21))
    assert "more than 1 MiB" in refused(refprep("lint", tmp_path))
