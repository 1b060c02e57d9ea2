"""What machines read of a real run, and what is drawn for people: schemas, annotations at rows, a bar on a terminal."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import soundfile
from format_schemas import check_json, check_junit, check_sarif
from process import ROOT, refprep

RATE_HZ = 16_000
RULES = ("--select", "RP0,RP2,RP303,RP305,RP9")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest two folders down: clean, clipped, silent, unreadable and missing files, texts and waivers."""
    made = tmp_path_factory.mktemp("checkout")
    data = made / "data" / "set one"
    data.mkdir(parents=True)
    rng = np.random.default_rng(0)
    quiet = rng.normal(0, 0.05, RATE_HZ)
    for name, samples in {
        "a": quiet,
        "loud": np.clip(quiet * 60, -1, 1),
        "silent": np.zeros(RATE_HZ),
    }.items():
        soundfile.write(data / f"{name}.wav", samples, RATE_HZ)
    (data / "text.wav").write_text("no audio", encoding="utf-8")
    rows: list[dict[str, object]] = [
        {"audio": "a.wav", "text": "x", "speaker": "ours/gb/f/ana"},
        {"audio": "loud.wav", "speaker": "ours/gb/m/ana"},
        {"audio": "silent.wav", "text": "", "ignore": {"RP999": "no such rule", "RP2": "we know"}},
        {"audio": "text.wav", "text": "100 % {0} [a](b) ::error::"},
        {"audio": "gone.wav"},
    ]
    lines = [json.dumps(r) for r in rows]
    # An empty line and a mark of another line end: the rows keep their numbers.
    (data / "all.jsonl").write_text("\n".join([*lines[:2], "", *lines[2:]]), encoding="utf-8")
    return made


def test_real_output_holds_to_its_schemas(folder: Path) -> None:
    told = {}
    for name in ("json", "jsonl", "sarif", "junit"):
        done = refprep("lint", "data/set one/all.jsonl", *RULES, "--format", name, cwd=folder)
        assert done.code == 1, done.err
        told[name] = done.out
    document = check_json(told["json"])
    lines = [check_json(line) for line in told["jsonl"].splitlines()]
    assert [{"schema_version": 1, **f} for f in document["files"]] == lines
    found = [f["code"] for r in lines for f in r["findings"]]
    assert {"RP001", "RP901", "RP305"} & set(found)
    assert [r["ruleId"] for r in check_sarif(told["sarif"])["runs"][0]["results"]] == found
    check_junit(told["junit"])


def test_annotations_and_code_scanning_point_at_the_row_of_the_manifest(folder: Path) -> None:
    manifest = folder / "data" / "set one" / "all.jsonl"
    rows = manifest.read_text(encoding="utf-8").splitlines()
    places: dict[str, list[tuple[str, int]]] = {}
    done = refprep("lint", "data/set one/all.jsonl", *RULES, "--format", "github", cwd=folder)
    shape = r"::(?:error|warning|notice) file=([^,:]+),line=(\d+),title=(RP\d{3}) [a-z0-9-]+::(.+)"
    matches = [re.fullmatch(shape, line) for line in done.out.splitlines()]
    assert all(matches)
    places["github"] = [(m[1], int(m[2])) for m in matches if m]
    for match in filter(None, matches):
        row = json.loads(rows[int(match[2]) - 1])
        assert match[4].startswith(f"data/set one/{row['audio']}: ")
    scanned = refprep("lint", "data/set one/all.jsonl", *RULES, "--format", "sarif", cwd=folder)
    places["sarif"] = [
        (unquote(p["artifactLocation"]["uri"]), p["region"]["startLine"])
        for r in json.loads(scanned.out)["runs"][0]["results"]
        for p in [r["locations"][0]["physicalLocation"]]
    ]
    assert places["github"] == places["sarif"]
    assert {file for file, _ in places["github"]} == {"data/set one/all.jsonl"}
    assert {5, 6} <= {line for _, line in places["github"]} <= {1, 2, 4, 5, 6}


def test_a_text_named_alone_is_checked_with_its_audio(folder: Path, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(RATE_HZ), RATE_HZ)
    (tmp_path / "a.txt").write_text("It was.", encoding="utf-8")
    for named in (["a.txt"], ["a.wav", "a.txt"]):
        done = refprep("lint", *named, "--select", "RP2", "--format", "jsonl", cwd=tmp_path)
        (row,) = map(json.loads, done.out.splitlines())
        assert (row["path"], row["text"]) == ("a.wav", "It was.")
    (tmp_path / "b.txt").write_text("alone", encoding="utf-8")
    done = refprep("lint", "a.wav", "b.txt", "--select", "RP2", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("refprep: b.txt: no audio beside this text\n  help: ")


# --------------------------------------------------------------------------- progress


def on_a_terminal(folder: Path, *args: str) -> tuple[str, str]:
    """Standard output, a pipe, and what a terminal on standard error was sent."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "refprep", "lint", *args],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=slave,
    )
    os.close(slave)
    drawn = b""
    end = time.monotonic() + 120
    assert process.stdout is not None
    while time.monotonic() < end:
        if not select.select([master], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            part = os.read(master, 4096)
        except OSError:  # Linux: the last one who had it open is gone
            break
        if not part:
            break
        drawn += part
    os.close(master)
    out = process.stdout.read().decode()
    process.stdout.close()
    process.wait(60)
    return out, drawn.decode(errors="replace")


def test_a_bar_is_drawn_on_a_terminal_and_nothing_of_it_in_the_result(folder: Path) -> None:
    out, drawn = on_a_terminal(folder, "data/set one/all.jsonl", *RULES, "--format", "jsonl")
    assert "lint" in drawn
    assert "5/5" in drawn
    assert len([json.loads(line) for line in out.splitlines()]) == 5
    _, drawn = on_a_terminal(folder, "data/set one/all.jsonl", *RULES, "--format", "jsonl", "--quiet")
    assert drawn == ""


@pytest.mark.parametrize("name", ["jsonl", "json"])
def test_nothing_is_drawn_where_standard_error_is_no_terminal(folder: Path, name: str) -> None:
    done = refprep("lint", "data/set one/all.jsonl", *RULES, "--format", name, cwd=folder)
    assert done.err == ""
    assert "\x1b" not in done.out


def test_a_baseline_that_is_written_again_keeps_what_is_known(folder: Path, tmp_path: Path) -> None:
    """Written under settings that name it, it once lost the findings that it forgave."""
    (tmp_path / "refprep.toml").write_text(
        '[lint]\nbaseline = "known.json"\nselect = ["RP0", "RP2"]\n', encoding="utf-8"
    )
    (tmp_path / "known.json").write_text('{"schema_version": 1, "findings": []}', encoding="utf-8")
    clips = folder / "data" / "set one"
    written = []
    for _ in range(2):
        done = refprep("lint", clips, "--write-baseline", "known.json", "-q", cwd=tmp_path)
        assert done.code == 0, done.err
        written.append((tmp_path / "known.json").read_text(encoding="utf-8"))
    assert written[0] == written[1]
    assert len(json.loads(written[0])["findings"]) >= 3
    done = refprep("lint", clips, cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    assert "known from the baseline" in done.err
