"""A folder of utterances: audio, text beside it, and a manifest of them all."""

from __future__ import annotations

import ctypes
import gc
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from refprep.alone import alone
from refprep.atomic import replace_folder
from refprep.errors import AudioDecodeError, NoUtteranceError, RefprepError, UsageError
from refprep.identity.verifier import Verifier
from refprep.pipeline.listen import Listener
from refprep.pipeline.recording import Recording, open_recording
from refprep.pipeline.split import SplitLimits, Utterance, clock, iter_utterances
from refprep.pipeline.split_voices import UtteranceVoice, find_voices
from refprep.pipeline.wav import write_wav
from refprep.types import Span, Voiceprint

MANIFEST_NAME = "utterances.jsonl"
_SCORE_DIGITS = 4

OnStep = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SplitResult:
    """What came of a split.

    Attributes:
        rows: Of the manifest.
        duration_s: Of the recording.
        voices_error: Why the voices could not be told apart; None where they were, or nobody asked.
    """

    rows: list[dict[str, Any]]
    duration_s: float
    voices_error: RefprepError | None = None

    @property
    def kept_s(self) -> float:
        """Seconds of the recording that are in an utterance."""
        return sum(float(row["duration_s"]) for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Written:
    """An utterance on disk: its row, and where its voice is heard."""

    row: dict[str, Any]
    speech: tuple[Span, ...]


class UtteranceWriter:
    """Writes utterances into an empty folder as they come; audio is not kept.

    Args:
        folder: Where to.
        source: The recording they come from.
        speaker: Speaker id for the manifest; may be empty.
    """

    def __init__(self, folder: Path, *, source: Path, speaker: str = "") -> None:
        self._folder = folder
        self._source = source
        self._speaker = speaker
        self._written: list[_Written] = []

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Of the manifest, so far."""
        return [w.row for w in self._written]

    def add(self, utterance: Utterance) -> None:
        """Write ``NAME_0001.wav`` with ``NAME_0001.txt``."""
        name = f"{self._source.stem}_{len(self._written) + 1:04}"
        clip, span = utterance.clip, utterance.span
        write_wav(self._folder / f"{name}.wav", clip.samples, clip.sample_rate_hz, clip.source.sample_format)
        (self._folder / f"{name}.txt").write_text(utterance.text + "\n", encoding="utf-8")
        row: dict[str, Any] = {
            "audio": f"{name}.wav",
            "text": utterance.text,
            "language": utterance.check.given.language,
            "duration_s": round(clip.duration_s, 6),
            "source": self._source.name,
            "source_sha256": clip.source.file_sha256,
            "start_s": round(span.start_s, 6),
            "end_s": round(span.end_s, 6),
            "start_sample": utterance.start_sample,
            "end_sample": utterance.end_sample,
            "sample_rate_hz": clip.sample_rate_hz,
            "pcm_sha256": clip.id,
            "coverage": round(utterance.check.coverage.ratio, 4),
        }
        row |= {"speaker": self._speaker} if self._speaker else {}
        self._written.append(_Written(row, utterance.speech))

    def add_voices(self, recording: Recording, verifier: Verifier, *, on_step: OnStep) -> None:
        """Tell the voices of all that was written apart; their columns are added to the rows.

        Raises:
            UsageError: Nobody measured a threshold for the encoder.
        """
        prints: list[Voiceprint | None] = []
        for written in self._written:
            on_step(f"compare voices {clock(written.row['start_s'])} of {clock(recording.duration_s)}")
            clip = recording.cut(written.row["start_sample"], written.row["end_sample"])
            try:
                prints.append(verifier.embed(clip, written.speech))
            except AudioDecodeError:  # too little speech
                prints.append(None)
        for written, voice in zip(self._written, find_voices(prints, verifier), strict=True):
            written.row.update(_voice_columns(voice, verifier))

    def keep_voice(self, number: int) -> None:
        """Remove what other voices say; names stay as they are.

        Raises:
            NoUtteranceError: The voice says nothing.
        """
        kept = [w for w in self._written if w.row.get("voice") == number]
        if not kept:
            count = max((w.row.get("voice") or 0 for w in self._written), default=0)
            raise NoUtteranceError(
                f"there is no voice {number}; {count} were found",
                where=str(self._source),
                fix="Choose another --voice, or leave it out to see them all.",
            )
        for written in self._written:
            if written not in kept:
                audio = self._folder / str(written.row["audio"])
                audio.unlink()
                audio.with_suffix(".txt").unlink()
        self._written = kept

    def finish(self) -> list[dict[str, Any]]:
        """Write the manifest; returns its rows."""
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.rows)
        # A recording's name may be no UTF-8: JSON has its bytes as \udc..
        (self._folder / MANIFEST_NAME).write_text(lines, encoding="utf-8", errors="backslashreplace")
        return self.rows


def _return_memory() -> None:
    """Give what was freed back to the system: glibc keeps 70 MB of a recogniser that is gone."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _voice_columns(voice: UtteranceVoice, verifier: Verifier) -> dict[str, Any]:
    return {
        "voice": voice.voice,
        "voice_score": None if voice.score is None else round(voice.score, _SCORE_DIGITS),
        "voice_is_sure": voice.is_sure,
        "mixed": voice.is_mixed,
        "encoder": verifier.model,
        "scale": verifier.scale,
    }


@contextmanager
def open_utterances(
    folder: Path, *, source: Path, speaker: str = ""
) -> Iterator[tuple[UtteranceWriter, Path]]:
    """A folder of utterances to write into; it takes its name when the block ends without an error.

    Args:
        folder: Where to; an earlier split is replaced.
        source: The recording they come from.
        speaker: Speaker id for the manifest; may be empty.

    Yields:
        The writer, and the folder that it writes into.

    Raises:
        UsageError: The folder holds something else, or another run writes into it.
        MachineError: The disk refused.
    """
    if folder.exists() and not (
        folder.is_dir() and ((folder / MANIFEST_NAME).is_file() or not any(folder.iterdir()))
    ):
        raise UsageError(
            "it exists and is no folder of utterances",
            where=str(folder),
            fix="Choose another folder; nothing was overwritten.",
        )
    with alone(folder, what="folder"), replace_folder(folder) as fresh:
        yield UtteranceWriter(fresh, source=source, speaker=speaker), fresh


def write_utterances(
    folder: Path, utterances: Sequence[Utterance], *, source: Path, speaker: str = ""
) -> list[dict[str, Any]]:
    """Write utterances as ``NAME_0001.wav`` with ``NAME_0001.txt``, and ``utterances.jsonl``; whole, or not at all.

    Args:
        folder: Where to; an earlier split is replaced.
        utterances: What to write.
        source: The recording they come from.
        speaker: Speaker id for the manifest; may be empty.

    Returns:
        The manifest's rows.

    Raises:
        UsageError: The folder holds something else.
        MachineError: The disk refused.
    """
    with open_utterances(folder, source=source, speaker=speaker) as (writer, _):
        for utterance in utterances:
            writer.add(utterance)
        return writer.finish()


def split_file(
    path: Path,
    folder: Path,
    *,
    open_listener: Callable[[], Listener],
    open_verifier: Callable[[], Verifier] | None = None,
    language: str = "",
    limits: SplitLimits | None = None,
    speaker: str = "",
    voice: int | None = None,
    on_step: OnStep = lambda _: None,
) -> SplitResult:
    """Cut a recording of minutes or hours into a folder of utterances.

    Memory does not grow with the audio, and the models are not in it together: the listener's go before the speaker
    encoder comes. An hour that lasts long is not lost to the encoder: where it fails, the folder is written without
    voices, and the result says why.

    Args:
        path: Any audio or video file.
        folder: Where to; an earlier split is replaced when the new one is whole.
        open_listener: Opens voice activity, recogniser and aligner.
        open_verifier: Opens the speaker encoder, at the end; None does without voices.
        language: BCP 47; empty detects it.
        limits: Lengths; defaults when None.
        speaker: Speaker id for the manifest; may be empty.
        voice: Keep this one alone; None keeps all.
        on_step: Told what is being done, and how far it is.

    Raises:
        AudioDecodeError: The file is no usable audio, or it changed while it was read.
        NoUtteranceError: No text covers a piece of it, or the voice says nothing.
        UsageError: The folder holds something else, or another run writes into it.
        WeightsMissing: A model was not pulled.
        MachineError: The disk refused.
    """
    bounds = limits or SplitLimits()

    def on_read(at_s: float, of_s: float | None) -> None:
        on_step(f"read {clock(at_s)}" + (f" of {clock(of_s)}" if of_s else ""))

    with open_utterances(folder, source=path, speaker=speaker) as (writer, fresh):
        listener = open_listener()
        listener.require()
        with open_recording(path, fresh / ".scratch", on_time=on_read) as recording:
            for utterance in iter_utterances(
                recording, listener, language=language, limits=bounds, on_step=on_step
            ):
                writer.add(utterance)
            del listener  # half a gigabyte; the encoder's library is about to take as much
            _return_memory()
            if not writer.rows:
                raise NoUtteranceError(
                    f"no utterance of {bounds.min_s:g}-{bounds.max_s:g} s whose text covers it",
                    where=str(path),
                    fix="Listen whether somebody speaks in it, and in which --language.",
                )
            result = SplitResult([], recording.duration_s)
            if open_verifier is not None:
                try:
                    writer.add_voices(recording, open_verifier(), on_step=on_step)
                except RefprepError as error:
                    result = replace(result, voices_error=error)
            if voice is not None and result.voices_error is None:
                writer.keep_voice(voice)
            return replace(result, rows=writer.finish())
