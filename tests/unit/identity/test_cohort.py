"""AS-norm against its formula, and who is left out of a cohort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.errors import UsageError
from refprep.identity.cohort import MIN_MEMBERS, TOP_MEMBERS, Cohort, make_cohort


def vectors_of(count: int, dim: int = 8, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, dim))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def cohort_of(count: int = 40, seed: int = 0) -> Cohort:
    return Cohort("fake", tuple(f"p{k}" for k in range(count)), vectors_of(count, seed=seed))


@settings(deadline=None)
@given(seed=st.integers(0, 50), without=st.sets(st.integers(0, 39), max_size=3))
def test_statistics_are_those_of_the_members_most_alike(seed, without):
    cohort = cohort_of()
    (vector,) = vectors_of(1, seed=seed + 1000)
    mean, std = cohort.statistics(vector[None].astype(np.float64), without=tuple(without))
    cosines = [
        float(vector.astype(np.float64) @ member)
        for k, member in enumerate(cohort.vectors)
        if k not in without
    ]
    top = sorted((c for c in cosines if c <= cohort.closest_members), reverse=True)[:TOP_MEMBERS]
    assert mean[0] == pytest.approx(np.mean(top), abs=1e-6)
    assert std[0] == pytest.approx(np.std(top), abs=1e-6)


def test_a_member_does_not_count_against_itself():
    cohort = cohort_of()
    own = cohort.vectors[3].astype(np.float64)[None]
    assert cohort.statistics(own)[0] == pytest.approx(cohort.statistics(own, without=(3,))[0])


def test_a_recording_under_two_names_is_taken_once():
    rows = vectors_of(MIN_MEMBERS)
    members = {f"p{k}": row for k, row in enumerate(rows)}
    again = rows[4] + np.float32(1e-3)
    members["again"] = (again / np.linalg.norm(again)).astype(np.float32)
    assert make_cohort("fake", members).names == tuple(f"p{k}" for k in range(MIN_MEMBERS))


@pytest.mark.parametrize("count", [0, 1, MIN_MEMBERS - 1])
def test_a_handful_of_people_is_no_cohort(count):
    with pytest.raises(UsageError, match=f"a cohort of {count} people is too small"):
        make_cohort("fake", {f"p{k}": row for k, row in enumerate(vectors_of(count))})
