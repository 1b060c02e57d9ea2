"""Is a voice what was built? Hashes, gaps, and every joined clip bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refprep.errors import ManifestError, RefprepError
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.join import SilencePolicy
from refprep.text.words import join_texts
from refprep.types import Samples
from refprep.voice.names import AUDIO_NAME, TEXT_NAME, VOICE_NAME, sha256_of_file
from refprep.voice.read import Voice, load_voice


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
        if sha256_of_file(text_path) != voice.document["text_file"]["file_sha256"]:
            problems.append((TEXT_NAME, "it was changed"))
        elif text_path.read_text(encoding="utf-8") != voice.text + "\n":
            problems.append((VOICE_NAME, "its text is not the one in reference.txt"))
    except OSError as error:
        problems.append((TEXT_NAME, f"it cannot be read: {error.strerror}"))
    samples: Samples | None = None
    try:
        reference = decode_file(voice.audio_path)
        is_untouched = reference.source.file_sha256 == audio["file_sha256"]
        if not is_untouched:
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
        elif is_untouched and reference.id != audio["pcm_sha256"]:
            problems.append((VOICE_NAME, "its hash of the samples is not that of reference.wav"))
        samples = reference.samples
    except RefprepError as error:
        problems.append((AUDIO_NAME, error.what))
    rate_hz = audio["sample_rate_hz"]
    gap_samples, tail_samples = (
        SilencePolicy.parse(voice.document[key], option=key).num_samples(rate_hz)
        for key in ("gap_policy", "tail_policy")
    )
    if join_texts([row["text"] for row in clips]) != voice.text:
        problems.append((VOICE_NAME, "the texts of its clips do not make its text"))
    end = 0
    for index, row in enumerate(clips):
        if row["start_sample"] - end != (gap_samples if index else 0):
            problems.append(
                (VOICE_NAME, f"the gap before {row['path']} is not {voice.document['gap_policy']}")
            )
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
    if audio["num_samples"] - end != tail_samples:
        problems.append((VOICE_NAME, f"what follows the last clip is not {voice.document['tail_policy']}"))
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
    if clip.id == row["source_pcm_sha256"]:
        return "", "the source file was rewritten; its samples are the same"
    return "the source was changed since the build", ""
