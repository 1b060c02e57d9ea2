"""Audio beside its text: ``a.wav`` and ``a.txt`` or ``a.lab``."""

from __future__ import annotations

from pathlib import Path

from refprep.errors import TextInputError
from refprep.manifest.utterance import Utterance

TEXT_SUFFIXES = (".txt", ".lab")
_MAX_TEXT_BYTES = 1 << 20


def with_sidecar(audio: Path) -> Utterance:
    """An audio file with the text beside it, if there is one."""
    for suffix in TEXT_SUFFIXES:
        sidecar = audio.with_suffix(suffix)
        if sidecar.is_file():
            return Utterance(audio, read_text_file(sidecar), source=str(sidecar))
    return Utterance(audio)


def read_text_file(path: Path) -> str:
    """Text of a small UTF-8 file, a byte order mark allowed, white space stripped.

    Raises:
        TextInputError: Not UTF-8, larger than 1 MiB, or unreadable.
    """
    try:
        if path.stat().st_size > _MAX_TEXT_BYTES:
            raise TextInputError(
                "a text of more than 1 MiB is no transcript of a clip",
                where=str(path),
                fix="Give the clip its own text only.",
            )
        return path.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise TextInputError(
            f"not UTF-8 (byte {error.start})", where=str(path), fix="Save the text as UTF-8."
        ) from error
    except OSError as error:
        raise TextInputError(
            f"it cannot be read: {error.strerror}", where=str(path), fix="Check the file and its permissions."
        ) from error
