"""Many speakers: the ledger, what a second run believes, and what it does not."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from build_kit import CONFIG, ordinary_scene

from refprep.alone import alone
from refprep.config import Config
from refprep.corpus import run as module
from refprep.corpus.ledger import Ledger
from refprep.corpus.run import build_corpus
from refprep.corpus.task import SpeakerResult, SpeakerTask, build_speaker
from refprep.corpus.workbench import WorkbenchSettings
from refprep.errors import MachineError, UsageError
from refprep.voice import verify_voice


class Bench:
    """A workbench whose models know the scenes."""

    def __init__(self, scenes) -> None:
        self.scenes = scenes
        self.built: list[str] = []

    def build(self, utterances, folder, *, speaker="", controls=()):
        self.built.append(folder.name)
        scene = self.scenes[Path(utterances[0].audio).parent.name]
        return scene.build(folder, utterances=utterances, speaker=speaker, controls=controls)


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "model_fingerprints", lambda *_, **__: {"models": "fakes"})
    return Corpus(tmp_path)


class Corpus:
    """Two speakers with enough clips, one with too few."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scenes = {name: ordinary_scene(root / name) for name in ("ana", "ben", "few")}
        self.groups = {name: list(scene.utterances) for name, scene in self.scenes.items()}
        self.groups["few"] = self.groups["few"][:1]
        self.bench = Bench(self.scenes)
        self.settings = WorkbenchSettings(Config(build=CONFIG), root / "cache")
        self.told: list[tuple[str, bool]] = []

    def engine(
        self, tasks: Iterable[SpeakerTask], settings: WorkbenchSettings, jobs: int
    ) -> Iterator[SpeakerResult]:
        for task in tasks:
            yield build_speaker(task, self.bench)

    def run(self, *, resume: bool = False, engine=None):
        self.bench.built.clear()
        self.told.clear()
        return build_corpus(
            self.groups,
            self.root / "voices",
            self.settings,
            engine=engine or self.engine,
            resume=resume,
            on_result=lambda r, again: self.told.append((r.speaker, again)),
        )


def statuses(run) -> dict[str, str]:
    return {r.speaker: r.status for r in run.results}


def test_every_speaker_gets_a_voice_or_a_reason(corpus):
    run = corpus.run()
    assert statuses(run) == {"ana": "built", "ben": "built", "few": "refused"}
    assert run.resumed == 0
    voices = corpus.root / "voices"
    assert sorted(p.name for p in voices.iterdir()) == ["ana", "ben", "ledger.jsonl", "summary.csv"]
    for name in ("ana", "ben"):
        assert verify_voice(voices / name).problems == ()
    few = run.results[2]
    assert "1 of 1 clips are admissible and make" in few.reason
    assert (few.given, few.chosen, few.voice_sha256) == (1, 0, "")
    ledger = [json.loads(line) for line in (voices / "ledger.jsonl").read_text("utf-8").splitlines()]
    assert [row["speaker"] for row in ledger] == ["ana", "ben", "few"]
    with (voices / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["speaker"], r["status"], r["given"]) for r in rows] == [
        ("ana", "built", "5"), ("ben", "built", "5"), ("few", "refused", "1"),
    ]  # fmt: skip


def test_a_second_run_does_nothing_again(corpus):
    first = corpus.run()
    again = corpus.run(resume=True)
    assert again.results == first.results
    assert (again.resumed, corpus.bench.built) == (3, [])
    assert corpus.told == [("ana", True), ("ben", True), ("few", True)]
    corpus.run()
    assert corpus.bench.built == ["ana", "ben", "few"]


def test_what_changed_is_done_again(corpus):
    corpus.run()
    extra = corpus.scenes["few"]
    corpus.groups["few"] = list(extra.utterances)
    (corpus.root / "voices" / "ben" / "voice.json").write_text("{}", encoding="utf-8")
    run = corpus.run(resume=True)
    assert corpus.bench.built == ["ben", "few"]
    assert statuses(run) == {"ana": "built", "ben": "built", "few": "built"}
    clip = corpus.groups["ana"][0].audio
    clip.write_bytes(clip.read_bytes()[:-2] + b"\x01\x00")
    corpus.run(resume=True)
    assert corpus.bench.built == ["ana"]


def test_a_run_that_dies_keeps_what_was_done(corpus):
    def dying(tasks, settings, jobs):
        for number, result in enumerate(corpus.engine(tasks, settings, jobs)):
            if number == 1:
                raise MachineError("gone", where="here", fix="Repair it.")
            yield result

    with pytest.raises(MachineError):
        corpus.run(engine=dying)
    ledger = corpus.root / "voices" / "ledger.jsonl"
    with ledger.open("ab") as file:
        file.write(b'{"schema_version": 1, "speaker": "be')  # the line that was being written
    run = corpus.run(resume=True)
    assert corpus.bench.built == ["ben", "few"]
    assert run.resumed == 1
    assert statuses(run) == {"ana": "built", "ben": "built", "few": "refused"}
    assert set(Ledger(corpus.root / "voices").finished()) == {"ana", "ben", "few"}


def test_bad_input_of_one_speaker_stops_nobody_else(corpus):
    corpus.groups["ana"][0].audio.unlink()
    corpus.groups["ana"][1].audio.write_text("no audio")
    run = corpus.run()
    ana = run.results[0]
    assert ana.status in ("built", "refused")
    assert ana.refused["RP001"] == 2
    assert statuses(run)["ben"] == "built"


def test_two_runs_at_once_and_other_peoples_folders(corpus):
    with (
        alone(corpus.root / "voices", what="folder"),
        pytest.raises(UsageError, match="another run is writing"),
    ):
        corpus.run()
    (corpus.root / "voices").mkdir()
    (corpus.root / "voices" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="no folder of an earlier run"):
        corpus.run()
    assert [p.name for p in (corpus.root / "voices").iterdir()] == ["thesis.txt"]
