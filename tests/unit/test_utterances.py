"""A recording split into a folder."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from tape_kit import RATE_HZ, Tape, read_aloud, tape_samples

from refprep.alone import alone
from refprep.errors import AudioDecodeError, MachineError, NoUtteranceError, UsageError
from refprep.identity.verifier import Verifier
from refprep.manifest import read_utterances
from refprep.pipeline.decode import decode_file
from refprep.pipeline.split import SplitLimits
from refprep.utterances import SplitResult, UtteranceWriter, split_file


class Long:
    """A recording in a file: ten sentences, of which the last four are another voice's."""

    def __init__(self, folder: Path, *, num_sentences: int = 10) -> None:
        self.path = folder / "long.wav"
        said = read_aloud(num_sentences)
        samples = tape_samples(said)
        left = np.stack([samples, np.zeros_like(samples)], axis=1)
        soundfile.write(self.path, left, RATE_HZ)
        self.tape = Tape(decode_file(self.path).samples, said)
        self.tape.turns = ((0.0, 0.0), (self.end_of(6) + 0.2, 90.0))

    def end_of(self, sentence: int) -> float:
        ends = [end_s for word, _, end_s in self.tape.said if word.endswith(".")]
        return ends[sentence - 1]

    def split(self, folder: Path, **options: object) -> SplitResult:
        settings: dict[str, object] = {
            "open_listener": self.tape.listener,
            "open_verifier": lambda: Verifier(self.tape, None),
            "limits": SplitLimits(),
            **options,
        }
        return split_file(self.path, folder, **settings)  # type: ignore[arg-type]


@pytest.fixture
def long(tmp_path: Path) -> Long:
    return Long(tmp_path)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_the_folder_holds_every_utterance_as_it_was(long, tmp_path):
    result = long.split(tmp_path / "out", speaker="a/b/f/c")
    whole = decode_file(long.path)
    rows = [json.loads(x) for x in (tmp_path / "out/utterances.jsonl").read_text("utf-8").splitlines()]
    assert rows == result.rows
    assert len(rows) == 10
    for row in rows:
        clip = decode_file(tmp_path / "out" / row["audio"])
        assert clip.id == row["pcm_sha256"]
        assert clip.sample_rate_hz == row["sample_rate_hz"]
        np.testing.assert_array_equal(clip.samples, whole.samples[row["start_sample"] : row["end_sample"]])
        assert row["start_s"] == pytest.approx(row["start_sample"] / RATE_HZ, abs=1e-6)
        assert row["source_sha256"] == whole.source.file_sha256
    assert len(list((tmp_path / "out").iterdir())) == 21
    assert sorted(p.name for p in tmp_path.iterdir()) == ["long.wav", "out"]
    assert result.duration_s == whole.duration_s
    assert result.kept_s == pytest.approx(sum(r["duration_s"] for r in rows))


def test_voices_are_told_apart(long, tmp_path):
    rows = long.split(tmp_path / "out").rows
    assert [r["voice"] for r in rows] == [1] * 6 + [2] * 4
    assert all(r["voice_is_sure"] and r["mixed"] is False for r in rows)
    assert {(r["encoder"], r["scale"]) for r in rows} == {("tape", "cosine")}


def test_an_utterance_with_two_people_in_it_is_mixed(long, tmp_path):
    long.tape.turns = ((0.0, 0.0), (long.end_of(4) - 1.2, 80.0), (long.end_of(4) + 0.3, 0.0))
    rows = long.split(tmp_path / "out").rows
    assert [r["mixed"] for r in rows] == [k == 3 for k in range(10)]


def test_one_voice_can_be_kept(long, tmp_path):
    rows = long.split(tmp_path / "out", voice=2).rows
    assert [r["audio"] for r in rows] == [f"long_{k:04}.wav" for k in (7, 8, 9, 10)]
    assert len(list((tmp_path / "out").iterdir())) == 9
    with pytest.raises(NoUtteranceError, match="no voice 3; 2 were found"):
        long.split(tmp_path / "out", voice=3)
    assert len(list((tmp_path / "out").iterdir())) == 9


def test_without_an_encoder_the_rows_say_nothing_of_voices(long, tmp_path):
    rows = long.split(tmp_path / "out", open_verifier=None).rows
    assert "voice" not in rows[0]
    assert "encoder" not in rows[0]


def test_an_encoder_that_fails_loses_no_text(long, tmp_path):
    long.tape.default_threshold = None
    result = long.split(tmp_path / "out", voice=1)
    assert "nobody measured a threshold" in str(result.voices_error)
    assert len(result.rows) == 10
    assert "voice" not in result.rows[0]
    assert (tmp_path / "out/utterances.jsonl").is_file()


def test_build_reads_the_folder(long, tmp_path):
    rows = long.split(tmp_path / "out", speaker="a/b/f/c").rows
    found = read_utterances([tmp_path / "out"])
    assert [u.text for u in found] == [r["text"] for r in rows]
    assert [u.extra["start_sample"] for u in found] == [r["start_sample"] for r in rows]
    assert {u.speaker for u in found} == {"a/b/f/c"}


class TestNothingIsHalf:
    @pytest.fixture
    def old(self, long, tmp_path) -> dict[str, bytes]:
        long.split(tmp_path / "out", open_verifier=None)
        return snapshot(tmp_path / "out")

    def check(self, tmp_path: Path, old: dict[str, bytes]) -> None:
        assert snapshot(tmp_path / "out") == old
        assert sorted(p.name for p in tmp_path.iterdir()) == ["long.wav", "out"]

    def test_no_speech(self, long, tmp_path, old):
        long.tape.said = []
        with pytest.raises(NoUtteranceError) as caught:
            long.split(tmp_path / "out")
        assert caught.value.exit_code == 1
        self.check(tmp_path, old)

    def test_a_damaged_recording(self, long, tmp_path, old):
        long.path.write_bytes(long.path.read_bytes()[:-100])
        with pytest.raises(AudioDecodeError, match="truncated"):
            long.split(tmp_path / "out")
        self.check(tmp_path, old)

    @pytest.mark.parametrize("at", [1, 3])
    def test_a_full_disk(self, long, tmp_path, old, monkeypatch, at):
        real, calls = UtteranceWriter.add, []

        def full(self, utterance):
            calls.append(utterance)
            if len(calls) == at:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(self, utterance)

        monkeypatch.setattr(UtteranceWriter, "add", full)
        with pytest.raises(MachineError, match="No space left on device"):
            long.split(tmp_path / "out")
        self.check(tmp_path, old)

    def test_a_disk_too_small_for_the_scratch_file(self, long, tmp_path, old, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("refprep.pipeline.recording._write", full)
        with pytest.raises(MachineError, match="No space left on device"):
            long.split(tmp_path / "out")
        self.check(tmp_path, old)

    def test_an_interruption(self, long, tmp_path, old):
        def interrupt(step: str) -> None:
            if step.startswith("check"):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            long.split(tmp_path / "out", on_step=interrupt)
        self.check(tmp_path, old)

    def test_another_split_into_the_same_folder(self, long, tmp_path, old):
        with alone(tmp_path / "out", what="folder"), pytest.raises(UsageError, match="another run"):
            long.split(tmp_path / "out")
        self.check(tmp_path, old)

    def test_a_folder_of_something_else(self, long, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine/thesis.txt").write_text("years of work")
        with pytest.raises(UsageError, match="no folder of utterances"):
            long.split(tmp_path / "mine")
        assert long.tape.asked == []


def test_it_tells_every_stage_and_how_far_it_is(long, tmp_path):
    told: list[str] = []
    long.split(tmp_path / "out", on_step=told.append)
    stages = list(dict.fromkeys(t.rsplit(" ", 3)[0] for t in told))
    assert stages == ["read", "find speech", "transcribe", "check", "compare voices"]


def test_utterances_are_written_as_they_come(long, tmp_path):
    """When the last one is checked, those before it are on disk."""
    seen: list[int] = []

    def look(step: str) -> None:
        if step.startswith("check"):
            (folder,) = tmp_path.glob(".out.refprep-*")
            seen.append(len(list(folder.glob("*.wav"))))

    long.split(tmp_path / "out", on_step=look)
    assert seen == list(range(10))
