"""A manifest -> a folder of voices, one for every speaker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from refprep.alone import alone
from refprep.corpus.engine import Engine
from refprep.corpus.groups import folder_names
from refprep.corpus.ledger import LEDGER_NAME, Ledger, write_summary
from refprep.corpus.task import SpeakerResult, SpeakerTask
from refprep.corpus.workbench import WorkbenchSettings
from refprep.errors import UsageError
from refprep.manifest import Utterance
from refprep.measure.program_cache import program_fingerprint
from refprep.memory import FileHashes
from refprep.models.load import model_fingerprints
from refprep.models.store import ModelStore


@dataclass(frozen=True, slots=True)
class CorpusRun:
    """What a run did.

    Attributes:
        results: One for every speaker, in the manifest's order.
        resumed: How many of them were finished by an earlier run.
    """

    results: tuple[SpeakerResult, ...]
    resumed: int


def build_corpus(
    groups: Mapping[str, Sequence[Utterance]],
    folder: Path,
    settings: WorkbenchSettings,
    *,
    engine: Engine,
    jobs: int = 1,
    resume: bool = False,
    controls: Sequence[Utterance] = (),
    on_result: Callable[[SpeakerResult, bool], None] = lambda *_: None,
) -> CorpusRun:
    """Build one voice for every speaker.

    Args:
        groups: Speaker -> its rows.
        folder: Of the voices; an empty one, or that of an earlier run.
        settings: Of the models and the build.
        engine: Where speakers are built.
        jobs: How many at a time.
        resume: Believe the ledger of an earlier run where rows, audio, settings, models and program are the same and the
            voice is still what was built.
        controls: Clips of people that none of them must be.
        on_result: Told of every speaker, and whether an earlier run had finished it.

    Returns:
        The results; the folder holds voices, ledger and summary.

    Raises:
        UsageError: The folder holds something else, or another run is writing to it.
        MachineError: This machine failed; finished speakers are kept.
    """
    require_corpus_folder(folder)
    ledger = Ledger(folder)
    names = folder_names(groups)
    with alone(folder, what="folder"):
        known = ledger.finished() if resume else {}
        marker = _Marker(settings, controls)
        results: dict[str, SpeakerResult] = {}
        resumed = 0

        def tasks() -> Iterator[SpeakerTask]:
            nonlocal resumed
            for speaker, rows in groups.items():
                task = SpeakerTask(speaker, folder / names[speaker], tuple(rows), tuple(controls))
                task = replace(task, mark=marker.mark(task))
                before = known.get(speaker)
                if before is not None and ledger.holds(task, before):
                    results[speaker] = before
                    resumed += 1
                    on_result(before, True)
                else:
                    yield task

        with ledger.open(resume=resume) as file:
            for result in engine(tasks(), settings, jobs):
                ledger.add(file, result)
                results[result.speaker] = result
                on_result(result, False)
        ordered = tuple(results[speaker] for speaker in groups)
        write_summary(folder, ordered)
    return CorpusRun(ordered, resumed)


def require_corpus_folder(folder: Path) -> None:
    """Refuse to fill a folder that holds something else.

    Raises:
        UsageError: It is a file, or neither empty nor of an earlier run.
    """
    if not folder.exists():
        return
    if not folder.is_dir() or not ((folder / LEDGER_NAME).is_file() or not any(folder.iterdir())):
        raise UsageError(
            "it exists and is no folder of an earlier run",
            where=str(folder),
            fix="Choose another folder; nothing was overwritten.",
        )


class _Marker:
    """Hashes of everything that decides about a voice."""

    def __init__(self, settings: WorkbenchSettings, controls: Sequence[Utterance]) -> None:
        config = settings.config
        self._hashes = FileHashes(most=4096)
        # Neither threads nor the cache change what comes out.
        models = replace(config.models, threads=0)
        build = replace(config.build, cache=True)
        self._common = [
            program_fingerprint(),
            repr((models, build, settings.resample)),
            sorted(model_fingerprints(config.models, ModelStore(settings.root), encoder=True).items()),
            [self._hashes.of(path) for path in settings.calibrations],
            [self._row(u) for u in controls],
        ]

    def mark(self, task: SpeakerTask) -> str:
        """SHA-256 of all that decides about the task's voice."""
        said = [self._common, task.speaker, task.folder.name, [self._row(u) for u in task.utterances]]
        text = json.dumps(said, ensure_ascii=True, default=str)
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def _row(self, utterance: Utterance) -> list[object]:
        return [
            str(utterance.audio),
            self._hashes.of(utterance.audio),
            utterance.text,
            utterance.language,
            utterance.speaker,
            sorted(utterance.extra.items(), key=str),
        ]
