"""A folder -> utterances: a built voice, a data set, what its metadata lists, or every audio file in it and below."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from refprep.errors import ManifestError, UsageError
from refprep.manifest.audio_folder import metadata_below, metadata_of
from refprep.manifest.dataset import is_saved, read_saved
from refprep.manifest.jsonl import read_jsonl
from refprep.manifest.manifests import read_manifest
from refprep.manifest.parquet import read_parquet
from refprep.manifest.row import AUDIO_SUFFIXES
from refprep.manifest.sidecar import read_text_file, with_sidecar
from refprep.manifest.utterance import Utterance


def read_folder(folder: Path, *, clips: Path) -> Iterator[Utterance]:
    """Read what a folder holds.

    Args:
        folder: To read.
        clips: Folder for audio that rows carry inside.

    Raises:
        UsageError: No audio, or a library that its data set needs is not installed.
        ManifestError: Its metadata, its data set or a voice in it cannot be read.
        TextInputError: A sidecar that is not UTF-8.
        MachineError: The disk refused.
    """
    if (folder / "voice.json").is_file():
        yield _read_voice(folder)
    elif is_saved(folder):
        yield from read_saved(folder, clips=clips)
    elif (metadata := metadata_of(folder)) is not None:
        yield from read_manifest(metadata, clips=clips)
    else:
        yield from _read_files(folder, clips)


def _read_files(folder: Path, clips: Path) -> Iterator[Utterance]:
    listed = metadata_below(folder)
    for metadata in listed.values():
        yield from read_manifest(metadata, clips=clips)
    found = [p for p in _visible(folder, AUDIO_SUFFIXES) if not listed.keys() & set(p.parents)]
    # Without audio, tables carry it inside: data/train-00000-of-00002.parquet.
    tables = [] if found or listed else _visible(folder, frozenset({".parquet"}))
    for table in tables:
        yield from read_parquet(table, clips=clips)
    if not (found or listed or tables):
        raise UsageError(
            "no audio files in this folder",
            where=str(folder),
            fix="Point at a folder with audio, or at a manifest.",
        )
    known = _rows_beside(folder)
    voices: set[Path] = set()
    for path in found:
        if (path.parent / "voice.json").is_file():
            if path.parent not in voices:
                voices.add(path.parent)
                yield _read_voice(path.parent)
        else:
            yield _enriched(with_sidecar(path), known.get(path))


def _visible(folder: Path, suffixes: frozenset[str]) -> list[Path]:
    return sorted(
        p
        for p in folder.rglob("*")
        # Hidden folders too: a running build works in one.
        if p.suffix.lower() in suffixes and not any(n.startswith(".") for n in p.relative_to(folder).parts)
    )


def _rows_beside(folder: Path) -> dict[Path, Utterance]:
    """Rows of the manifest that `refprep split` leaves in its folder, by audio file."""
    manifest = folder / "utterances.jsonl"
    return {u.audio: u for u in read_jsonl(manifest)} if manifest.is_file() else {}


def _enriched(own: Utterance, row: Utterance | None) -> Utterance:
    """An utterance with the language, speaker and provenance of its manifest row; a sidecar's text wins."""
    if row is None:
        return own
    text, source = (own.text, own.source) if own.text is not None else (row.text, row.source)
    return Utterance(own.audio, text, row.language, row.speaker, source, row.extra)


def _read_voice(folder: Path) -> Utterance:
    try:
        voice = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
        language, speaker = str(voice.get("language", "")), str(voice.get("speaker_id", ""))
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise ManifestError(
            f"it cannot be read: {error}", where=str(folder / "voice.json"), fix="Build the voice again."
        ) from error
    text = read_text_file(folder / "reference.txt")
    return Utterance(folder / "reference.wav", text, language, speaker, source=str(folder / "reference.txt"))
