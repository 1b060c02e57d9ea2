"""What is timed: instances of every kind, the same ones every time."""

from __future__ import annotations

import numpy as np
import pytest

from refprep.bench import select
from refprep.bench.select import KINDS, THRESHOLD, limit_s, make_pool, measure_selection


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_of_every_kind(kind):
    one, other = (make_pool(kind, 24, np.random.default_rng(1)) for _ in range(2))
    assert one.durations_s == other.durations_s
    assert np.array_equal(one.scores, other.scores)
    assert np.array_equal(one.scores, one.scores.T)
    assert len(one.durations_s) == len(one.deficits) == len(one.ngrams) == 24
    assert all(grams for grams in one.ngrams)
    assert bool(one.duplicates) == (kind == "duplicates")
    outside = one.scores[~np.eye(24, dtype=bool)]
    assert (outside.min() < THRESHOLD) == (kind in ("random_scores", "two_clusters"))


def test_a_kind_that_is_none():
    with pytest.raises(ValueError, match="'odd' is none of realistic"):
        make_pool("odd", 3, np.random.default_rng(1))


def test_made_up_texts_have_about_the_letter_pairs_of_speech():
    """12 s of real English hold 86 to 119 distinct pairs; here sentences of three clips are scaled to 12 s."""
    pool = make_pool("realistic", 50, np.random.default_rng(3))
    counts = []
    for start in range(0, 48, 3):
        grams = set().union(*pool.ngrams[start : start + 3])
        counts.append(len(grams) / sum(pool.durations_s[start : start + 3]) * 12)
    assert 80 < np.median(counts) < 200


@pytest.mark.parametrize(("clips", "limit"), [(1, 1.0), (24, 1.0), (25, 10.0), (200, 10.0), (201, None)])
def test_limits(clips, limit):
    assert limit_s(clips) == limit


def test_a_row_for_every_number_kind_and_target(monkeypatch):
    now = 0.0

    def tick() -> float:
        nonlocal now
        now += 0.25
        return now

    monkeypatch.setattr(select.time, "perf_counter", tick)
    told: list[str] = []
    result = measure_selection([8, 12], rounds=2, seed=4, on_round=told.append)
    rows = result["rows"]
    assert len(rows) == 2 * len(KINDS) * 2
    assert len(told) == 2 * len(rows)
    assert told[0] == "8 realistic 12 s"
    assert {(r["clips"], r["target_s"]) for r in rows} == {(8, 12.0), (8, 30.0), (12, 12.0), (12, 30.0)}
    assert all((r["median_s"], r["worst_s"], r["limit_s"]) == (0.25, 0.25, 1.0) for r in rows)
    assert all(r["proven"] == r["rounds"] == 2 for r in rows)
    assert any(r["found"] == 2 for r in rows)
