"""The text of a manifest file, refused where it is not UTF-8."""

from __future__ import annotations

from pathlib import Path

from refprep.errors import ManifestError


def lines(path: Path) -> list[str]:
    """Lines by line feeds alone: JSON strings may hold U+2028 and other marks that str.splitlines cuts at.

    Raises:
        ManifestError: Not UTF-8, or unreadable.
    """
    return [line.removesuffix("\r") for line in content(path).split("\n")]


def content(path: Path) -> str:
    """The whole text, without a byte order mark.

    Raises:
        ManifestError: Not UTF-8, or unreadable.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(
            f"not UTF-8 (byte {error.start})", where=str(path), fix="Save the manifest as UTF-8."
        ) from error
    except OSError as error:
        raise ManifestError(
            f"it cannot be read: {error.strerror}", where=str(path), fix="Check the file and its permissions."
        ) from error
