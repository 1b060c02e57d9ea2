"""Is a voice what was built? Hashes, gaps, and every joined clip bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refprep.errors import ManifestError, RefprepError
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.text.words import join_texts
from refprep.types import Samples
from refprep.voice.code_files import code_problems, read_codes
from refprep.voice.names import AUDIO_NAME, CODES_NAME, TEXT_NAME, VOICE_NAME, sha256_of_file
from refprep.voice.read import Voice, load_voice


@dataclass(frozen=True, slots=True)
class Verification:
    """What `verify` found.

    Attributes:
        problems: (what it is about, what is wrong): a clip's path, or a file of the voice.
        notes: Things that could not be checked, such as a source that is not on this machine.
        num_clips: Clips whose samples were compared.
        num_codes: Entries of codes that were held against their key.
    """

    problems: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    num_clips: int
    num_codes: int = 0


def verify_voice(folder: str | Path) -> Verification:
    """Prove that a voice is what was built: hashes, gaps, every joined clip bit for bit, and codes against their key.

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
    document = voice.document
    clips = document["clips"]
    problems = [*_text_problems(voice.folder, document["text_file"], voice.text, TEXT_NAME)]
    samples, found = _read_samples(voice.folder, document["audio"])
    problems += found
    if join_texts([row["text"] for row in clips]) != voice.text:
        problems.append((VOICE_NAME, "the texts of its clips do not make its text"))
    problems += _clip_problems(document, samples)
    problems += _silence_problems(document, samples)
    for nested in document["nested"]:
        problems += _nested_problems(voice, nested, samples)
    num_codes = 0
    if samples is not None and (voice.folder / CODES_NAME).is_dir():
        problems += code_problems(voice.folder, samples, document["audio"]["sample_rate_hz"])
        num_codes = len(list(read_codes(voice.folder)))
    notes: list[str] = []
    for row in clips:
        problem, note = _verify_source(voice, row)
        if problem:
            problems.append((row["path"], problem))
        if note:
            notes.append(f"{row['path']}: {note}")
    return Verification(tuple(problems), tuple(notes), len(clips), num_codes)


def _text_problems(
    folder: Path, recorded: Mapping[str, Any], text: str, name: str
) -> Iterator[tuple[str, str]]:
    path = folder / name
    try:
        if sha256_of_file(path) != recorded["file_sha256"]:
            yield name, "it was changed"
        elif path.read_text(encoding="utf-8") != text + "\n":
            yield VOICE_NAME, f"its text is not the one in {name}"
    except OSError as error:
        yield name, f"it cannot be read: {error.strerror}"


def _read_samples(
    folder: Path, recorded: Mapping[str, Any], name: str = AUDIO_NAME
) -> tuple[Samples | None, list[tuple[str, str]]]:
    """Samples of an audio file of the voice, and what is wrong with the file."""
    try:
        clip = decode_file(folder / name)
    except RefprepError as error:
        return None, [(name, error.what)]
    problems: list[tuple[str, str]] = []
    is_untouched = clip.source.file_sha256 == recorded["file_sha256"]
    if not is_untouched:
        problems.append((name, "it was changed"))
    if (clip.sample_rate_hz, clip.num_samples) != (recorded["sample_rate_hz"], recorded["num_samples"]):
        problems.append(
            (
                name,
                f"{clip.num_samples} samples at {clip.sample_rate_hz} Hz, recorded are "
                f"{recorded['num_samples']} at {recorded['sample_rate_hz']} Hz",
            )
        )
    elif is_untouched and clip.id != recorded["pcm_sha256"]:
        problems.append((VOICE_NAME, f"its hash of the samples is not that of {name}"))
    return clip.samples, problems


def _clip_problems(document: Mapping[str, Any], samples: Samples | None) -> Iterator[tuple[str, str]]:
    """Every clip where it is said to be, sample for sample, and nothing between them that is not declared."""
    silences = document["silences"]
    if len(silences) != len(document["clips"]):
        yield VOICE_NAME, "it does not say what follows each of its clips"
        return
    end = 0
    for row, silence in zip(document["clips"], silences, strict=True):
        if row["start_sample"] != end or silence["start_sample"] != row["end_sample"]:
            yield VOICE_NAME, f"{row['path']} is not where it is said to be"
        end = silence["end_sample"]
        if samples is not None:
            piece = samples[row["start_sample"] : row["end_sample"]]
            if pcm_sha256(piece, document["audio"]["sample_rate_hz"]) != row["pcm_sha256"]:
                yield row["path"], "its samples in reference.wav were changed"
    if end != document["audio"]["num_samples"]:
        yield VOICE_NAME, "what follows the last clip is not declared"


def _silence_problems(document: Mapping[str, Any], samples: Samples | None) -> Iterator[tuple[str, str]]:
    """Every gap of its policy's length, and of zeros or the declared room tone."""
    rate_hz, tone = document["audio"]["sample_rate_hz"], document["room_tone_sample"]
    policies = {
        key: SilencePolicy.parse(document[key], option=key).name for key in ("gap_policy", "tail_policy")
    }
    ends = {len(document["clips"]), *(n["num_clips"] for n in document["nested"])}
    for number, silence in enumerate(document["silences"], start=1):
        kind = "tail" if number in ends else "gap"
        policy = SilencePolicy.parse(silence["policy"], option="silences")
        start, end = silence["start_sample"], silence["end_sample"]
        if policy.name != policies[f"{kind}_policy"] or end - start != policy.num_samples(rate_hz):
            yield VOICE_NAME, f"the {kind} after clip {number} is not {policies[f'{kind}_policy']}"
        elif samples is not None:
            found = samples[start:end]
            if policy.kind == "zeros":
                if np.any(found):
                    yield AUDIO_NAME, f"the {kind} after clip {number} is not silent"
            elif tone is None or not np.array_equal(found, samples[tone : tone + end - start]):
                yield AUDIO_NAME, f"the {kind} after clip {number} is not the declared room tone"


def _nested_problems(
    voice: Voice, nested: Mapping[str, Any], samples: Samples | None
) -> Iterator[tuple[str, str]]:
    """A shorter reference: untouched, and a prefix of the whole one."""
    name = str(nested["file"])
    yield from _text_problems(
        voice.folder, nested["text_file"], str(nested["text"]), nested["text_file"]["file"]
    )
    prefix, problems = _read_samples(voice.folder, nested, name)
    yield from problems
    if (
        prefix is not None
        and samples is not None
        and not np.array_equal(prefix, samples[: nested["num_samples"]])
    ):
        yield name, f"it is no prefix of {AUDIO_NAME}"


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
