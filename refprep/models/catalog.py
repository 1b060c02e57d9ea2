"""The list of models: what each is, how large, under which licence, and where it comes from.

Catalog ── Model ── WheelSource   files in wheels of a package index, each wheel and file pinned by SHA-256
                 ├─ HubSource     files of a hub repository; unpinned where nobody could verify a revision
                 └─ LocalSource   a folder on this machine
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from refprep.errors import ConfigError, UsageError

ROLES = ("asr", "speaker", "vad", "synthesis", "codec", "speech")
RECORD_NAME = "record.json"
"""Written beside a model's files; so no model may carry a file of that name."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class FileSpec:
    """One file of a model.

    Attributes:
        names: Relative POSIX path; several where any one of them will do, best first. An index of sharded weights brings
            its shards along.
        size_bytes: None where nobody measured it.
        sha256: None where nobody could verify it.
        parts: (package, member) of each piece; the file is their concatenation. Only in wheel sources.
        is_optional: A source that lacks it is complete all the same.
    """

    names: tuple[str, ...]
    size_bytes: int | None = None
    sha256: str | None = None
    parts: tuple[tuple[str, str], ...] = ()
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel of a package index, taken by hash.

    Attributes:
        package: Name, as pip takes it.
        pip_args: Extra arguments of `pip download`, such as ``--platform``.
    """

    package: str
    version: str
    size_bytes: int
    sha256: str
    pip_args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WheelSource:
    """Files that lie in wheels."""

    wheels: tuple[Wheel, ...]
    files: tuple[FileSpec, ...]
    kind: str = "wheel"

    @property
    def label(self) -> str:
        """Names the source in records and tables."""
        return "wheel:" + "+".join(f"{w.package}=={w.version}" for w in self.wheels)

    @property
    def download_bytes(self) -> int:
        """What a pull transfers."""
        return sum(w.size_bytes for w in self.wheels)


@dataclass(frozen=True, slots=True)
class HubSource:
    """Files of a hub repository; ``revision`` is a commit, or None where none could be verified."""

    repo: str
    files: tuple[FileSpec, ...]
    revision: str | None = None
    kind: str = "hub"

    @property
    def label(self) -> str:
        """Names the source in records and tables."""
        return f"hub:{self.repo}"


@dataclass(frozen=True, slots=True)
class LocalSource:
    """A folder on this machine that holds the files."""

    folder: Path
    files: tuple[FileSpec, ...]
    kind: str = "local"

    @property
    def label(self) -> str:
        """Names the source in records and tables."""
        return f"local:{self.folder}"


Source: TypeAlias = WheelSource | HubSource | LocalSource


@dataclass(frozen=True, slots=True)
class Model:
    """An entry of the catalog.

    Attributes:
        role: One of ``ROLES``.
        size_bytes: Of the files on disk.
        size_is_estimate: Nobody measured that size.
        licence: What is known, and whose statement it is.
        default_for: Where it is the role's default: ``embedded``, ``cpu``, ``cuda``, ``demo``.
        sources: In the order they are tried.
    """

    id: str
    role: str
    size_bytes: int
    size_is_estimate: bool
    licence: str
    description: str
    default_for: tuple[str, ...]
    sources: tuple[Source, ...]

    @property
    def is_embedded(self) -> bool:
        """A package index alone is enough to get it."""
        return any(s.kind == "wheel" for s in self.sources)

    @property
    def size_text(self) -> str:
        """The size for people: ``148 MB``, with ``about`` before an estimate."""
        return f"{'about ' if self.size_is_estimate else ''}{megabytes(self.size_bytes)}"


@dataclass(frozen=True, slots=True)
class Catalog(Mapping[str, Model]):
    """Models by id, in the order of the file."""

    models: Mapping[str, Model]

    def __getitem__(self, model_id: str) -> Model:
        """The model.

        Raises:
            UsageError: No such id; the message names close ones. (A KeyError would be a bug in refprep.)
        """
        if model_id in self.models:
            return self.models[model_id]
        close = difflib.get_close_matches(model_id, self.models, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(close)}?" if close else "`refprep models ls` shows them all"
        raise UsageError("no model of that name, and no such folder", where=model_id, fix=hint)

    def __contains__(self, model_id: object) -> bool:
        return model_id in self.models

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)


def megabytes(num_bytes: int) -> str:
    """Decimal megabytes for people: one digit below 10 MB, ``GB`` from 1000 MB."""
    mega = num_bytes / 1e6
    if mega >= 999.5:
        return f"{mega / 1e3:.2f} GB"
    return f"{mega:.0f} MB" if mega >= 10 else f"{mega:.1f} MB"


def load_catalog(path: Path | None = None) -> Catalog:
    """Read a catalog, the package's own by default.

    Raises:
        ConfigError: Not TOML, an unknown or missing key, an impossible value.
    """
    where = str(path) if path else "refprep/models/catalog.toml"
    try:
        text = (path or resources.files("refprep.models") / "catalog.toml").read_text(encoding="utf-8")
        return parse_catalog(tomllib.loads(text))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read: {error}", where=where, fix="Check the path") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is no TOML: {error}", where=where, fix="Mend the syntax") from error
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"is no catalog: {error}", where=where, fix="Compare with the built-in one"
        ) from error


def parse_catalog(document: Mapping[str, Any]) -> Catalog:
    """Build the catalog from parsed TOML; ValueError, TypeError or KeyError say what is wrong."""
    _only(document, "catalog", {"schema_version", "model"})
    if document["schema_version"] != 1:
        raise ValueError(f"schema_version {document['schema_version']} is not 1")
    models: dict[str, Model] = {}
    for row in document["model"]:
        model = _model(row)
        if model.id in models:
            raise ValueError(f"{model.id} stands there twice")
        models[model.id] = model
    return Catalog(models)


def _model(row: Mapping[str, Any]) -> Model:
    name = str(row.get("id"))
    required = {"id", "role", "size_bytes", "licence", "description", "default_for", "sources"}
    _only(row, name, required | {"size_is_estimate"})
    if not _ID.fullmatch(name):
        raise ValueError(f"{name!r} is no id: lower case letters, digits, . _ -")
    if row["role"] not in ROLES:
        raise ValueError(f"{name}: role {row['role']!r} is none of {', '.join(ROLES)}")
    sources = tuple(_source(s, name) for s in row["sources"])
    if not sources:
        raise ValueError(f"{name} has no source")
    return Model(
        id=name,
        role=row["role"],
        size_bytes=int(row["size_bytes"]),
        size_is_estimate=bool(row.get("size_is_estimate", False)),
        licence=row["licence"],
        description=row["description"],
        default_for=tuple(row["default_for"]),
        sources=sources,
    )


def _source(row: Mapping[str, Any], model_id: str) -> Source:
    kind = row["kind"]
    files = tuple(_file(f, model_id) for f in row["files"])
    if kind == "wheel":
        _only(row, model_id, {"kind", "wheels", "files"})
        wheels = tuple(_wheel(w, model_id) for w in row["wheels"])
        carried = {w.package for w in wheels}
        for spec in files:
            if not spec.sha256 or not spec.parts or not {p for p, _ in spec.parts} <= carried:
                raise ValueError(f"{model_id}: {spec.names[0]} needs a sha256 and parts of its own wheels")
        return WheelSource(wheels, files)
    if kind == "hub":
        _only(row, model_id, {"kind", "repo", "revision", "files"})
        return HubSource(row["repo"], files, row.get("revision"))
    if kind == "local":
        _only(row, model_id, {"kind", "folder", "files"})
        return LocalSource(Path(row["folder"]).expanduser(), files)
    raise ValueError(f"{model_id}: source kind {kind!r} is none of wheel, hub, local")


def _wheel(row: Mapping[str, Any], model_id: str) -> Wheel:
    _only(row, model_id, {"package", "version", "size_bytes", "sha256", "pip_args"})
    if not _SHA256.fullmatch(row["sha256"]):
        raise ValueError(f"{model_id}: {row['package']} has no SHA-256")
    args = tuple(row.get("pip_args", ()))
    return Wheel(row["package"], row["version"], int(row["size_bytes"]), row["sha256"], args)


def _file(row: Mapping[str, Any], model_id: str) -> FileSpec:
    _only(row, model_id, {"name", "any_of", "size_bytes", "sha256", "parts", "optional"})
    names = tuple(row["any_of"]) if "any_of" in row else (row["name"],)
    for name in names:
        # Files are written below the model's folder and nowhere else.
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or str(path) != name:
            raise ValueError(f"{model_id}: {name!r} is no plain relative path")
        if name == RECORD_NAME:
            raise ValueError(f"{model_id}: {RECORD_NAME} is refprep's own")
    sha256 = row.get("sha256")
    if sha256 is not None and (len(names) != 1 or not _SHA256.fullmatch(sha256)):
        raise ValueError(f"{model_id}: {names[0]} has no usable SHA-256")
    parts = tuple((package, member) for package, member in row.get("parts", ()))
    return FileSpec(names, row.get("size_bytes"), sha256, parts, bool(row.get("optional", False)))


def _only(row: Mapping[str, Any], where: str, known: set[str]) -> None:
    unknown = sorted(set(row) - known)
    if unknown:
        raise ValueError(f"{where}: unknown key {', '.join(unknown)}")
