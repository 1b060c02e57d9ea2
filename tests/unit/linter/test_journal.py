"""A killed run's lines: the next run believes the longest run of them that still holds, and nothing behind it."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import MachineError, UsageError
from refprep.linter.journal import Journal
from refprep.manifest import Utterance

TEXTS = st.none() | st.text(st.characters(codec=None), max_size=30)  # lone surrogates, too


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files and one that is not there."""
    folder = tmp_path_factory.mktemp("clips")
    for name in "abc":
        (folder / f"{name}.wav").write_bytes(name.encode())
    return [folder / f"{name}.wav" for name in "abcd"]


@st.composite
def runs(draw):
    """Rows of a run, how many were written before the kill, and what is left of the two files."""
    texts = draw(st.lists(TEXTS, min_size=1, max_size=8))
    files = draw(st.lists(st.integers(0, 3), min_size=len(texts), max_size=len(texts)))
    written = draw(st.integers(0, len(texts)))
    cuts = draw(st.tuples(st.integers(0, 400), st.integers(0, 400)))
    return list(zip(texts, files, strict=True)), written, cuts


def line_of(utterance: Utterance, number: int) -> str:
    return json.dumps({"path": str(utterance.audio), "n": number, "text": utterance.text}, ensure_ascii=False)


def write(
    journal: Journal, rows: list[Utterance], *, kill: bool, resume: bool = False, skip: int = 0
) -> None:
    """Write lines; a killed run ends in the middle, as an error does."""
    try:
        with journal.open(resume=resume) as lines:
            for number, row in enumerate(rows[skip:], start=skip):
                lines.add(line_of(row, number), row, None)
            if kill:
                raise InterruptedError
    except InterruptedError:
        pass


def numbers_left(journal: Journal, rows: list[Utterance]) -> list[int]:
    """What a next run believes; it is killed at once."""
    found = []
    try:
        with journal.open(resume=True) as lines:
            found = [row["n"] for row in lines.finished(rows)]
            raise InterruptedError
    except InterruptedError:
        return found


def cut(path: Path, num_bytes: int) -> int:
    size = max(0, path.stat().st_size - num_bytes)
    os.truncate(path, size)
    return size


@settings(max_examples=150, deadline=None)
@given(run=runs())
def test_any_cut_leaves_the_longest_whole_beginning(clips, run):
    pairs, written, (cut_lines, cut_rows) = run
    rows = [Utterance(clips[k], text, source=f"m.jsonl:{n}") for n, (text, k) in enumerate(pairs, start=1)]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "out.jsonl")
        journal = Journal(target, "settings")
        write(journal, rows[:written], kill=True)
        whole = journal.path.read_bytes().splitlines(keepends=True)
        lines_left, rows_left = cut(journal.path, cut_lines), cut(journal.rows_path, cut_rows)
        ends = [sum(map(len, whole[: n + 1])) for n in range(len(whole))]
        expected = min(sum(end <= lines_left for end in ends), rows_left // 65)

        assert numbers_left(journal, rows) == list(range(expected))
        assert journal.path.read_bytes() == b"".join(whole[:expected])
        assert journal.rows_path.stat().st_size == 65 * expected
        assert not target.exists()

        # Gone on with, the file is that of a run nobody killed.
        with journal.open(resume=True) as lines:
            done = len(list(lines.finished(rows)))
            for number, row in enumerate(rows[done:], start=done):
                lines.add(line_of(row, number), row, None)
        told = [json.loads(line) for line in target.read_bytes().splitlines()]
        assert [row["n"] for row in told] == list(range(len(rows)))
        assert sorted(p.name for p in Path(folder).iterdir()) == ["out.jsonl"]


CHANGES = {
    "text": lambda u: replace(u, text="other"),
    "language": lambda u: replace(u, language="de"),
    "speaker": lambda u: replace(u, speaker="ana"),
    "place": lambda u: replace(u, source="m.jsonl:99"),
    "waiver": lambda u: replace(u, extra={"ignore": {"RP205": "wanted"}}),
    "path": lambda u: replace(u, audio=u.audio.parent / ".." / u.audio.parent.name / u.audio.name),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_changed_row_is_not_resumed_from(clips, tmp_path, what, place):
    rows = [Utterance(clips[n % 4], f"text {n}", "en", source=f"m.jsonl:{n}") for n in range(1, 6)]
    journal = Journal(tmp_path / "out.jsonl", "settings")
    write(journal, rows, kill=True)
    rows[place] = CHANGES[what](rows[place])
    assert numbers_left(journal, rows) == list(range(place))


@pytest.mark.parametrize("change", [b"other", None])
def test_changed_audio_is_not_resumed_from(tmp_path, change):
    rows = [Utterance(tmp_path / f"{n}.wav", "x", source=f"m.jsonl:{n}") for n in range(4)]
    for row in rows:
        row.audio.write_bytes(b"audio")
    journal = Journal(tmp_path / "out.jsonl", "settings")
    write(journal, rows, kill=True)
    if change is None:
        rows[2].audio.unlink()
    else:
        rows[2].audio.write_bytes(change)
    assert numbers_left(journal, rows) == [0, 1]


@given(at=st.integers(0, 10_000), byte=st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_a_spoilt_byte_is_never_believed(clips, at, byte):
    rows = [Utterance(clips[n % 4], f"text {n}", source=f"m.jsonl:{n}") for n in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder, "out.jsonl"), "settings")
        write(journal, rows, kill=True)
        data = bytearray(journal.path.read_bytes())
        at %= len(data)
        is_same = data[at] == byte
        data[at] = byte
        journal.path.write_bytes(data)
        hit = 4 if is_same else bytes(data[:at]).count(b"\n")
        assert numbers_left(journal, rows) == list(range(hit))


def test_other_settings_are_not_resumed_from(clips, tmp_path):
    rows = [Utterance(clips[0], "x")]
    target = tmp_path / "out.jsonl"
    write(Journal(target, "one"), rows, kill=True)
    assert numbers_left(Journal(target, "two"), rows) == []
    assert numbers_left(Journal(target, "one"), rows) == [0]


def test_without_resume_a_run_starts_over(clips, tmp_path):
    rows = [Utterance(clips[0], "x")]
    journal = Journal(tmp_path / "out.jsonl", "settings")
    write(journal, rows, kill=True)
    write(journal, [], kill=True)
    assert numbers_left(journal, rows) == []


def test_a_finished_run_takes_only_its_own_leftovers_away(clips, tmp_path):
    rows = [Utterance(clips[0], "x")]
    write(Journal(tmp_path / "out", "other settings"), rows, kill=True)
    write(Journal(tmp_path / "out.jsonl", "of another target"), rows, kill=True)
    (tmp_path / ".out.partial").write_bytes(b"somebody's")
    write(Journal(tmp_path / "out", "settings"), rows, kill=False)
    names = sorted(p.name.split(".")[1:3] for p in tmp_path.iterdir() if p.name.startswith("."))
    assert names == [["out", "jsonl"], ["out", "jsonl"], ["out", "partial"]]


@pytest.mark.parametrize("settings_of_the_other", ["same", "other"])
def test_two_runs_at_once_are_refused_and_the_first_loses_nothing(clips, tmp_path, settings_of_the_other):
    rows = [Utterance(clips[n % 4], f"text {n}") for n in range(3)]
    target = tmp_path / "out.jsonl"
    with Journal(target, "same").open(resume=False) as lines:
        lines.add(line_of(rows[0], 0), rows[0], None)
        with (
            pytest.raises(UsageError, match="another run is writing"),
            Journal(target, settings_of_the_other).open(resume=True) as other,
        ):
            list(other.finished([]))  # would cut everything off
        for number in (1, 2):
            lines.add(line_of(rows[number], number), rows[number], None)
    assert [json.loads(line)["n"] for line in target.read_bytes().splitlines()] == [0, 1, 2]


def test_what_is_no_file_is_not_read_when_it_is_gone_on_with(tmp_path):
    (tmp_path / "zero.wav").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.wav")
    rows = [Utterance(tmp_path / "zero.wav"), Utterance(tmp_path / "pipe.wav")]
    journal = Journal(tmp_path / "out.jsonl", "settings")
    write(journal, rows, kill=True)
    assert numbers_left(journal, rows) == [0, 1]


def test_an_error_of_the_run_is_not_the_disks(tmp_path):
    def fail() -> None:
        with Journal(tmp_path / "out.jsonl", "settings").open(resume=False):
            raise OSError(5, "a microphone burnt down")

    with pytest.raises(OSError, match="microphone"):
        fail()


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")

    def fail() -> None:
        with Journal(tmp_path / "file" / "out.jsonl", "settings").open(resume=False):
            pass

    with pytest.raises(MachineError, match="cannot be written"):
        fail()
