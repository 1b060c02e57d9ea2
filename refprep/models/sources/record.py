"""What a pull delivered, in JSON: ``record.json`` beside a model's files, and the pin of an unpinned hub source."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from refprep.errors import IntegrityError
from refprep.models.catalog import RECORD_NAME
from refprep.models.sources.files import StoredFile, sync_file, sync_folder

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Record:
    """A model as it was pulled.

    Attributes:
        source: Label of the source.
        revision: Commit of a hub repository; empty for other sources.
        pulled_at: ISO 8601, UTC.
        refprep_version: Of the refprep that pulled it.
    """

    id: str
    source: str
    revision: str
    files: tuple[StoredFile, ...]
    pulled_at: str
    refprep_version: str


@dataclass(frozen=True, slots=True)
class Pin:
    """What a hub repository held when it was first pulled; later pulls are held against it."""

    repo: str
    revision: str
    files: tuple[StoredFile, ...]


def write_record(folder: Path, record: Record) -> None:
    """Put the record into a folder that nobody else sees yet."""
    with (folder / RECORD_NAME).open("wb") as stream:
        stream.write(_dump(asdict(record)))
        sync_file(stream)


def read_record(folder: Path) -> Record | None:
    """The record of a folder; None when it is absent or cannot be read, which a new pull mends."""
    try:
        row = json.loads((folder / RECORD_NAME).read_bytes())
        if row["schema_version"] != SCHEMA_VERSION:
            return None
        return Record(
            str(row["id"]),
            str(row["source"]),
            str(row["revision"]),
            _files(row["files"]),
            str(row["pulled_at"]),
            str(row["refprep_version"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_pin(root: Path, model_id: str, pin: Pin) -> None:
    """Keep a pin, atomically."""
    path = _pin_path(root, model_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{model_id}-", dir=path.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(_dump(asdict(pin)))
        sync_file(stream)
    os.replace(name, path)
    sync_folder(path.parent)


def read_pin(root: Path, model_id: str) -> Pin | None:
    """The pin of a model; None before its first pull.

    Raises:
        IntegrityError: There is one, and it cannot be read: taking the newest files instead would defeat it.
    """
    path = _pin_path(root, model_id)
    try:
        row = json.loads(path.read_bytes())
        return Pin(str(row["repo"]), str(row["revision"]), _files(row["files"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        fix = "Delete it to accept what the hub holds today"
        raise IntegrityError(f"the pin cannot be read: {error}", where=str(path), fix=fix) from error


def _pin_path(root: Path, model_id: str) -> Path:
    return root / "pins" / f"{model_id}.json"


def _files(rows: Sequence[Mapping[str, Any]]) -> tuple[StoredFile, ...]:
    return tuple(StoredFile(str(r["name"]), int(r["size_bytes"]), str(r["sha256"])) for r in rows)


def _dump(row: Mapping[str, Any]) -> bytes:
    text = json.dumps({"schema_version": SCHEMA_VERSION} | dict(row), ensure_ascii=False, indent=2)
    return (text + "\n").encode()
