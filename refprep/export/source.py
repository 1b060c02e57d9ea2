"""A voice's folder -> a voice that was proved to be what was built, with its samples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from refprep.errors import NoReferenceError
from refprep.pipeline.decode import decode_file
from refprep.types import Clip, ConsentCase, JoinedClip, Reference, SampleFormat, Samples
from refprep.voice import load_voice, verify_voice
from refprep.voice.names import VOICE_NAME, sha256_of_file

_SPELLINGS = {"consent": ("consent",), "licence": ("licence", "license")}


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A verified voice.

    Attributes:
        folder: Where it is.
        document: voice.json.
        voice_sha256: Of voice.json's bytes.
        reference: Its samples and clips; every ``path`` is as voice.json has it.
        notes: What could not be verified, such as a source clip that is not on this machine.
    """

    folder: Path
    document: Mapping[str, Any]
    voice_sha256: str
    reference: Reference
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The folder's name in letters, digits, dashes and underscores: what every engine takes as a name."""
        return re.sub(r"[^A-Za-z0-9_-]+", "_", self.folder.resolve().name).strip("_") or "voice"

    @property
    def speaker(self) -> str:
        """Speaker id; the folder's name where voice.json has none."""
        return str(self.document.get("speaker_id") or "") or self.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its build could not prove."""
        if self.document.get("is_verified", True):
            return ()
        check = self.document.get("joined_check")
        reason = str(check.get("reason") or "") if isinstance(check, Mapping) else ""
        return ("its build could not verify the joined reference" + (f": {reason}" if reason else ""),)

    @property
    def silences(self) -> tuple[Samples, ...]:
        """What follows each clip, as it stands in the voice: gaps, and the tail after the last one."""
        samples, clips = self.reference.samples, self.reference.clips
        ends = [*(c.start_sample for c in clips[1:]), len(samples)]
        return tuple(samples[c.end_sample : end] for c, end in zip(clips, ends, strict=True))

    def clip_samples(self, index: int) -> Samples:
        """(T,) float32 of one clip."""
        clip = self.reference.clips[index]
        return self.reference.samples[clip.start_sample : clip.end_sample]

    def joined(self, clips: Sequence[int]) -> Samples:
        """(T,) float32: clips, each followed by what follows it in the voice, the last one by the voice's tail."""
        silences = self.silences
        pieces = [piece for i in clips for piece in (self.clip_samples(i), silences[i])]
        return np.concatenate([*pieces[:-1], silences[-1]])

    def provenance(self, clip: int) -> Mapping[str, Any]:
        """What the clip's manifest row said beside its text."""
        found = self.document["clips"][clip].get("provenance")
        return found if isinstance(found, Mapping) else {}

    def stated(self, what: str, clips: Sequence[int]) -> tuple[str, ...]:
        """What voice.json says of its ``consent`` or ``licence`` in words; else what its clips say, each answer once.

        The counts that ``refprep build`` writes under ``consent`` are no words: they cover all clips, not some.

        Args:
            what: ``consent`` or ``licence``, however it is spelled there.
            clips: Those that are meant.
        """
        return tuple(dict.fromkeys(filter(None, self._statements(what, clips))))

    def has_consent(self, clips: Sequence[int]) -> bool:
        """The voice states a consent, or every one of these clips does."""
        return all(ConsentCase(s, False).is_stated for s in self._statements("consent", clips))

    def _statements(self, what: str, clips: Sequence[int]) -> list[str]:
        whole = _statement(self.document, what)
        return [whole] if whole else [_statement(self.provenance(i), what) for i in clips]


def read_source(folder: Path) -> Source:
    """Read a voice and prove that it is what was built.

    Raises:
        ManifestError: No voice there, or voice.json cannot be read as one.
        NoReferenceError: Text, audio or a joined clip is not what was built, or a speaker's consent was refused.
    """
    verification = verify_voice(folder)
    if verification.problems:
        shown = "; ".join(f"{about}: {what}" for about, what in verification.problems[:3])
        more = len(verification.problems) - 3
        raise NoReferenceError(
            f"the voice is not what was built: {shown}" + (f"; and {more} more" if more > 0 else ""),
            where=str(folder),
            fix="Build the voice again; `refprep verify` lists what differs.",
        )
    voice = load_voice(folder)
    audio = decode_file(voice.audio_path)
    if audio.id != voice.document["audio"]["pcm_sha256"]:
        raise NoReferenceError(
            "it changed while it was read", where=str(folder), fix="Wait until it is written, then export it."
        )
    document = voice.document
    reference = Reference(
        samples=audio.samples,
        sample_rate_hz=audio.sample_rate_hz,
        sample_format=_stored_format(voice.audio_path, audio),
        clips=tuple(
            JoinedClip(r["pcm_sha256"], str(r["path"]), r["start_sample"], r["end_sample"], str(r["text"]))
            for r in document["clips"]
        ),
        gap_policy=str(document["gap_policy"]),
        tail_policy=str(document["tail_policy"]),
        text=voice.text,
        language=voice.language,
    )
    source = Source(
        Path(folder), document, sha256_of_file(Path(folder) / VOICE_NAME), reference, verification.notes
    )
    for row in (document, *(source.provenance(i) for i in range(len(reference.clips)))):
        statement = _statement(row, "consent")
        if ConsentCase(statement, False).is_refused:
            raise NoReferenceError(
                f'the speaker does not consent: "{statement}"',
                where=str(folder),
                fix="Do not use this voice; build another one without the clips that say so.",
            )
    return source


def _stored_format(path: Path, audio: Clip) -> SampleFormat:
    """The format of the file itself: it holds every sample, a negative zero too."""
    try:
        return SampleFormat(soundfile.info(path).subtype)
    except ValueError:
        return audio.source.sample_format


def _statement(row: Mapping[str, Any], what: str) -> str:
    """What a row says; empty where it says nothing, or where it only counts what its clips say."""
    value = next((row[n] for n in _SPELLINGS[what] if row.get(n) not in (None, "")), "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if isinstance(value, Mapping | list) else str(value).strip()
