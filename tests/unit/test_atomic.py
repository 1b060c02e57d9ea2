"""Whole or not at all: files, folders, what killed processes leave, and what the disk refuses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refprep import atomic
from refprep.atomic import recover, replace_folder, write_bytes, write_text
from refprep.errors import MachineError


@pytest.fixture(scope="module")
def dead_pid() -> int:
    """Of a process that has ended and was waited for."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def live_pid():
    process = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    yield process.pid
    process.kill()
    process.communicate()


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def make_folder(path: Path, **files: str) -> Path:
    path.mkdir(parents=True)
    for name, content in files.items():
        (path / name).write_text(content)
    return path


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# --------------------------------------------------------------------------- files


def test_a_text_is_written_as_utf_8_with_its_folders(tmp_path):
    write_text(tmp_path / "a" / "b" / "c.txt", "Grüße\n今天\r\n")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == "Grüße\n今天\r\n".encode()
    assert names(tmp_path / "a" / "b") == ["c.txt"]


def test_a_file_is_replaced(tmp_path):
    target = tmp_path / "c.txt"
    target.write_text("old and longer")
    write_bytes(target, b"new")
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["c.txt"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_whole(tmp_path, monkeypatch, step):
    target = tmp_path / "c.txt"
    target.write_text("old")
    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), full_disk)
    with pytest.raises(MachineError, match="No space left") as caught:
        write_text(target, "new")
    assert caught.value.where == str(target)
    assert caught.value.exit_code == 3
    assert target.read_text() == "old"
    assert names(tmp_path) == ["c.txt"]


def test_the_target_is_untouched_until_the_data_is_on_the_disk(tmp_path, monkeypatch):
    target = tmp_path / "c.txt"
    target.write_text("old")
    seen: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(target.read_text()))
    write_text(target, "new")
    assert seen == ["old"]


def test_a_folder_in_the_way_is_a_machine_error(tmp_path):
    (tmp_path / "c.txt").mkdir()
    with pytest.raises(MachineError):
        write_text(tmp_path / "c.txt", "new")
    assert names(tmp_path) == ["c.txt"]


def test_a_file_in_place_of_the_parent_is_a_machine_error(tmp_path):
    (tmp_path / "a").write_text("a file")
    with pytest.raises(MachineError):
        write_text(tmp_path / "a" / "c.txt", "new")
    with pytest.raises(MachineError), replace_folder(tmp_path / "a" / "ana"):
        pytest.fail("the block must not run")
    assert names(tmp_path) == ["a"]


# --------------------------------------------------------------------------- folders


def test_a_new_folder_appears_at_the_end(tmp_path):
    target = tmp_path / "deep" / "ana"
    with replace_folder(target) as fresh:
        assert fresh.parent == target.parent
        assert list(fresh.iterdir()) == []
        (fresh / "a.txt").write_text("new")
        assert not target.exists()
    assert names(target) == ["a.txt"]
    assert names(tmp_path / "deep") == ["ana"]


def test_an_old_folder_stays_until_the_end_and_goes_whole(tmp_path):
    target = make_folder(tmp_path / "ana", old="1", both="1")
    with replace_folder(target) as fresh:
        (fresh / "both").write_text("2")
        (fresh / "nested" / "deeper").mkdir(parents=True)
        (fresh / "nested" / "deeper" / "x").write_text("2")
        assert names(target) == ["both", "old"]
        assert (target / "both").read_text() == "1"
    assert names(target) == ["both", "nested"]
    assert (target / "both").read_text() == "2"
    assert (target / "nested" / "deeper" / "x").read_text() == "2"
    assert names(tmp_path) == ["ana"]


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyboardInterrupt(), SystemExit(3)])
def test_a_failure_inside_leaves_the_old_folder(tmp_path, error):
    target = make_folder(tmp_path / "ana", old="1")

    def fail_half_way() -> None:
        with replace_folder(target) as fresh:
            (fresh / "half").write_text("2")
            raise error

    with pytest.raises(type(error)):
        fail_half_way()
    assert names(target) == ["old"]
    assert names(tmp_path) == ["ana"]


def test_a_disk_error_inside_names_the_target(tmp_path):
    target = make_folder(tmp_path / "ana", old="1")
    with pytest.raises(MachineError, match="No space left") as caught, replace_folder(target):
        full_disk()
    assert caught.value.where == str(target)
    assert "untouched" in caught.value.fix
    assert (names(target), names(tmp_path)) == (["old"], ["ana"])


def test_an_os_error_of_a_library_is_not_the_disks(tmp_path):
    with pytest.raises(OSError, match="could not load library") as caught, replace_folder(tmp_path / "ana"):
        raise OSError("could not load library")
    assert not isinstance(caught.value, MachineError)
    assert names(tmp_path) == []


def test_a_disk_that_refuses_the_sync_leaves_the_old_folder(tmp_path, monkeypatch):
    target = make_folder(tmp_path / "ana", old="1")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(MachineError), replace_folder(target) as fresh:
        (fresh / "a").write_text("2")
    assert (names(target), names(tmp_path)) == (["old"], ["ana"])


def test_every_file_is_on_the_disk_before_the_folder_takes_its_place(tmp_path, monkeypatch):
    target = make_folder(tmp_path / "ana", old="1")
    synced: list[str] = []

    def remember(handle: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{handle}")).name)
        assert names(target) == ["old"]

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not say which file a handle is")
    monkeypatch.setattr(os, "fsync", remember)
    with replace_folder(target) as fresh:
        (fresh / "a").write_text("2")
        (fresh / "nested").mkdir()
        (fresh / "nested" / "b").write_text("2")
    assert {"a", "b"} <= set(synced)
    assert any(name.startswith(".ana.refprep-") for name in synced)


def test_two_builds_of_one_target_do_not_disturb_each_other(tmp_path):
    target = tmp_path / "ana"
    with replace_folder(target) as one:
        (one / "one").write_text("1")
        with replace_folder(target) as two:
            (two / "two").write_text("2")
        assert names(target) == ["two"]
        assert names(one) == ["one"]
    assert names(target) == ["one"]
    assert names(tmp_path) == ["ana"]


# --------------------------------------------------------------------------- the swap


def test_two_names_are_exchanged_in_one_call(tmp_path):
    if atomic._exchange_call() is None:
        pytest.skip("this system has no such call")
    one, other = make_folder(tmp_path / "one", a="1"), make_folder(tmp_path / "other", b="2")
    assert atomic._exchange(one, other)
    assert (names(one), names(other)) == (["b"], ["a"])


def test_an_exchange_that_fails_is_a_disk_error(tmp_path):
    if atomic._exchange_call() is None:
        pytest.skip("this system has no such call")
    with pytest.raises(FileNotFoundError):
        atomic._exchange(make_folder(tmp_path / "one"), tmp_path / "nothing")


def test_without_the_call_two_renames_do(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_exchange_call", lambda: None)
    target = make_folder(tmp_path / "ana", old="1")
    with replace_folder(target) as fresh:
        (fresh / "new").write_text("2")
    assert (names(target), names(tmp_path)) == (["new"], ["ana"])


def test_a_refusal_of_the_second_rename_brings_the_old_folder_back(tmp_path, monkeypatch):
    """Without the exchange call: what was there before must be there again, as the message says."""
    monkeypatch.setattr(atomic, "_exchange_call", lambda: None)
    target = make_folder(tmp_path / "ana", old="1")
    rename, calls = Path.rename, []

    def refuse_the_second(self: Path, to: Path) -> Path:
        calls.append(to)
        if len(calls) == 2:
            full_disk()
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", refuse_the_second)
    with pytest.raises(MachineError), replace_folder(target) as fresh:
        (fresh / "new").write_text("2")
    assert target.is_dir()
    assert (names(target), names(tmp_path)) == (["old"], ["ana"])


# --------------------------------------------------------------------------- what killed processes leave


def test_leftovers_of_dead_processes_are_cleared(tmp_path, dead_pid):
    target = make_folder(tmp_path / "ana", old="1")
    make_folder(tmp_path / f".ana.refprep-{dead_pid}-0a1b2c3d", half="x")
    (tmp_path / f".ana.refprep-{dead_pid}-ffffffff").write_text("half a file")
    with replace_folder(target) as fresh:
        (fresh / "new").write_text("2")
    assert (names(target), names(tmp_path)) == (["new"], ["ana"])


def test_leftovers_of_live_processes_are_theirs(tmp_path, live_pid):
    target = make_folder(tmp_path / "ana", old="1")
    left = make_folder(tmp_path / f".ana.refprep-{live_pid}-0a1b2c3d", half="x")
    recover(target)
    with replace_folder(target) as fresh:
        (fresh / "new").write_text("2")
    assert names(left) == ["half"]
    assert names(tmp_path) == [left.name, "ana"]


def test_an_old_folder_that_was_renamed_away_comes_back(tmp_path, dead_pid):
    make_folder(tmp_path / f".ana.refprep-{dead_pid}-0a1b2c3d", half="x")
    make_folder(tmp_path / f".ana.refprep-{dead_pid}-0a1b2c3d-old", old="1")
    recover(tmp_path / "ana")
    assert (names(tmp_path / "ana"), names(tmp_path)) == (["old"], ["ana"])


def test_an_old_folder_is_cleared_where_the_new_one_is_in_place(tmp_path, dead_pid):
    make_folder(tmp_path / f".ana.refprep-{dead_pid}-0a1b2c3d-old", old="1")
    make_folder(tmp_path / "ana", new="2")
    recover(tmp_path / "ana")
    assert (names(tmp_path / "ana"), names(tmp_path)) == (["new"], ["ana"])


@pytest.mark.parametrize("name", ["ana", "a*", "a[n]a", "a?a", "ana.refprep-1-x"])
def test_only_the_targets_own_leftovers_are_touched(tmp_path, dead_pid, name):
    own = make_folder(tmp_path / f".{name}.refprep-{dead_pid}-0a1b2c3d")
    others = [
        make_folder(tmp_path / f".{other}.refprep-{dead_pid}-0a1b2c3d")
        for other in ("anab", "b.ana", "aXa", "axyz")
    ]
    recover(tmp_path / name)
    assert not own.exists()
    assert all(o.is_dir() for o in others)


def test_nothing_to_recover(tmp_path):
    recover(tmp_path / "ana")
    assert names(tmp_path) == []
