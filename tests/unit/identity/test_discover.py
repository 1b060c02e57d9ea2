"""Unlabelled clips: who belongs together, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.identity.discover import discover_speakers


def scores_of(labels, *, same: float = 5.0, other: float = 0.0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = np.asarray(labels)
    noise = rng.uniform(-0.3, 0.3, (len(labels), len(labels)))
    scores = np.where(labels[:, None] == labels[None, :], same, other) + (noise + noise.T) / 2
    np.fill_diagonal(scores, 20.0)
    return scores


@given(st.lists(st.integers(0, 4), min_size=1, max_size=25), st.integers(0, 99))
def test_clear_speakers_are_found(labels, seed):
    places = discover_speakers(scores_of(labels, seed=seed), [3.0] * len(labels), threshold=3.0, margin=1.0)
    assert all(p.is_sure for p in places)
    pairs = {(a, p.speaker) for a, p in zip(labels, places, strict=True)}
    assert len(pairs) == len(set(labels)) == len({p.speaker for p in places})
    counts = [labels.count(a) for a, _ in sorted(pairs, key=lambda pair: pair[1])]
    assert counts == sorted(counts, reverse=True)  # 1 has most speech
    for place in places:
        if place.silhouette is not None:
            assert 0.5 < place.silhouette <= 1.0


def test_a_clip_between_two_speakers_is_not_sure():
    scores = scores_of([0, 0, 0, 1, 1])
    scores[2, 3:] = scores[3:, 2] = 4.5
    places = discover_speakers(scores, [3.0] * 5, threshold=3.0, margin=1.0)
    assert [p.is_sure for p in places] == [True, True, False, True, True]
    assert places[2].silhouette < places[0].silhouette


def test_one_clip_alone():
    (place,) = discover_speakers(np.ones((1, 1)), [2.0], threshold=3.0, margin=1.0)
    assert (place.speaker, place.own_score, place.other_score, place.silhouette, place.is_sure) == (
        1, None, None, None, True,
    )  # fmt: skip


def test_nobody_is_alike():
    places = discover_speakers(scores_of([0, 1, 2]), [1.0, 3.0, 2.0], threshold=3.0, margin=1.0)
    assert [p.speaker for p in places] == [3, 1, 2]
    assert all(p.own_score is None for p in places)
    assert places[0].other_score == pytest.approx(0.0, abs=0.5)
