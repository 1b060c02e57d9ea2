"""A row of any manifest -> Utterance: the names that its columns may have, and paths relative to its folder."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from refprep.errors import ManifestError
from refprep.manifest.utterance import Utterance

AUDIO_SUFFIXES = frozenset(
    ".wav .wave .flac .ogg .oga .opus .mp3 .m4a .m4b .aac .mp4 .mov .mkv .webm .avi .wma .aif .aiff .caf .w64 .rf64 .amr .3gp".split()
)
AUDIO_KEYS = tuple("audio path audio_filepath audio_path file_name file wav wav_path filename".split())
TEXT_KEYS = ("text", "ref_text", "transcript", "transcription", "normalized_text", "sentence")
LANGUAGE_KEYS = ("language", "lang", "locale")
SPEAKER_KEYS = ("speaker", "speaker_id", "spk", "client_id")
KNOWN_KEYS = frozenset((*AUDIO_KEYS, *TEXT_KEYS, *LANGUAGE_KEYS, *SPEAKER_KEYS))
_EXAMPLE = 'Write rows such as {"audio": "a.wav", "text": "..."}.'


def utterance_of_row(folder: Path, where: str, row: Mapping[str, Any]) -> Utterance:
    """The utterance of a row that names a file.

    Args:
        folder: The manifest's.
        where: The row, for messages.
        row: Column -> cell.

    Raises:
        ManifestError: No audio, a cell that is no string, or a row that means a part of a file.
    """
    audio = _cell(row, AUDIO_KEYS, where)
    if audio is None or not audio.strip():
        raise no_audio_column(where, fix=_EXAMPLE)
    _require_whole_file(row, where)
    extra = {k: v for k, v in row.items() if k not in KNOWN_KEYS}
    return described(audio_path(folder, audio, where), row, where, extra)


def described(audio: Path, row: Mapping[str, Any], where: str, extra: Mapping[str, Any]) -> Utterance:
    """An audio file with the text, language and speaker of its row.

    Raises:
        ManifestError: A cell is a list or an object.
    """
    return Utterance(
        audio=audio,
        text=_cell(row, TEXT_KEYS, where),
        language=(_cell(row, LANGUAGE_KEYS, where) or "").strip(),
        speaker=(_cell(row, SPEAKER_KEYS, where) or "").strip(),
        source=where,
        extra=extra,
    )


def no_audio_column(where: str, *, fix: str) -> ManifestError:
    """The error of rows that name no audio."""
    return ManifestError(f"no audio column (one of {', '.join(AUDIO_KEYS[:5])}, ...)", where=where, fix=fix)


def audio_path(folder: Path, name: str, where: str) -> Path:
    """A manifest's path, relative to its folder.

    Raises:
        ManifestError: Empty, or with a NUL character.
    """
    if not name.strip() or "\0" in name:
        what = "the path holds a NUL character" if "\0" in name else "the path is empty"
        raise ManifestError(what, where=where, fix="Write the path of an audio file.")
    return folder / name.strip()


def _require_whole_file(row: Mapping[str, Any], where: str) -> None:
    """NeMo's ``offset`` makes a row mean a part of its file; its text would be held against the whole of it.

    Raises:
        ManifestError: The row begins after its file does.
    """
    offset_s = _number(row.get("offset"))
    if offset_s > 0:
        raise ManifestError(
            f"the row means a part of a file, from {offset_s:g} s, and refprep reads whole files",
            where=where,
            fix="Cut the file (`refprep split RECORDING -o DIR` cuts and writes a manifest); where it is cut already, "
            "call the column something else, such as source_offset.",
        )


def _number(value: object) -> float:
    """A cell as a number; 0.0 where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 0.0
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return 0.0
    return 0.0 if math.isnan(number) else number


def _cell(row: Mapping[str, Any], names: Sequence[str], where: str) -> str | None:
    """The first cell of these names that says something; a number is taken as written.

    Raises:
        ManifestError: It is a list or an object.
    """
    for name in names:
        value = row.get(name)
        if isinstance(value, list | Mapping):
            kind = "a list" if isinstance(value, list) else "an object"
            raise ManifestError(f"{name} is {kind}", where=where, fix="Write a string.")
        if value is not None:
            return value if isinstance(value, str) else str(value)
    return None
