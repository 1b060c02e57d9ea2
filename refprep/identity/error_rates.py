"""Error rates of scores: equal error rate with its interval, thresholds at chosen rates of false accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

_RESAMPLES = 1000
_SEED = 20_240_229


Scores: TypeAlias = "Sequence[float] | npt.NDArray[np.float64]"


def equal_error_rate(same: Scores, different: Scores) -> tuple[float, float]:
    """EER and its threshold: where misses and false accepts are equal, linearly interpolated between scores.

    Raises:
        ValueError: One side has no scores.
    """
    if not len(same) or not len(different):
        raise ValueError("both same and different pairs are needed")
    genuine, impostor = np.sort(np.asarray(same)), np.sort(np.asarray(different))
    thresholds = np.unique(np.concatenate([genuine, impostor, [genuine[-1] + 1e-6, impostor[-1] + 1e-6]]))
    misses = np.searchsorted(genuine, thresholds, side="left") / len(genuine)
    accepts = 1.0 - np.searchsorted(impostor, thresholds, side="left") / len(impostor)
    gap = misses - accepts
    at = int(np.argmax(gap >= 0.0))
    if at == 0 or gap[at] == 0.0:
        return float((misses[at] + accepts[at]) / 2), float(thresholds[at])
    share = -gap[at - 1] / (gap[at] - gap[at - 1])
    rate = misses[at - 1] + share * (misses[at] - misses[at - 1])
    return float(rate), float(thresholds[at - 1] + share * (thresholds[at] - thresholds[at - 1]))


def equal_error_interval(same: Scores, different: Scores, *, confidence: float = 0.95) -> tuple[float, float]:
    """Confidence interval of the EER: percentiles over pairs drawn anew, with replacement, from a fixed seed.

    Pairs that share a clip or a speaker are not independent, so the true interval is wider.
    Source: Efron 1979, "Bootstrap methods: another look at the jackknife".

    Raises:
        ValueError: One side has no scores.
    """
    rng = np.random.default_rng(_SEED)
    genuine, impostor = np.asarray(same), np.asarray(different)
    rates = [
        equal_error_rate(
            genuine[rng.integers(len(genuine), size=len(genuine))],
            impostor[rng.integers(len(impostor), size=len(impostor))],
        )[0]
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(rates, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def threshold_at(different: Sequence[float], false_accepts: float) -> float:
    """Lowest threshold at which at most this share of different pairs is accepted."""
    scores = sorted(different, reverse=True)
    allowed = int(false_accepts * len(scores))
    return float(np.nextafter(scores[allowed], np.inf)) if allowed < len(scores) else float("-inf")
