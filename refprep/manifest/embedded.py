"""Audio that a row carries inside, as data sets on the hub have it -> a file.

    <clips>/<first two digits>/<SHA-256 of the bytes>.<suffix by content>

Rows with the same bytes share a file, and one that is there is not written again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from refprep.atomic import write_bytes
from refprep.errors import ManifestError
from refprep.manifest.row import AUDIO_SUFFIXES, audio_path

# (place, bytes there, suffix); the first that fits counts.
_MARKS: tuple[tuple[int, bytes, str], ...] = (
    (8, b"WAVE", ".wav"),
    (0, b"fLaC", ".flac"),
    (28, b"OpusHead", ".opus"),
    (0, b"OggS", ".ogg"),
    (0, b"ID3", ".mp3"),
    (8, b"AIFF", ".aiff"),
    (8, b"AIFC", ".aiff"),
    (4, b"ftyp", ".m4a"),
    (0, b"\x1a\x45\xdf\xa3", ".webm"),
    (0, b"caff", ".caf"),
    (0, b"riff", ".w64"),
    (0, b"#!AMR", ".amr"),
)


def locate(cell: Mapping[str, Any], *, folder: Path | None, clips: Path, where: str) -> Path:
    """The file of an audio cell: the one it names, or one of ours where that does not hold the cell's bytes.

    Args:
        cell: ``bytes`` and ``path``, each of which may be missing.
        folder: What paths are relative to; None where that is not known.
        clips: Folder for audio that rows carry inside.
        where: The row, for messages.

    Raises:
        ManifestError: Neither bytes nor the path of a file.
        MachineError: The disk refused.
    """
    data, name = cell.get("bytes"), cell.get("path")
    named = name if isinstance(name, str) and name.strip() else ""
    if isinstance(data, bytes) and data:
        own = _as_named(data, named)
        return own if own is not None else keep(data, clips, hint=named)
    if not named:
        raise ManifestError("the row has no audio", where=where, fix="Fill the cell, or leave the row out.")
    if "://" in named or (folder is None and not Path(named).is_absolute()):
        raise ManifestError(
            f"its audio is not on this machine: {named}",
            where=where,
            fix="Load the data set with its audio inside, and save it to a folder.",
        )
    return audio_path(folder or Path(), named, where)


def keep(data: bytes, clips: Path, *, hint: str = "") -> Path:
    """Write bytes into a file named by their content, unless it is there.

    Args:
        data: Of an audio file.
        clips: Folder of such files.
        hint: Name that the file had: its suffix is taken where the content says nothing.

    Raises:
        MachineError: The disk refused.
    """
    digest = hashlib.sha256(data).hexdigest()
    path = clips / digest[:2] / f"{digest}{suffix_of(data, hint=hint)}"
    if not (path.is_file() and path.stat().st_size == len(data)):
        write_bytes(path, data)
    return path


def suffix_of(data: bytes, *, hint: str = "") -> str:
    """File suffix by content, else that of the hint; ``.bin`` where neither is audio's."""
    for place, mark, suffix in _MARKS:
        if data[place : place + len(mark)] == mark:
            return suffix
    # Layer bits after the sync word: 00 is AAC in ADTS, the others are MPEG audio. ISO/IEC 13818-7, 11172-3.
    if len(data) > 1 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0:
        return ".aac" if data[1] & 0xF6 == 0xF0 else ".mp3"
    named = PurePosixPath(hint.replace("\\", "/")).suffix.lower()
    return named if named in AUDIO_SUFFIXES else ".bin"


def _as_named(data: bytes, name: str) -> Path | None:
    """The file of that name, if it holds these bytes: a name from another machine may lead to another file here."""
    path = Path(name) if "\0" not in name else Path()
    try:
        is_same = path.is_absolute() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return None
    return path if is_same else None
