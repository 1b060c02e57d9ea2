"""The cache of codes: by content, whole, verified, cleaned; many processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from codes_kit import KEY, codes, entry, flip

from refprep.errors import MachineError
from refprep.pipeline.code_cache import CodeCache
from refprep.pipeline.code_file import pack_entry

DAY_S = 86_400.0


@pytest.fixture
def cache(tmp_path):
    return CodeCache(tmp_path)


def test_what_was_put_is_found_and_nothing_else(cache):
    assert cache.get(KEY) is None
    path = cache.put(entry())
    found = cache.get(KEY)
    assert found is not None
    assert np.array_equal(found.codes, entry().codes)
    assert path == cache.path(KEY)
    for name, value in (("device", "cuda"), ("audio_sha256", "b" * 64), ("encoder_dtype", "bfloat16")):
        assert cache.get(replace(KEY, **{name: value})) is None


def test_the_default_is_below_the_users_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path / "mine"))
    assert CodeCache.default().folder == tmp_path / "mine" / "codes"


@pytest.mark.parametrize("position", [0, 20, -1])
def test_a_damaged_entry_is_never_served(cache, position):
    path = cache.put(entry())
    flip(path, position)
    assert [f.entry for f in cache.files()] == [None]
    assert cache.get(KEY) is None
    assert not path.exists()
    (left,) = cache.files()
    assert left.path.parent.name == "damaged"
    assert "set aside" in left.fault
    cache.put(entry())
    assert cache.get(KEY) is not None


def test_an_entry_under_another_name_is_never_served(cache):
    path = cache.path(KEY)
    path.parent.mkdir(parents=True)
    path.write_bytes(pack_entry(entry(key=replace(KEY, device="cuda"))))
    assert cache.get(KEY) is None


def test_gc_removes_what_nobody_can_use(cache):
    whole = cache.put(entry())
    broken = cache.put(entry(key=replace(KEY, device="cuda")))
    flip(broken, -1)
    left = whole.with_name(f".{whole.name}.refprep-1-abcd")
    left.write_bytes(b"half")
    os.utime(left, (time.time() - 7200,) * 2)
    new = whole.with_name(f".{whole.name}.refprep-2-abcd")
    new.write_bytes(b"half")
    planned = cache.gc(dry_run=True)
    assert {r.path for r in planned} == {broken, left}
    assert broken.exists()
    assert {r.path for r in cache.gc()} == {broken, left}
    assert not broken.exists()
    assert not left.exists()
    assert new.exists()
    assert whole.exists()


def test_gc_by_age_size_and_voices(cache):
    keys = [replace(KEY, audio_sha256=c * 64) for c in "abc"]
    paths = [cache.put(entry(key=key)) for key in keys]
    for days, path in enumerate(paths):
        os.utime(path, (time.time() - days * DAY_S - 10,) * 2)
    assert [r.path for r in cache.gc(unused_s=1.5 * DAY_S, dry_run=True)] == [paths[2]]
    assert {r.path for r in cache.gc(keep_audio={keys[0].audio_sha256}, dry_run=True)} == set(paths[1:])
    size = paths[0].stat().st_size
    assert [r.path for r in cache.gc(max_bytes=2 * size, dry_run=True)] == [paths[2]]
    assert cache.get(keys[2]) is not None  # now it is the one used last
    assert [r.path for r in cache.gc(max_bytes=2 * size)] == [paths[1]]
    assert [f.entry.key for f in cache.files() if f.entry] == [
        k for k in sorted(keys, key=lambda k: cache.path(k)) if k != keys[1]
    ]
    assert cache.gc() == []


def test_an_empty_cache_is_no_error(cache):
    assert list(cache.files()) == []
    assert cache.gc(unused_s=0.0, max_bytes=0, keep_audio=()) == []


def test_a_cache_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "codes").write_text("in the way", encoding="utf-8")
    with pytest.raises(MachineError, match="cannot be written"):
        CodeCache(tmp_path).put(entry())


WRITER = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
from codes_kit import KEY, entry
from refprep.pipeline.code_cache import CodeCache
cache = CodeCache(Path({root!r}))
for _ in range(25):
    cache.put(entry())
    found = cache.get(KEY)
    assert found is not None and (found.codes == entry().codes).all()
"""


def test_many_processes_write_the_same_entry_and_read_it_whole(cache, tmp_path):
    code = WRITER.format(path=sys.path, root=str(tmp_path))
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(4)
    ]
    outputs = [p.communicate(timeout=120)[0].decode() for p in running]
    assert [p.returncode for p in running] == [0, 0, 0, 0], outputs
    (file,) = cache.files()
    assert file.entry is not None
    assert [p.name for p in cache.folder.rglob("*") if p.is_file()] == [cache.path(KEY).name]


def test_two_entries_do_not_share_a_file(cache):
    one, other = entry(), entry(key=replace(KEY, torch_version="9.9"), codes=codes(seed=5))
    cache.put(one)
    cache.put(other)
    assert np.array_equal(cache.get(one.key).codes, one.codes)
    assert np.array_equal(cache.get(other.key).codes, other.codes)
