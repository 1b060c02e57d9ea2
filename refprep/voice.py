"""A voice on disk: a folder that explains itself, and the proof that it is what it was.

voices/ana/
  voice.json      what it is made of, how it was judged, what was refused and why (schema: manifests/voice.schema.json)
  reference.wav   the joined samples
  reference.txt   the text, word for word
  report.html     the same for people: one file, no network
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from refprep import __version__
from refprep.atomic import replace_folder
from refprep.errors import IntegrityError, ManifestError, RefprepError, UsageError
from refprep.lint.render import finding_json
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.wav import write_wav
from refprep.types import Samples

if TYPE_CHECKING:
    from refprep.pipeline.build import BuiltVoice, Candidate

SCHEMA_VERSION = 1
VOICE_NAME, AUDIO_NAME, TEXT_NAME, REPORT_NAME = "voice.json", "reference.wav", "reference.txt", "report.html"


# --------------------------------------------------------------------------- writing


def write_voice(voice: BuiltVoice, *, speaker: str) -> None:
    """Write a voice's folder: whole, or not at all.

    The joined samples are read back from the written file and compared with every source clip bit for bit before the
    folder takes its place.

    Args:
        voice: The built voice; its ``folder`` is where it goes.
        speaker: Speaker id; may be empty.

    Raises:
        UsageError: The folder exists and is no voice: nothing of somebody's is overwritten.
        IntegrityError: The written samples are not the source samples.
        MachineError: The disk refused.
    """
    from refprep.report.html import render_report

    folder = voice.folder
    require_replaceable(folder)
    with replace_folder(folder) as fresh:
        reference = voice.reference
        write_wav(fresh / AUDIO_NAME, reference.samples, reference.sample_rate_hz, reference.sample_format)
        (fresh / TEXT_NAME).write_text(voice.reference.text + "\n", encoding="utf-8")
        _prove_bit_identity(fresh / AUDIO_NAME, voice)
        document = voice_document(voice, speaker=speaker, written=fresh)
        (fresh / VOICE_NAME).write_text(
            json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
        (fresh / REPORT_NAME).write_text(
            render_report(document, voice.reference, name=folder.name), encoding="utf-8"
        )


def require_replaceable(folder: Path) -> None:
    """Refuse to put a voice where something else is.

    Raises:
        UsageError: The folder exists, is not empty, and is no voice; or it is a file.
    """
    if not folder.exists():
        return
    if not (folder.is_dir() and ((folder / VOICE_NAME).is_file() or not any(folder.iterdir()))):
        raise UsageError(
            "it exists and is no voice",
            where=str(folder),
            fix="Choose another folder; nothing was overwritten.",
        )


def _prove_bit_identity(path: Path, voice: BuiltVoice) -> None:
    written = decode_file(path).samples
    for joined, index in zip(voice.reference.clips, voice.chosen, strict=True):
        clip = voice.candidates[index].clip
        if clip is None or not same_bits(written[joined.start_sample : joined.end_sample], clip.samples):
            raise IntegrityError(
                f"the samples of {joined.path} did not survive the join",
                where=str(path),
                fix="Report this: the voice was not written.",
            )


def same_bits(one: Samples, other: Samples) -> bool:
    """Equal length and equal values, sample for sample (+0.0 and -0.0 are one value: PCM has one zero)."""
    return bool(one.shape == other.shape and np.array_equal(one, other))


def voice_document(voice: BuiltVoice, *, speaker: str, written: Path) -> dict[str, Any]:
    """What goes into voice.json.

    Args:
        voice: The built voice.
        speaker: Speaker id; may be empty.
        written: Folder with the audio and the text as they will be.
    """
    reference, selection, check = voice.reference, voice.selection, voice.joined_check
    return {
        "schema_version": SCHEMA_VERSION,
        "refprep_version": __version__,
        "speaker_id": speaker,
        "language": reference.language,
        "text": reference.text,
        "audio": {
            "file": AUDIO_NAME,
            "file_sha256": _sha256(written / AUDIO_NAME),
            "pcm_sha256": pcm_sha256(reference.samples, reference.sample_rate_hz),
            "sample_rate_hz": reference.sample_rate_hz,
            "sample_format": reference.sample_format.value,
            "num_samples": int(reference.samples.shape[0]),
            "duration_s": round(reference.duration_s, 6),
        },
        "text_file": {"file": TEXT_NAME, "file_sha256": _sha256(written / TEXT_NAME)},
        "gap_policy": reference.gap_policy,
        "tail_policy": reference.tail_policy,
        "clips": [
            {
                **_clip_row(voice.candidates[index], voice.folder),
                "start_sample": joined.start_sample,
                "end_sample": joined.end_sample,
            }
            for joined, index in zip(reference.clips, voice.chosen, strict=True)
        ],
        "selection": {
            "proof": selection.proof,
            "is_optimal": selection.is_optimal,
            "min_pairwise_cosine": _finite(selection.min_pairwise_cosine),
            "threshold": voice.threshold,
        },
        "joined_check": {
            "verdict": check.verdict.value,
            "reason": check.reason,
            "coverage": round(check.coverage.ratio, 4),
            "error_rate": round(check.error_rate, 4),
            "heard_text": check.heard.text,
        },
        "similarity": {
            "encoder": voice.models["speaker_encoder"],
            "paths": [_stored_path(voice.candidates[i].path, voice.folder) for i in voice.compared],
            "cosines": [[round(float(c), 5) for c in row] for row in voice.cosines],
        },
        "controls": list(voice.controls),
        "refused": [_refusal_row(c, voice.folder) for c in voice.candidates if c.refusal is not None],
        "not_chosen": [
            {**_clip_row(c, voice.folder), "reason": "admissible; the chosen set is better without it"}
            for i, c in enumerate(voice.candidates)
            if c.refusal is None and i not in voice.chosen
        ],
        "models": dict(voice.models),
        "weights": {model: dict(files) for model, files in voice.weights.items()},
    }


def _clip_row(candidate: Candidate, folder: Path) -> dict[str, Any]:
    clip, check, quality, identity = candidate.clip, candidate.check, candidate.quality, candidate.identity
    row: dict[str, Any] = {"path": _stored_path(candidate.path, folder), "text": candidate.text}
    if clip is not None:
        row |= {
            "file_sha256": clip.source.file_sha256,
            "pcm_sha256": clip.id,
            "sample_rate_hz": clip.sample_rate_hz,
            "num_samples": clip.num_samples,
            "container": clip.source.container,
            "codec": clip.source.codec,
            "num_channels": clip.source.num_channels,
            "downmix": clip.source.downmix.value,
            "converted_from": candidate.converted_from,
        }
    row["text_origin"] = candidate.text_origin
    if check is not None:
        row["coverage"] = {
            "verdict": check.verdict.value,
            "ratio": round(check.coverage.ratio, 4),
            "error_rate": round(check.error_rate, 4),
            "words": [
                [w.text, round(w.span.start_s, 3), round(w.span.end_s, 3)] for w in check.alignment.words
            ],
        }
    if quality is not None:
        row["quality"] = {
            name: _finite(getattr(quality, name))
            for name in (
                "loudness_lufs",
                "speech_level_dbfs",
                "true_peak_dbtp",
                "snr_db",
                "clipped_ratio",
                "bandwidth_hz",
                "leading_silence_s",
                "trailing_silence_s",
                "pace_per_s",
            )
        }
    if identity is not None:
        row["identity"] = {
            "min_pairwise_cosine": _finite(identity.min_pairwise_cosine),
            "mean_pairwise_cosine": _finite(identity.mean_pairwise_cosine),
            "centroid_cosine": _finite(identity.centroid_cosine),
            "min_window_cosine": _finite(identity.min_window_cosine),
            "margin": _finite(identity.margin),
            "control_cosines": {k: round(v, 5) for k, v in identity.control_cosines.items()},
        }
    # The path stands above, relative to the folder: the caller's own would leak where the clips once were.
    row["findings"] = [{k: v for k, v in finding_json(f).items() if k != "path"} for f in candidate.findings]
    if candidate.utterance.speaker:
        row["speaker_id"] = candidate.utterance.speaker
    if candidate.utterance.extra:
        row["provenance"] = {k: v for k, v in candidate.utterance.extra.items() if _is_plain(v)}
    return row


def _refusal_row(candidate: Candidate, folder: Path) -> dict[str, Any]:
    row = _clip_row(candidate, folder)
    refusal = candidate.refusal
    if refusal is not None:
        row |= {"code": refusal.code, "reason": refusal.message, "remedy": refusal.remedy}
    return row


def _stored_path(path: str, folder: Path) -> str:
    """Relative to the voice's folder where that is possible, so that voice and clips can move together."""
    try:
        stored = Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        stored = Path(path).resolve().as_posix()
    # A file name need not be UTF-8; JSON must be.
    return stored.encode("utf-8", "backslashreplace").decode("utf-8")


def _finite(value: float | None) -> float | None:
    return round(float(value), 5) if value is not None and np.isfinite(value) else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool) or value is None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """A voice read from its folder.

    Attributes:
        folder: Where it is.
        document: voice.json.
    """

    folder: Path
    document: Mapping[str, Any]

    @property
    def text(self) -> str:
        """What the reference says, word for word."""
        return str(self.document["text"])

    @property
    def language(self) -> str:
        """BCP 47."""
        return str(self.document["language"])

    @property
    def audio_path(self) -> Path:
        """Of reference.wav."""
        return self.folder / AUDIO_NAME


_REQUIRED = ("schema_version", "text", "language", "audio", "text_file", "clips", "gap_policy", "tail_policy")


def load_voice(folder: str | Path) -> Voice:
    """Read voice.json.

    Raises:
        ManifestError: No voice there, not JSON, a key missing, or written by a newer refprep.
    """
    path = Path(folder) / VOICE_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ManifestError(
            "no voice.json there", where=str(folder), fix="Name a folder that `refprep build` wrote."
        ) from error
    except (OSError, ValueError) as error:
        raise ManifestError(
            f"it cannot be read: {error}", where=str(path), fix="Build the voice again."
        ) from error
    missing = [k for k in _REQUIRED if not isinstance(document, dict) or k not in document]
    if missing:
        raise ManifestError(f"{', '.join(missing)} missing", where=str(path), fix="Build the voice again.")
    if document["schema_version"] != SCHEMA_VERSION:
        raise ManifestError(
            f"schema version {document['schema_version']}, this refprep reads {SCHEMA_VERSION}",
            where=str(path),
            fix="Use the refprep that wrote it, or build the voice again.",
        )
    return Voice(Path(folder), document)


# --------------------------------------------------------------------------- verifying


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found.

    Attributes:
        problems: (what it is about, what is wrong): a clip's path, or a file of the voice.
        notes: Things that could not be checked, such as a source that is not on this machine.
        num_clips: Clips whose samples were compared.
    """

    problems: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    num_clips: int


def verify_voice(folder: str | Path) -> Verification:
    """Prove that a voice is what was built: hashes, gaps, and every joined clip bit for bit.

    Where a source file is at hand its decoded samples are compared with the joined ones; where it is not, the joined
    ones are held against the recorded hash.

    Raises:
        ManifestError: voice.json cannot be read as one.
    """
    voice = load_voice(folder)
    try:
        return _verify(voice)
    except (KeyError, TypeError, ValueError) as error:
        raise ManifestError(
            f"an entry is missing or of the wrong kind ({error})",
            where=str(voice.folder / VOICE_NAME),
            fix="Build the voice again.",
        ) from error


def _verify(voice: Voice) -> Verification:
    problems: list[tuple[str, str]] = []
    notes: list[str] = []
    audio = voice.document["audio"]
    clips = voice.document["clips"]
    try:
        text_path = voice.folder / TEXT_NAME
        if _sha256(text_path) != voice.document["text_file"]["file_sha256"]:
            problems.append((TEXT_NAME, "it was changed"))
        elif text_path.read_text(encoding="utf-8") != voice.text + "\n":
            problems.append((VOICE_NAME, "its text is not the one in reference.txt"))
    except OSError as error:
        problems.append((TEXT_NAME, f"it cannot be read: {error.strerror}"))
    samples: Samples | None = None
    try:
        reference = decode_file(voice.audio_path)
        if reference.source.file_sha256 != audio["file_sha256"]:
            problems.append((AUDIO_NAME, "it was changed"))
        if (
            reference.sample_rate_hz != audio["sample_rate_hz"]
            or reference.num_samples != audio["num_samples"]
        ):
            problems.append(
                (
                    AUDIO_NAME,
                    f"{reference.num_samples} samples at {reference.sample_rate_hz} Hz, recorded are {audio['num_samples']} at {audio['sample_rate_hz']} Hz",
                )
            )
        samples = reference.samples
    except RefprepError as error:
        problems.append((AUDIO_NAME, error.what))
    end = 0
    for row in clips:
        if samples is not None:
            if np.any(samples[end : row["start_sample"]]):
                problems.append((AUDIO_NAME, f"the gap before {row['path']} is not silent"))
            piece = samples[row["start_sample"] : row["end_sample"]]
            if pcm_sha256(piece, audio["sample_rate_hz"]) != row["pcm_sha256"]:
                problems.append((row["path"], "its samples in reference.wav were changed"))
            end = row["end_sample"]
        problem, note = _verify_source(voice, row)
        if problem:
            problems.append((row["path"], problem))
        if note:
            notes.append(f"{row['path']}: {note}")
    if samples is not None and np.any(samples[end:]):
        problems.append((AUDIO_NAME, "the tail after the last clip is not silent"))
    return Verification(tuple(problems), tuple(notes), len(clips))


def _verify_source(voice: Voice, row: Mapping[str, Any]) -> tuple[str, str]:
    """(problem, note) of the file a clip came from."""
    path = voice.folder / str(row["path"])
    if not path.exists():
        return "", "the source is not here; its joined samples were held against the recorded hash"
    try:
        clip = decode_file(path)
    except RefprepError as error:
        return f"the source no longer decodes: {error.what}", ""
    if clip.source.file_sha256 == row["file_sha256"]:
        return "", ""
    if clip.id == row["pcm_sha256"]:
        return "", "the source file was rewritten; its samples are the same"
    return "the source was changed since the build", ""
