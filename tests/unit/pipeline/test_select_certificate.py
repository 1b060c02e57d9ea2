"""What a selection says of its own proof, with time and without."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from select_kit import WINDOW, pool_of, square

from refprep.bench.select import make_pool
from refprep.errors import BackendError
from refprep.pipeline import select, select_program
from refprep.pipeline.select import LengthWindow, select_clips
from refprep.pipeline.select_instance import Objective
from refprep.pipeline.select_program import Answer, clique_cover, solve


def test_the_proof_says_what_was_proven():
    found = select_clips(pool_of([6.0] * 4, square(4, 0.9)), window=WINDOW, threshold=0.7)
    for part in ("Proven optimal over 4 candidates", "HiGHS", "12-30 s", "0.900", f"{found.total_s:.2f} s"):
        assert part in found.proof


def test_the_steps_are_plain_values():
    found = select_clips(pool_of([6.0] * 4, square(4, 0.9)), window=WINDOW, threshold=0.7)
    assert [dataclasses.asdict(s) for s in found.steps] == [
        {
            "objective": "lowest_pair_score", "measured": 0.9, "unit": "score", "resolution": 0.01,
            "bound": 0.91, "is_optimal": True,
        },
        {
            "objective": "closeness", "measured": 0.28, "unit": "s", "resolution": 0.25,
            "bound": 0.25, "is_optimal": True,
        },
        {
            "objective": "quality", "measured": 0.0, "unit": "point-seconds", "resolution": 10.0,
            "bound": 0.0, "is_optimal": True,
        },
        {
            "objective": "variety", "measured": 0.0, "unit": "n-grams", "resolution": 10.0,
            "bound": 1.0, "is_optimal": True,
        },
    ]  # fmt: skip
    assert [s.gap for s in found.steps] == [0.01, 0.03, 0.0, 1.0]


def test_two_runs_choose_the_same():
    pool = make_pool("equal_scores", 24, np.random.default_rng(5))
    one, other = (select_clips(pool, window=WINDOW, threshold=0.7) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("kind", ["equal_scores", "random_scores"])
def test_a_limit_that_ends_the_search_is_told(kind):
    """The set is admissible, and the certificate claims no more than was proven."""
    window = LengthWindow(12.0, 30.0, 30.0, 0.12, 0.16)
    pool = make_pool(kind, 100, np.random.default_rng(7))
    best = select_clips(pool, window=window, threshold=0.7)
    assert best.is_optimal
    outcomes = []
    for time_limit_s in (0.02, 0.05, 0.1, 0.2):
        try:
            found = select_clips(pool, window=window, threshold=0.7, time_limit_s=time_limit_s)
        except BackendError:  # not even a first set; there is a test of its own for that
            outcomes.append(False)
            continue
        outcomes.append(found.is_optimal)
        assert found.is_optimal == all(s.is_optimal for s in found.steps)
        assert found.proof.startswith("Proven" if found.is_optimal else "Not proven optimal: the time limit")
        assert window.min_s <= found.total_s <= window.max_s
        assert found.steps[0].measured >= 0.7
        # A bound that is given is one: the true best is not beyond it.
        score, true_score = found.steps[0], best.steps[0]
        assert score.bound is None or true_score.measured < score.bound
        if score.is_optimal:
            assert found.steps[1].bound is None or best.steps[1].measured >= found.steps[1].bound
    assert not all(outcomes)


def ended(monkeypatch, objective: Objective, bound: int | None):
    """The solver runs out of time on one objective, with nothing found and a bound."""

    def stopped(instance, limits, asked, **options):
        if asked is objective and (asked is not Objective.SCORE or limits.level > 88):
            return Answer(None, bound, is_final=False)
        return solve(instance, limits, asked, **options)

    monkeypatch.setattr(select, "solve", stopped)


def test_an_open_score_names_the_gap(monkeypatch):
    ended(monkeypatch, Objective.SCORE, None)
    scores = square(4, 0.8, p01=0.85, p02=0.93, p12=0.97, p03=0.88)
    found = select_clips(pool_of([6.0] * 4, scores), window=WINDOW, threshold=0.7)
    score = found.steps[0]
    assert (score.is_optimal, score.bound, found.is_optimal) == (False, 0.98, False)
    assert "for lowest pair score" in found.proof
    assert "better are possible" in found.proof


def test_an_open_closeness_keeps_the_set_before_it(monkeypatch):
    ended(monkeypatch, Objective.CLOSENESS, 2)
    pool = pool_of([8.0, 7.0, 9.0, 6.5], square(4, 0.9))
    found = select_clips(pool, window=WINDOW, threshold=0.7)
    closeness = found.steps[1]
    assert not closeness.is_optimal or closeness.measured < 0.75
    assert closeness.bound <= closeness.measured
    assert found.steps[0].is_optimal


@pytest.mark.parametrize(("bound", "told"), [(None, 81.0), (60, 61.0), (200, 81.0)])
def test_an_open_variety_names_the_gap(monkeypatch, bound, told):
    """No set says more than all clips together, whatever the solver knows."""
    ended(monkeypatch, Objective.VARIETY, bound)
    said = [{f"{clip}{k}" for k in range(20)} for clip in "abcd"]
    found = select_clips(pool_of([6.0] * 4, square(4, 0.9), ngrams=said), window=WINDOW, threshold=0.7)
    variety = found.steps[3]
    assert (variety.measured, variety.is_optimal, variety.bound) == (40.0, False, told)
    assert f"variety (40 n-grams found, at most {told - 40:g} better are possible)" in found.proof
    assert "proven is that no admissible set" in found.proof


def test_no_set_within_the_time_is_an_error_and_no_proof(monkeypatch):
    monkeypatch.setattr(select, "solve", lambda *_, **__: Answer(None, None, is_final=False))
    with pytest.raises(BackendError, match="not proven that there is none"):
        select_clips(pool_of([6.0] * 3, square(3, 0.9)), window=WINDOW, threshold=0.7)


def test_a_set_that_the_solver_got_wrong_is_not_taken(monkeypatch):
    """Half a clip rounded up: what HiGHS returns is checked, and asked for again without it."""
    real, wrong = select_program.milp, []

    def careless(cost, **options):
        result = real(cost, **options)
        if not wrong and result.x is not None:
            wrong.append(result.x.copy())
            result.x[:] = 1.0
        return result

    monkeypatch.setattr(select_program, "milp", careless)
    pool = pool_of([6.0, 6.0, 14.0], square(3, 0.9))
    found = select_clips(pool, window=LengthWindow(12.0, 20.0, 12.0, 0.12, 0.16), threshold=0.7)
    assert wrong
    assert found.chosen == (0, 1)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_cliques_cover_every_conflict_and_nothing_else(share):
    rng = np.random.default_rng(int(share * 10))
    conflicts = np.tril(rng.random((30, 30)) < share, -1)
    conflicts |= conflicts.T
    covered = np.zeros_like(conflicts)
    for clique in clique_cover(conflicts):
        assert len(clique) == len(set(clique)) >= 2
        covered[np.ix_(clique, clique)] = True
    np.fill_diagonal(covered, False)
    assert np.array_equal(covered, conflicts)
