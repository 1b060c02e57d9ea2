"""Unlabelled clips -> groups of one speaker each, and for every clip how sure its place is."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from refprep.atomic import write_text
from refprep.corpus.workbench import Workbench
from refprep.errors import AudioDecodeError, UsageError
from refprep.identity.discover import Place, discover_speakers
from refprep.manifest import Utterance
from refprep.pipeline.decode import decode_file
from refprep.types import Voiceprint

SPEAKERS_NAME = "speakers.csv"
_COLUMNS = ("path", "speaker", "is_sure", "own_score", "other_score", "silhouette", "reason")
MOST_CLIPS = 20_000
"""Pairs are compared all with all: this many take 3.2 GB."""


@dataclass(frozen=True, slots=True)
class FoundClip:
    """A clip and whose it is.

    Attributes:
        path: As given.
        speaker: ``speaker-01`` has most speech; empty for a clip that could not be placed.
        place: How sure that is; None likewise.
        reason: Why it is in no voice; empty where it is in one.
    """

    path: str
    speaker: str
    place: Place | None
    reason: str


def discover_groups(
    utterances: Sequence[Utterance],
    bench: Workbench,
    *,
    on_step: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, list[Utterance]], tuple[FoundClip, ...]]:
    """Find the speakers among unlabelled clips.

    Args:
        utterances: The clips; what their rows say of speakers plays no part.
        bench: Voice activity and the speaker encoder; of several encoders the first decides here.
        on_step: Told what is being done.

    Returns:
        ``speaker-01`` -> its clips, those that are not sure left out; and a row for every clip.

    Raises:
        UsageError: Too many clips to compare all with all, or none that can be embedded.
    """
    if len(utterances) > MOST_CLIPS:
        raise UsageError(
            f"{len(utterances)} clips are too many to compare all with all",
            where="--discover",
            fix=f"Give {MOST_CLIPS} at most: one recording session at a time, say.",
        )
    verifier = bench.verifiers[0]
    prints: dict[int, Voiceprint] = {}
    failed: dict[int, str] = {}
    for index, utterance in enumerate(utterances):
        on_step(f"embed {utterance.audio}")
        try:
            clip = decode_file(utterance.audio)
            prints[index] = verifier.embed(clip, bench.listener.speech(clip))
        except AudioDecodeError as error:
            failed[index] = error.what
    if not prints:
        raise UsageError(
            "no clip holds enough speech to tell who it is", where="--discover", fix="Give longer clips."
        )
    on_step("discover")
    places = discover_speakers(
        verifier.matrix(list(prints.values())),
        [p.speech_s for p in prints.values()],
        threshold=verifier.threshold,
        margin=verifier.min_margin,
    )
    placed = dict(zip(prints, places, strict=True))
    digits = max(2, len(str(max(p.speaker for p in places))))
    groups: dict[str, list[Utterance]] = {
        f"speaker-{number:0{digits}}": [] for number in sorted({p.speaker for p in places})
    }
    rows: list[FoundClip] = []
    for index, utterance in enumerate(utterances):
        place = placed.get(index)
        if place is None:
            rows.append(FoundClip(str(utterance.audio), "", None, failed[index]))
            continue
        speaker = f"speaker-{place.speaker:0{digits}}"
        reason = "" if place.is_sure else "whose it is, is not sure"
        rows.append(FoundClip(str(utterance.audio), speaker, place, reason))
        if place.is_sure:
            groups[speaker].append(utterance)
    return {name: members for name, members in groups.items() if members}, tuple(rows)


def write_speakers(folder: Path, rows: Sequence[FoundClip]) -> None:
    """Write speakers.csv, one row for every clip.

    Raises:
        MachineError: The disk refused.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        place = row.place
        numbers = (place.own_score, place.other_score, place.silhouette) if place else (None, None, None)
        writer.writerow(
            [
                row.path,
                row.speaker,
                "" if place is None else int(place.is_sure),
                *("" if n is None else f"{n:.4f}" for n in numbers),
                row.reason,
            ]
        )
    write_text(folder / SPEAKERS_NAME, text.getvalue().encode("utf-8", "backslashreplace").decode("utf-8"))
