"""One speaker of a corpus: what is to be done, what came of it, and the function that does it anywhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from refprep.corpus.workbench import Workbench, WorkbenchSettings
from refprep.errors import MachineError, NoReferenceError, RefprepError
from refprep.manifest import Utterance
from refprep.pipeline.candidate import Candidate, NoVoiceError
from refprep.voice.names import VOICE_NAME, sha256_of_file

BUILT, REFUSED, FAILED = "built", "refused", "failed"


@dataclass(frozen=True, slots=True)
class SpeakerTask:
    """What is to be done for one speaker.

    Attributes:
        speaker: Its id, or whatever the rows were grouped by.
        folder: Where its voice goes.
        utterances: Its rows.
        controls: Clips of people it must not be.
        mark: Hash of everything that decides about the voice: rows, audio, settings, models, program.
    """

    speaker: str
    folder: Path
    utterances: tuple[Utterance, ...]
    controls: tuple[Utterance, ...] = ()
    mark: str = ""


@dataclass(frozen=True, slots=True)
class SpeakerResult:
    """What came of it: a line of the ledger.

    Attributes:
        speaker, folder, mark: Of the task; the folder's name.
        status: ``built``, ``refused`` (no admissible reference) or ``failed`` (its input cannot be used).
        reason: Why not; empty for a voice.
        given: Clips.
        chosen: Clips in the reference.
        duration_s: Of the reference; 0.0 without one.
        is_verified: Text and voice of the whole were found to be right.
        min_pairwise_score: Lowest score of a chosen pair; None without a voice or with one clip.
        refused: Code of the first refusal -> number of clips.
        voice_sha256: Of voice.json; empty without one.
        wall_s: What it took.
    """

    speaker: str
    folder: str
    mark: str
    status: str
    reason: str = ""
    given: int = 0
    chosen: int = 0
    duration_s: float = 0.0
    is_verified: bool = False
    min_pairwise_score: float | None = None
    refused: Mapping[str, int] = field(default_factory=dict)
    voice_sha256: str = ""
    wall_s: float = 0.0


def build_speaker(task: SpeakerTask, bench: Workbench) -> SpeakerResult:
    """Build one speaker's voice; what is wrong with this speaker is a result, not an error.

    Raises:
        MachineError: This machine failed: the next speaker would fail, too.
    """
    start_s = time.monotonic()
    status, reason = REFUSED, ""
    candidates: tuple[Candidate, ...] = ()
    try:
        voice = bench.build(task.utterances, task.folder, speaker=task.speaker, controls=task.controls)
    except MachineError:
        raise
    except NoReferenceError as error:
        candidates = error.candidates if isinstance(error, NoVoiceError) else ()
        reason = f"{error.what}. {error.fix}"
    except RefprepError as error:
        status, reason = FAILED, f"{error.where}: {error.what}. {error.fix}"
    else:
        return SpeakerResult(
            speaker=task.speaker,
            folder=task.folder.name,
            mark=task.mark,
            status=BUILT,
            given=len(task.utterances),
            chosen=len(voice.chosen),
            duration_s=round(voice.reference.duration_s, 3),
            is_verified=voice.joined.is_verified,
            min_pairwise_score=_rounded(voice.selection.min_pairwise_score),
            refused=_refusals(voice.candidates),
            voice_sha256=sha256_of_file(task.folder / VOICE_NAME),
            wall_s=round(time.monotonic() - start_s, 3),
        )
    return SpeakerResult(
        speaker=task.speaker,
        folder=task.folder.name,
        mark=task.mark,
        status=status,
        reason=reason,
        given=len(task.utterances),
        refused=_refusals(candidates),
        wall_s=round(time.monotonic() - start_s, 3),
    )


def _refusals(candidates: tuple[Candidate, ...]) -> dict[str, int]:
    counts = Counter(c.refusal.code for c in candidates if c.refusal is not None)
    return dict(sorted(counts.items()))


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


# ---------------------------------------------------------------- in a worker process

_bench: tuple[WorkbenchSettings, Workbench] | None = None


def build_speaker_here(task: SpeakerTask, settings: WorkbenchSettings) -> SpeakerResult:
    """As ``build_speaker``, with models that this process opens once. The same on every engine."""
    global _bench
    if _bench is None or _bench[0] != settings:
        _bench = settings, Workbench(settings)
    return build_speaker(task, _bench[1])
