"""Voiceprints -> scores: how sure it is that one person speaks, on the scale of one encoder's calibration.

Two scales exist, never compared: ``cosine``, where nothing but the encoder is known, and ``as-norm``, where there is a
cohort: standard deviations above the strangers most alike. A score says less the shorter the clip is; the calibration
knows by how much the threshold moves with the speech of the shorter side, and the score is moved instead, so that one
threshold holds for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refprep.errors import UsageError
from refprep.identity.calibration import Calibration
from refprep.protocols import SpeakerEncoder
from refprep.types import Clip, Matrix, Span, Voiceprint

_MARGIN_COSINE = 0.05  # cosines of one voice vary by about that much between sentences of 3 s and more
_MARGIN_NORMED = 1.0  # one standard deviation of the cohort: about as much


@dataclass(frozen=True, slots=True, eq=False)
class Verifier:
    """A speaker encoder and what is known about its scores.

    Attributes:
        encoder: Turns speech into vectors.
        calibration: Cohort, thresholds, influence of the length; None scores plain cosines.
        threshold: Lowest score of a pair of one voice; None where nobody measured it.
    """

    encoder: SpeakerEncoder
    calibration: Calibration | None = None
    own_threshold: float | None = None

    @property
    def model(self) -> str:
        """Name of the encoder."""
        return self.encoder.name

    @property
    def scale(self) -> str:
        """``cosine`` or ``as-norm``."""
        return "as-norm" if self.calibration is not None and self.calibration.cohort is not None else "cosine"

    @property
    def threshold(self) -> float:
        """Lowest score of a pair of one voice: the caller's, the calibration's, or the encoder's.

        Raises:
            UsageError: Nobody measured one.
        """
        if self.own_threshold is not None:
            return self.own_threshold
        if self.calibration is not None:
            return self.calibration.threshold
        if self.encoder.default_threshold is None:
            raise UsageError(
                f"nobody measured a threshold for {self.model}",
                where="--threshold",
                fix="Calibrate it with `refprep calibrate PAIRS.csv`, or give a threshold of your own.",
            )
        return self.encoder.default_threshold

    @property
    def window_threshold(self) -> float | None:
        """Lowest score of a window to its voice's mean direction; None where nobody measured it."""
        if self.calibration is not None:
            return self.calibration.window_threshold
        return self.encoder.window_threshold

    @property
    def min_margin(self) -> float:
        """Least distance between a clip's score to its own voice and to the nearest control."""
        return _MARGIN_COSINE if self.scale == "cosine" else _MARGIN_NORMED

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """See ``refprep.protocols.SpeakerEncoder``."""
        return self.encoder.embed(clip, speech)

    def compare(self, a: Matrix, b: Matrix, *, speech_s: Matrix | None = None) -> Matrix:
        """Scores of all pairs of two sets of vectors.

        Args:
            a: (M, D), unit norm.
            b: (N, D), unit norm.
            speech_s: (M, N) seconds of speech behind the shorter side of each pair; None does not correct for it.

        Returns:
            (M, N) float64.
        """
        cosines = np.clip(a.astype(np.float64) @ b.T.astype(np.float64), -1.0, 1.0)
        if self.calibration is None:
            return cosines
        scores: Matrix = cosines
        if self.calibration.cohort is not None:
            mean_a, std_a = self.calibration.cohort.statistics(a)
            mean_b, std_b = self.calibration.cohort.statistics(b)
            scores = (
                (cosines - mean_a[:, None]) / std_a[:, None] + (cosines - mean_b[None, :]) / std_b[None, :]
            ) / 2
        if speech_s is not None:
            scores = scores - self.calibration.length_offset(speech_s)
        return scores

    def matrix(self, prints: Sequence[Voiceprint]) -> Matrix:
        """Scores of all pairs, on whichever scale says less.

        A voice unlike everybody in the cohort makes scores that are too high. So the plain cosine is asked, too: counted
        from its floor in the cohort's typical standard deviations, put at the threshold.

        Args:
            prints: n voiceprints of this encoder.

        Returns:
            (n, n) float64, symmetric; the diagonal is that of a clip with itself.

        Raises:
            UsageError: Voiceprints of another encoder: their scores mean nothing here.
        """
        require_one_model(prints, self.model)
        if not prints:
            return np.zeros((0, 0))
        vectors = np.stack([p.vector for p in prints]).astype(np.float64)
        speech_s = np.array([p.speech_s for p in prints])
        scores = self.compare(vectors, vectors, speech_s=np.minimum.outer(speech_s, speech_s))
        found = self.calibration
        if found is not None and found.cohort is not None and found.cosine_floor is not None:
            cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
            plain = self.threshold + (cosines - found.cosine_floor) / found.cohort.typical_std
            scores = np.minimum(scores, plain)
        return (scores + scores.T) / 2

    def score(self, one: Voiceprint, other: Voiceprint) -> float:
        """Score of a pair on the verifier's own scale alone.

        Raises:
            UsageError: Voiceprints of another encoder.
        """
        require_one_model([one, other], self.model)
        speech_s = np.array([[min(one.speech_s, other.speech_s)]])
        pair = (p.vector.astype(np.float64)[None] for p in (one, other))
        return float(self.compare(*pair, speech_s=speech_s)[0, 0])


def require_one_model(prints: Sequence[Voiceprint], model: str) -> None:
    """Refuse voiceprints of another encoder.

    Raises:
        UsageError: There is one.
    """
    others = sorted({p.model for p in prints} - {model})
    if others:
        raise UsageError(
            f"voiceprints of {' and '.join(sorted({model, *others}))} cannot be compared",
            where="identity",
            fix="Embed all clips with one encoder.",
        )
