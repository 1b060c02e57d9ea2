"""Rows of Arrow tables, from Parquet files and data sets: columns by name, audio by path or carried inside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from refprep.errors import ManifestError
from refprep.manifest.embedded import locate
from refprep.manifest.row import AUDIO_KEYS, KNOWN_KEYS, described, no_audio_column, utterance_of_row
from refprep.manifest.utterance import Utterance

BATCH_ROWS = 32
"""Rows held in memory at a time: each may carry its audio."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a table are read, and how.

    Attributes:
        names: In the table's order.
        embedded: The one that carries audio inside; empty where audio is named by path.
        labels: Column -> names of its numbers, as data sets keep classes.
    """

    names: tuple[str, ...]
    embedded: str
    labels: Mapping[str, Sequence[str]]


def columns_of(schema: Any, where: str) -> Columns:  # noqa: ANN401  # a pyarrow.Schema; pyarrow is optional
    """Choose the columns: audio, the names refprep knows, and further ones of single values.

    Raises:
        ManifestError: No audio column, or several and none of them called by a name refprep knows.
    """
    embedded = _embedded(schema, where)
    names = [
        f.name
        for f in schema
        if f.name == embedded or (_carries(f) is False and (f.name in KNOWN_KEYS or _is_single(f.type)))
    ]
    if not embedded and not set(names) & set(AUDIO_KEYS):
        raise no_audio_column(where, fix=f"Rename a column; there are {', '.join(schema.names) or 'none'}.")
    return Columns(tuple(names), embedded, _labels(schema))


def read_batches(
    batches: Iterable[Any], columns: Columns, *, folder: Path | None, where: str, clips: Path
) -> Iterator[Utterance]:
    """The rows of record batches or tables, in order.

    Args:
        batches: With the columns chosen.
        columns: How they are read.
        folder: What paths are relative to; None where that is not known.
        where: The file or data set, for messages.
        clips: Folder for audio that rows carry inside.

    Raises:
        ManifestError: A row that cannot be read.
        MachineError: The disk refused.
    """
    number = 0
    for batch in batches:
        for row in batch.to_pylist():
            number += 1
            yield _utterance(row, columns, folder, f"{where}, row {number}", clips)


def _utterance(
    cells: Mapping[str, Any], columns: Columns, folder: Path | None, where: str, clips: Path
) -> Utterance:
    row = {
        name: _named(value, columns.labels.get(name)) for name, value in cells.items() if value is not None
    }
    audio = row.pop(columns.embedded, None)
    if not columns.embedded:
        found = next((row[k] for k in AUDIO_KEYS if k in row), None)
        if folder is not None or not isinstance(found, str):
            return utterance_of_row(folder or Path(), where, row)
        audio = {"path": found}
    cell = {"bytes": audio} if isinstance(audio, bytes) else audio if isinstance(audio, Mapping) else {}
    path = locate(cell, folder=folder, clips=clips, where=where)
    extra = {k: v for k, v in row.items() if k not in KNOWN_KEYS}
    own = PurePosixPath(str(cell.get("path") or "").replace("\\", "/")).name
    if own and own != path.name:
        extra.setdefault("original_name", own)
    return described(path, row, where, extra)


def _embedded(schema: Any, where: str) -> str:  # noqa: ANN401  # a pyarrow.Schema
    """The column that carries audio inside; empty where none does.

    Raises:
        ManifestError: Several do, and none is called by a name refprep knows.
    """
    found = [f.name for f in schema if _carries(f)]
    for name in AUDIO_KEYS:
        if name in found:
            return name
    if len(found) > 1:
        raise ManifestError(
            f"several audio columns: {', '.join(found)}", where=where, fix="Call the one that counts audio."
        )
    return found[0] if found else ""


def _carries(field: Any) -> bool:  # noqa: ANN401  # a pyarrow.Field
    """An audio file may lie in the column: ``{bytes, path}``, or bytes under a name of audio."""
    import pyarrow as pa

    if pa.types.is_struct(field.type):
        return {"bytes", "path"} <= {inner.name for inner in field.type}
    return field.name in AUDIO_KEYS and (
        pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type)
    )


def _is_single(kind: Any) -> bool:  # noqa: ANN401  # a pyarrow.DataType
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
    )
    return any(test(kind) for test in tests)


def _labels(schema: Any) -> dict[str, list[str]]:  # noqa: ANN401  # a pyarrow.Schema
    """Names of classes, which `datasets` keeps as numbers and spells out in the schema's metadata."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        return {
            name: [str(n) for n in kind["names"]]
            for name, kind in features.items()
            if isinstance(kind, dict) and kind.get("_type") == "ClassLabel"
        }
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _named(value: object, names: Sequence[str] | None) -> object:
    if names is None or isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < len(names):
        return value
    return names[value]
