"""Hugging Face's AudioFolder: a folder, or one for each split, with ``metadata.csv``, ``.jsonl`` or ``.parquet``.

Without metadata the folders are the classes; then the audio files are read as those of any folder, and
``--group-by folder`` takes the class for the speaker.
"""

from __future__ import annotations

from pathlib import Path

from refprep.errors import ManifestError

METADATA_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")


def metadata_of(folder: Path) -> Path | None:
    """The metadata file in a folder.

    Raises:
        ManifestError: There are several: they may name different rows.
    """
    found = [path for name in METADATA_NAMES if (path := folder / name).is_file()]
    if len(found) > 1:
        raise ManifestError(
            f"there are {' and '.join(path.name for path in found)}",
            where=str(folder),
            fix="Name the file that counts, or keep one.",
        )
    return found[0] if found else None


def metadata_below(folder: Path) -> dict[Path, Path]:
    """Folder -> its metadata file, for the topmost folders below one that have any: the splits, in order of names.

    Raises:
        ManifestError: Several metadata files in one of them.
    """
    found: dict[Path, Path] = {}
    for path in sorted({p.parent for name in METADATA_NAMES for p in folder.rglob(name)}):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if is_hidden or found.keys() & set(path.parents):
            continue
        metadata = metadata_of(path)
        if metadata is not None:
            found[path] = metadata
    return found
