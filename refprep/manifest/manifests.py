"""A manifest file -> the reader of its format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from refprep.manifest.gpt_sovits import read_list
from refprep.manifest.jsonl import read_jsonl
from refprep.manifest.ljspeech import read_ljspeech
from refprep.manifest.parquet import read_parquet
from refprep.manifest.table import has_header, read_table
from refprep.manifest.utterance import Utterance

MANIFEST_SUFFIXES = frozenset({".jsonl", ".ndjson", ".csv", ".tsv", ".list", ".parquet"})


def read_manifest(path: Path, *, clips: Path) -> Iterator[Utterance]:
    """Read a file with one of ``MANIFEST_SUFFIXES``.

    Args:
        path: The file.
        clips: Folder for audio that rows carry inside.

    Raises:
        UsageError: A library that the format needs is not installed.
        ManifestError: It cannot be read.
        MachineError: The disk refused.
    """
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return read_jsonl(path)
    if suffix == ".list":
        return read_list(path)
    if suffix == ".parquet":
        return read_parquet(path, clips=clips)
    if path.name.lower() == "metadata.csv" and not has_header(path):
        return read_ljspeech(path)
    return read_table(path)
