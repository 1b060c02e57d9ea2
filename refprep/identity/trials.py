"""Labelled trials -> a calibration: thresholds at chosen rates of false accepts, and what the length of speech does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.errors import UsageError
from refprep.identity.calibration import Calibration
from refprep.identity.cohort import Cohort
from refprep.identity.error_rates import equal_error_interval, equal_error_rate, threshold_at
from refprep.types import Vector, Voiceprint

Scores = npt.NDArray[np.float64]

FALSE_ACCEPTS = (0.05, 0.01, 0.005, 0.001)
_LENGTH_EDGES_S = (1.3, 2.0, 2.8, 4.0)
_LENGTH_FALSE_ACCEPTS = 0.01  # rare enough to be about impostors that matter, frequent enough to be counted
_MIN_OF_LENGTH = 200  # different pairs: two of them lie above the threshold of a length
_MIN_ACCEPTED = 3  # different pairs above a threshold, or it is a guess
_LONG_S = 2.3
_FLOOR_FALSE_ACCEPTS = 0.01
_WINDOW_MISSES = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Two voiceprints and whether one person made them.

    Attributes:
        one, other: Of one encoder.
        is_same: One person.
        members: Their numbers in the cohort, which does not count them; empty where they are not in it.
    """

    one: Voiceprint
    other: Voiceprint
    is_same: bool
    members: tuple[int, ...] = ()

    @property
    def speech_s(self) -> float:
        """Speech of the shorter side, seconds."""
        return min(self.one.speech_s, self.other.speech_s)


class TrialScorer:
    """Scores of trials that leave their own speakers out of the cohort.

    Args:
        cohort: For AS-norm; None scores cosines.
    """

    def __init__(self, cohort: Cohort | None) -> None:
        self._cohort = cohort
        self._known: dict[tuple[int, tuple[int, ...]], tuple[Scores, Scores]] = {}
        self._kept: list[npt.NDArray[np.float32]] = []  # ids are of objects that stay alive

    def score(self, one: Vector, other: Vector, members: tuple[int, ...] = ()) -> float:
        """Score of two vectors, not corrected for their length."""
        cosine = float(one.astype(np.float64) @ other.astype(np.float64))
        if self._cohort is None:
            return cosine
        sides = [self._statistics(v, members) for v in (one, other)]
        return sum((cosine - float(mean[0])) / float(std[0]) for mean, std in sides) / 2

    def _statistics(self, vector: Vector, members: tuple[int, ...]) -> tuple[Scores, Scores]:
        key = (id(vector), members)
        if key not in self._known and self._cohort is not None:
            self._kept.append(vector)
            self._known[key] = self._cohort.statistics(vector.astype(np.float64)[None], without=members)
        return self._known[key]


def calibrate(
    trials: Sequence[Trial],
    *,
    model: str,
    probe: Vector,
    cohort: Cohort | None,
    false_accepts: float,
    source: str,
) -> Calibration:
    """Measure an encoder.

    Args:
        trials: Labelled pairs.
        model: Name of the encoder.
        probe: Its vector for the test signal.
        cohort: For AS-norm; None calibrates plain cosines.
        false_accepts: Share of different pairs that the threshold may accept.
        source: What the trials are from, for people.

    Raises:
        UsageError: Too few pairs to say anything, or to say it at that share.
    """
    scorer = TrialScorer(cohort)
    scores = np.array([scorer.score(t.one.vector, t.other.vector, t.members) for t in trials])
    is_same = np.array([t.is_same for t in trials], dtype=bool)
    speech_s = np.array([t.speech_s for t in trials])
    if not is_same.any() or is_same.all():
        raise UsageError(
            f"{int(is_same.sum())} pairs of one person and {int((~is_same).sum())} of two",
            where="calibrate",
            fix="Both kinds are needed.",
        )
    lengths = _fit_lengths(scores[~is_same], speech_s[~is_same])
    unit = Calibration(model, probe, cohort, 0.0, None, lengths=lengths)
    scores = scores - unit.length_offset(speech_s)
    same, different = [float(s) for s in scores[is_same]], [float(s) for s in scores[~is_same]]
    rates = sorted({*FALSE_ACCEPTS, false_accepts}, reverse=True)
    thresholds = {
        r: round(threshold_at(different, r), 4) for r in rates if int(r * len(different)) >= _MIN_ACCEPTED
    }
    if false_accepts not in thresholds:
        raise UsageError(
            f"{len(different)} pairs of different people are too few for a share of {false_accepts:g}",
            where="--false-accepts",
            fix=f"Give {round(_MIN_ACCEPTED / false_accepts)} pairs at least, or accept {_MIN_ACCEPTED / len(different):.2g}.",
        )
    threshold = thresholds[false_accepts]
    rate, _ = equal_error_rate(same, different)
    low, high = equal_error_interval(same, different)
    return Calibration(
        model=model,
        probe=probe,
        cohort=cohort,
        threshold=threshold,
        window_threshold=_fit_windows(trials, scorer),
        thresholds=thresholds,
        cosine_floor=_fit_floor(trials) if cohort is not None else None,
        lengths=lengths,
        figures={
            "same": len(same),
            "different": len(different),
            "false_accepts": false_accepts,
            "eer": round(rate, 4),
            "eer_low": round(low, 4),
            "eer_high": round(high, 4),
            "misses_at_threshold": round(float(np.mean(np.asarray(same) < threshold)), 4),
            "members": len(cohort.names) if cohort is not None else 0,
        },
        source=source,
    )


def _fit_floor(trials: Sequence[Trial]) -> float | None:
    """Plain cosine that 1 % of the different pairs of more than a short clip reach; None where there are too few."""
    cosines = [
        float(t.one.vector.astype(np.float64) @ t.other.vector)
        for t in trials
        if not t.is_same and t.speech_s >= _LONG_S
    ]
    return round(threshold_at(cosines, _FLOOR_FALSE_ACCEPTS), 4) if len(cosines) >= _MIN_OF_LENGTH else None


def _fit_lengths(scores: Scores, speech_s: Scores) -> tuple[tuple[float, float], ...]:
    """(seconds of the shorter side, how much higher its threshold is than that of the longest) from different pairs."""
    bucket = np.digitize(speech_s, _LENGTH_EDGES_S)
    points = []
    for number in range(len(_LENGTH_EDGES_S) + 1):
        inside = bucket == number
        if int(inside.sum()) >= _MIN_OF_LENGTH:
            limit = threshold_at([float(s) for s in scores[inside]], _LENGTH_FALSE_ACCEPTS)
            points.append((float(np.median(speech_s[inside])), limit))
    if len(points) < 2:
        return ()
    return tuple((round(s, 3), round(limit - points[-1][1], 4)) for s, limit in points)


def _fit_windows(trials: Sequence[Trial], scorer: TrialScorer) -> float | None:
    """Score that 1 % of the windows of one person's clips fall below, against the person's other clip."""
    found = [
        scorer.score(window, t.other.vector, t.members)
        for t in trials
        if t.is_same and t.speech_s >= _LONG_S
        for window in t.one.window_vectors
    ]
    return round(float(np.quantile(found, _WINDOW_MISSES)), 4) if len(found) >= 1 / _WINDOW_MISSES else None
