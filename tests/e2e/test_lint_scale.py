"""Ten thousand rows: memory stays flat, a kill loses and doubles nothing, targets appear whole or not at all."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from process import ROOT, Done, refprep

pytestmark = [pytest.mark.slow]

RATE_HZ = 16_000
FILES = 50
MANY, FEW, KILLED = 10_000, 200, 600
RULES = "RP0,RP2,RP303,RP305,RP9"  # no recogniser: the rows are the point
MARGIN_MB = 60
FORMATS = ("jsonl", "json", "csv", "junit", "sarif", "github", "text")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifty tones, manifests of few and many rows on them, and a cache of its own."""
    made = tmp_path_factory.mktemp("scale")
    noise = np.random.default_rng(1)
    for k in range(FILES):
        t = np.arange(round(RATE_HZ * (0.5 + 0.01 * k))) / RATE_HZ
        tone = 0.2 * np.sin(2 * np.pi * (120 + k) * t) + noise.normal(0, 0.01, len(t))
        soundfile.write(made / f"c{k:02}.wav", tone, RATE_HZ)
    for count in (MANY, FEW, KILLED):
        write_manifest(made / f"m{count}.jsonl", count)
    refprep("lint", "m10000.jsonl", *OPTIONS, "--format", "csv", "-q", cwd=made, env=cache(made))
    return made


OPTIONS = ("--select", RULES)


def write_manifest(path: Path, count: int, **changes: object) -> None:
    """Several rows a file: other texts and speakers, some waivers, some files that are not there."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row: dict[str, object] = {
                "audio": f"c{number % FILES:02}.wav" if number % 97 else "gone.wav",
                "text": f"row {number % (4 * FILES)} says this",
                "speaker": f"ours/gb/{'fm'[number % 2]}/s{number % 7}",
            }
            if number % 11 == 0:
                row["ignore"] = {"RP205": "room tone"}
            file.write(json.dumps(row | changes) + "\n")


def cache(folder: Path) -> dict[str, str]:
    return {"REFPREP_CACHE": str(folder / "cache")}


def start(folder: Path, *args: str | Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "refprep", "lint", *map(str, args)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **cache(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def lint(folder: Path, *args: str | Path) -> Done:
    return refprep("lint", *args, cwd=folder, env=cache(folder))


# --------------------------------------------------------------------------- memory


def peak_mb(folder: Path, *args: str | Path) -> float:
    """Peak resident memory of a run, itself and without what this process had when it forked."""
    process = start(folder, *args, "-q", *OPTIONS)
    assert process.stderr is not None
    told = process.stderr.read()
    process.stderr.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 1, told[-2000:]
    return used.ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


@pytest.fixture(scope="module")
def few_mb(folder: Path) -> float:
    return peak_mb(folder, f"m{FEW}.jsonl", "--format", "jsonl", "-o", "few.jsonl")


@pytest.mark.parametrize("name", FORMATS)
def test_memory_does_not_grow_with_the_rows(folder: Path, few_mb: float, name: str) -> None:
    many_mb = peak_mb(folder, f"m{MANY}.jsonl", "--format", name, "-o", f"many.{name}")
    assert many_mb - few_mb < MARGIN_MB, (few_mb, many_mb)
    if name in ("json", "jsonl"):
        text = (folder / f"many.{name}").read_text(encoding="utf-8")
        rows = json.loads(text)["files"] if name == "json" else [json.loads(r) for r in text.splitlines()]
        assert [r["text_source"] for r in rows] == [f"m{MANY}.jsonl:{n}" for n in range(1, MANY + 1)]
        assert sum(f["code"] == "RP001" for r in rows for f in r["findings"]) == -(-MANY // 97)


def test_memory_does_not_grow_with_the_rows_of_a_report(folder: Path) -> None:
    few, many = (peak_mb(folder, f"m{count}.jsonl", "--report", f"{count}.html") for count in (FEW, MANY))
    assert many - few < MARGIN_MB, (few, many)


# --------------------------------------------------------------------------- kills


def kill_when(process: subprocess.Popen[bytes], is_due: Callable[[], bool], number: int) -> bool:
    """Send a signal as soon as it is due; False where the process was done before."""
    end = time.monotonic() + 120
    while process.poll() is None and not is_due():
        assert time.monotonic() < end
        time.sleep(0.002)
    is_killed = process.poll() is None
    if is_killed:
        process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert b"Traceback" not in told
    return is_killed


def written(folder: Path, name: str) -> int:
    """Bytes that a run in progress has written."""
    return sum(p.stat().st_size for p in folder.glob(f".{name}.*.partial"))


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_anywhere_and_gone_on_with_every_row_is_there_once(folder: Path, jobs: int) -> None:
    options = (f"m{KILLED}.jsonl", *OPTIONS, "--format", "jsonl")
    whole, name = f"whole{jobs}.jsonl", f"killed{jobs}.jsonl"
    # "info": the code at the end must count what the killed runs found.
    assert lint(folder, *options, "-o", whole, "--fail-on", "info").code == 1
    length = (folder / whole).stat().st_size
    rng = random.Random(jobs)
    kills = 0
    for _ in range(4):
        due = written(folder, name) + rng.randrange(1, length // 4)
        process = start(folder, *options, "-o", name, "--resume", "-j", str(jobs))
        kills += kill_when(process, lambda due=due: written(folder, name) >= due, signal.SIGKILL)
        assert not (folder / name).exists() or not kills
        if process.returncode >= 0:
            break
        (partial,) = folder.glob(f".{name}.*.partial")
        if rng.random() < 0.5:
            os.truncate(partial, max(0, partial.stat().st_size - rng.randrange(1, 300)))
    assert kills >= 2
    done = lint(folder, *options, "-o", name, "--resume", "-j", str(jobs), "--fail-on", "info")
    assert done.code == 1, done.err
    assert (folder / name).read_bytes() == (folder / whole).read_bytes()
    assert not list(folder.glob(f".{name}*"))


def killed_halfway(folder: Path, manifest: str, name: str, *options: str) -> None:
    process = start(folder, manifest, *OPTIONS, "--format", "jsonl", "-o", name, *options)
    assert kill_when(process, lambda: written(folder, name) > 30_000, signal.SIGKILL)


def test_what_was_found_before_the_kill_counts_in_the_exit_code(folder: Path) -> None:
    """Only the first rows have findings: all of them are in the killed run's lines."""
    write_manifest(folder / "first.jsonl", 5000)
    lines = (folder / "first.jsonl").read_text(encoding="utf-8").splitlines()
    clean = [line if n < 3 else json.dumps({"audio": "c01.wav"}) for n, line in enumerate(lines)]
    (folder / "first.jsonl").write_text("\n".join(clean), encoding="utf-8")
    options = ("--select", "RP001", "--format", "jsonl", "-o", "first.out")
    process = start(folder, "first.jsonl", *options)
    assert kill_when(process, lambda: written(folder, "first.out") > 3000, signal.SIGKILL)
    done = lint(folder, "first.jsonl", *options, "--resume")
    assert done.code == 1
    rows = [json.loads(line) for line in (folder / "first.out").read_text(encoding="utf-8").splitlines()]
    assert [bool(r["findings"]) for r in rows] == [True] + [False] * 4999


@pytest.mark.parametrize("what", ["waiver", "audio", "settings", "baseline"])
def test_what_changed_after_the_kill_is_looked_at_again(folder: Path, tmp_path: Path, what: str) -> None:
    name, manifest = f"changed-{what}.out", f"changed-{what}.jsonl"
    write_manifest(folder / manifest, 1500)
    known = folder / "known.json"
    known.write_text('{"schema_version": 1, "findings": []}', encoding="utf-8")
    options = ["--baseline", "known.json"] if what == "baseline" else []
    killed_halfway(folder, manifest, name, *options)
    clip = folder / "c00.wav"
    before = clip.read_bytes()
    if what == "waiver":
        write_manifest(folder / manifest, 1500, ignore={"RP9": "we know", "RP2": "we know"})
    elif what == "audio":
        clip.write_bytes(b"no audio")
    elif what == "settings":
        options = ["--ignore", "RP2"]
    else:
        lint(folder, manifest, *OPTIONS, "--write-baseline", known)
    try:
        run = (manifest, *OPTIONS, *options, "--format", "jsonl", "--fail-on", "never")
        assert lint(folder, *run, "-o", name, "--resume").code == 0
        assert lint(folder, *run, "-o", f"{name}.fresh").code == 0
    finally:
        clip.write_bytes(before)
    assert (folder / name).read_bytes() == (folder / f"{name}.fresh").read_bytes()


def test_two_runs_on_one_file_are_refused(folder: Path) -> None:
    options = (f"m{MANY}.jsonl", "--format", "jsonl", "-o", "both.out")
    first = start(folder, *options, *OPTIONS)
    end = time.monotonic() + 60
    while not written(folder, "both.out"):
        assert time.monotonic() < end
        time.sleep(0.005)
    for rules in (OPTIONS, ("--select", "RP001")):
        second = lint(folder, *options, *rules, "--resume")
        assert (second.code, second.out) == (2, "")
        assert "both.out: another run is writing to this file" in second.err
    first.communicate(timeout=120)
    assert first.returncode == 1
    assert len((folder / "both.out").read_bytes().splitlines()) == MANY


@pytest.mark.parametrize(
    ("name", "number", "jobs"),
    [
        ("json", signal.SIGINT, "1"),
        ("json", signal.SIGINT, "2"),
        ("json", signal.SIGTERM, "2"),
        ("json", signal.SIGKILL, "1"),
        ("sarif", signal.SIGTERM, "1"),
        ("junit", signal.SIGKILL, "1"),
        ("jsonl", signal.SIGINT, "1"),
    ],
)
def test_a_stopped_run_leaves_no_target_or_the_old_one(
    folder: Path, name: str, number: signal.Signals, jobs: str
) -> None:
    target = folder / f"stopped-{number}-{jobs}.{name}"
    if name == "sarif":
        target.write_text("old", encoding="utf-8")
    process = start(folder, f"m{MANY}.jsonl", *OPTIONS, "--format", name, "-o", target.name, "-j", jobs)

    def is_writing() -> bool:
        return name == "junit" or any(p.stat().st_size for p in folder.glob(f".{target.name}.*"))

    if name == "junit":  # it writes when all is known
        time.sleep(random.Random(number).uniform(0.5, 2.0))
    assert kill_when(process, is_writing, number)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert target.read_text(encoding="utf-8") == "old" if name == "sarif" else not target.exists()
