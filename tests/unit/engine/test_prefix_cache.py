"""What a prefix cache keeps, and for how long."""

from __future__ import annotations

from collections import OrderedDict

import torch
from hypothesis import given
from hypothesis import strategies as st

from refprep.engine.kv_cache import KVCache
from refprep.engine.prefix_cache import Prefix, PrefixCache


def prefix(positions, fill=0.0):
    """2 tensors of 16 bytes a position."""
    part = torch.full((1, 1, 2, positions, 2), fill)
    return Prefix(part, part.clone())


UNIT = prefix(1).num_bytes


@given(
    budget=st.integers(0, 6),
    calls=st.lists(st.tuples(st.sampled_from("gp"), st.integers(0, 3), st.integers(1, 4)), max_size=40),
)
def test_it_keeps_what_was_used_last_within_its_budget(budget, calls):
    cache, model = PrefixCache(budget * UNIT), OrderedDict()
    hits = misses = 0
    for kind, name, size in calls:
        key = bytes([name])
        if kind == "g":
            found = cache.get(key)
            assert found is model.get(key)
            hits, misses = hits + (found is not None), misses + (found is None)
            if found is not None:
                model.move_to_end(key)
        elif size <= budget:
            entry = prefix(size)
            cache.put(key, entry)
            model.pop(key, None)
            while sum(e.num_positions for e in model.values()) + size > budget:
                model.popitem(last=False)
            model[key] = entry
        else:
            cache.put(key, prefix(size))
        stats = cache.stats
        assert stats.num_bytes == sum(e.num_bytes for e in model.values()) <= cache.budget_bytes
        assert (stats.entries, stats.hits, stats.misses) == (len(model), hits, misses)
    assert all(cache.get(bytes([name])) is model.get(bytes([name])) for name in range(4))


def test_what_was_used_last_stays():
    cache = PrefixCache(2 * UNIT)
    for key in (b"a", b"b"):
        cache.put(key, prefix(1))
    assert cache.get(b"a") is not None
    cache.put(b"c", prefix(1))
    assert cache.get(b"b") is None
    assert cache.get(b"a") is not None
    assert cache.stats.entries == 2


def test_an_entry_beyond_the_budget_drives_nothing_out():
    cache, small = PrefixCache(4 * UNIT), prefix(3)
    cache.put(b"small", small)
    cache.put(b"large", prefix(5))
    assert cache.get(b"large") is None
    assert cache.get(b"small") is small
    assert cache.stats.entries == 1


def test_a_cleared_cache_is_empty_and_keeps_its_counts():
    cache = PrefixCache(8 * UNIT)
    cache.put(b"a", prefix(3))
    cache.get(b"a")
    cache.clear()
    assert cache.get(b"a") is None
    assert (cache.stats.entries, cache.stats.num_bytes, cache.stats.hits, cache.stats.misses) == (0, 0, 1, 1)


def test_an_entry_is_a_copy_of_its_slots_first_positions():
    keys = torch.randn(2, 3, 4, 10, 8, generator=torch.Generator().manual_seed(0))
    store = KVCache(keys.to(torch.bfloat16), -keys.to(torch.bfloat16))
    before = store.keys.clone()
    entry = Prefix.copied(store.slots(slice(1, 2)), 6)
    assert (entry.num_positions, entry.num_bytes) == (6, 2 * 2 * 4 * 6 * 8 * 2)
    assert entry.keys.dtype is torch.bfloat16
    store.keys.fill_(1)
    assert torch.equal(entry.keys, before[:, 1:2, :, :6])
    entry.write(store.slots(slice(2, 3)))
    assert torch.equal(store.keys[:, 2, :, :6], before[:, 1, :, :6])
    assert (store.keys[:, 2, :, 6:] == 1).all()
    assert (store.keys[:, :2] == 1).all()


def test_a_device_has_a_budget():
    assert PrefixCache.default(torch.device("cuda")).budget_bytes == 2 << 30
    assert PrefixCache.default(torch.device("cpu")).budget_bytes == 256 << 20
