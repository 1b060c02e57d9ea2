"""Does the cost of a voice stay what it is from 200 to 2,000 speakers? Made from a few real clips, by reference.

python examples/corpus_at_scale.py MANIFEST.csv OUTPUT [--speakers 200,2000] [--clips 20] [--jobs 2] [--asr MODEL]

MANIFEST names real clips with texts and speaker ids (several clips of a speaker). Every made-up speaker has all clips of
one of them and, up to the number asked for, one clip each of strangers. A first run of every real speaker fills the cache,
since what is measured is the run, not the recogniser. Each run is killed once, half-way, and goes on with --resume.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from refprep.manifest import Utterance, read_utterances

_LEAST_OWN = 7


def main() -> int:
    """Run the sizes one after the other and print what each speaker cost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--speakers", default="200,2000")
    parser.add_argument("--clips", type=int, default=20)
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--asr", default="auto")
    options = parser.parse_args()
    people = read_people(options.manifest)
    sizes = [int(n) for n in options.speakers.split(",")]
    options.output.mkdir(parents=True, exist_ok=True)
    common = ["--jobs", options.jobs, "--asr", options.asr, "-q"]
    warm = make_corpus(people, len([p for p in people.values() if len(p) >= _LEAST_OWN]), options.clips)
    run(write_manifest(options.output / "warm.jsonl", warm), options.output / "warm", common)
    costs_s: list[float] = []
    for size in sizes:
        rows = write_manifest(options.output / f"{size}.jsonl", make_corpus(people, size, options.clips))
        voices = options.output / f"voices-{size}"
        killed = run_until_half(rows, voices, common, size)
        done = run(rows, voices, [*common, "--resume"])
        ledger = [json.loads(line) for line in (voices / "ledger.jsonl").read_text("utf-8").splitlines()]
        last = {row["speaker"]: row for row in ledger}
        costs_s.append(statistics.mean(row["wall_s"] for row in last.values()))
        counts: dict[str, int] = defaultdict(int)
        for row in last.values():
            counts[row["status"]] += 1
        print(
            f"{size:6} speakers: {dict(counts)}, {killed} lines before the kill, {len(ledger)} in all, "
            f"{1000 * costs_s[-1]:.0f} ms a speaker, peak {done['peak_mib']:.0f} MiB, "
            f"{done['wall_s']:.0f} s for the rest",
            flush=True,
        )
        if set(last) != {f"made/en/u/{k:05}" for k in range(size)}:
            print("speakers were lost")
            return 1
    print(f"cost of a speaker, last over first: {costs_s[-1] / costs_s[0]:.3f}")
    return 0


def read_people(manifest: Path) -> dict[str, list[Utterance]]:
    """Real speakers with their clips: undamaged ones, with texts."""
    people: dict[str, list[Utterance]] = defaultdict(list)
    for row in read_utterances([manifest]):
        fit = (
            str(row.extra.get("identity_ok", "1")) != "0" and row.extra.get("kind", "original") == "original"
        )
        if row.speaker and row.text and fit:
            people[row.speaker].append(row)
    return people


def make_corpus(people: dict[str, list[Utterance]], size: int, clips: int) -> list[dict[str, str]]:
    """Rows of made-up speakers, the same for the same size."""
    rng = random.Random(size)  # a draw, no secret
    real = sorted(s for s, own in people.items() if len(own) >= _LEAST_OWN)
    rows = []
    for number in range(size):
        own = people[real[number % len(real)]][:clips]
        strangers = rng.sample(sorted(set(people) - {own[0].speaker}), clips - len(own))
        for clip in [*own, *(people[s][0] for s in strangers)]:
            rows.append(
                {
                    "audio": str(clip.audio.resolve()),
                    "text": clip.text or "",
                    "language": clip.language,
                    "speaker": f"made/en/u/{number:05}",
                }
            )
    return rows


def write_manifest(path: Path, rows: list[dict[str, str]]) -> Path:
    """One JSON object a line."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def command(manifest: Path, voices: Path, options: list[str]) -> list[str]:
    """The command line."""
    build = [sys.executable, "-m", "refprep", "build", "--manifest", str(manifest), "-o", str(voices)]
    return [*build, *options]


def run(manifest: Path, voices: Path, options: list[str]) -> dict[str, float]:
    """Run to the end; wall time and the largest memory that the run and its workers held together, sampled."""
    start_s = time.monotonic()
    process = subprocess.Popen(command(manifest, voices, options), stdout=subprocess.DEVNULL)
    peak_mib = 0.0
    while process.poll() is None:
        peak_mib = max(peak_mib, memory_mib(process.pid))
        time.sleep(0.25)
    if process.returncode not in (0, 1):
        raise SystemExit(f"refprep ended with {process.returncode}")
    return {"wall_s": time.monotonic() - start_s, "peak_mib": peak_mib}


def run_until_half(manifest: Path, voices: Path, options: list[str], size: int) -> int:
    """Kill a run when half of its speakers are in the ledger; how many were."""
    process = subprocess.Popen(command(manifest, voices, options), stdout=subprocess.DEVNULL)
    ledger = voices / "ledger.jsonl"
    while process.poll() is None:
        lines = ledger.read_bytes().count(b"\n") if ledger.is_file() else 0
        if lines >= size // 2:
            process.send_signal(signal.SIGKILL)
        time.sleep(0.2)
    process.wait()
    return ledger.read_bytes().count(b"\n")


def memory_mib(pid: int) -> float:
    """Private and shared memory of a process and its children, Linux only; 0 elsewhere."""
    total_kib = 0
    for one in [pid, *children(pid)]:
        try:
            rollup = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            continue
        total_kib += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total_kib / 1024


def children(pid: int) -> list[int]:
    """All descendants."""
    try:
        own = [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []
    return [*own, *(g for c in own for g in children(c))]


if __name__ == "__main__":
    sys.exit(main())
