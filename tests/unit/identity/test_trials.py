"""Calibration from trials whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from fakes import unit

from refprep.errors import UsageError
from refprep.identity.trials import Trial, calibrate
from refprep.types import Span, Voiceprint

PROBE = unit([1.0, 0.0])


def at(cosine: float) -> list[float]:
    return [cosine, float(np.sqrt(1 - cosine**2))]


def trial(cosine: float, *, is_same: bool, speech_s: float = 5.0, windows: int = 4) -> Trial:
    one = unit(at(cosine))
    spans = tuple(Span(float(k), k + 1.0) for k in range(windows))
    return Trial(
        Voiceprint("a", "fake", one, np.stack([one] * windows), spans, speech_s),
        Voiceprint("b", "fake", unit([1.0, 0.0]), unit([1.0, 0.0])[None], spans[:1], speech_s + 1.0),
        is_same,
    )


def measure(trials, *, false_accepts: float = 0.01):
    return calibrate(
        trials, model="fake", probe=PROBE, cohort=None, false_accepts=false_accepts, source="made"
    )


def test_thresholds_are_quantiles_of_the_different_pairs():
    same = [trial(0.9, is_same=True) for _ in range(50)]
    different = [trial(k / 1000, is_same=False) for k in range(700)]
    found = measure([*same, *different])
    assert found.threshold == pytest.approx(0.692, abs=1e-3)
    assert found.thresholds[0.05] == pytest.approx(0.664, abs=1e-3)
    assert 0.001 not in found.thresholds  # 0.7 of a pair is no measurement
    assert found.window_threshold == pytest.approx(0.9, abs=1e-3)
    assert (found.figures["eer"], found.figures["misses_at_threshold"]) == (0.0, 0.0)
    assert (found.figures["same"], found.figures["different"]) == (50, 700)
    assert found.lengths == ()  # one length only


def test_the_length_moves_the_threshold():
    same = [trial(0.95, is_same=True) for _ in range(10)]
    long = [trial(k / 1000, is_same=False) for k in range(400)]
    short = [trial(0.2 + k / 1000, is_same=False, speech_s=1.0) for k in range(400)]
    found = measure([*same, *long, *short])
    assert found.lengths == ((1.0, pytest.approx(0.2, abs=2e-3)), (5.0, 0.0))
    assert found.threshold == pytest.approx(0.395, abs=3e-3)  # of both lengths alike


@pytest.mark.parametrize("is_same", [True, False])
def test_both_kinds_are_needed(is_same):
    with pytest.raises(UsageError, match="Both kinds are needed"):
        measure([trial(0.5, is_same=is_same)] * 20)


def test_too_few_pairs_for_a_rare_share():
    trials = [trial(0.9, is_same=True), *(trial(k / 200, is_same=False) for k in range(100))]
    with pytest.raises(UsageError, match="100 pairs of different people are too few") as error:
        measure(trials, false_accepts=0.001)
    assert "3000" in error.value.fix
