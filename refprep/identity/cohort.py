"""A cohort: many other people, to tell how alike strangers are to a clip.

Adaptive symmetric score normalisation (AS-norm): each side of a pair is held against the cohort; the cosine is counted
in standard deviations above the mean of the members most like it, and the two sides are averaged. A voice that is like
everybody's has to be more alike than one that is like nobody's.
Source: Matejka et al. 2017, "Analysis of score normalization in multilingual speaker recognition".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from refprep.errors import UsageError
from refprep.types import Matrix, Vector

MIN_MEMBERS = 10
TOP_MEMBERS = 30
"""Members most like a clip. On the pack's pairs (GE2E) 20, 30 and all 67 differ by less than one pair."""
SAME_RECORDING_COSINE = 0.99
"""Two members as alike are one recording under two names (measured: 0.998; the next pair: 0.860)."""
_MIN_STD = 1e-3


@dataclass(frozen=True, eq=False)
class Cohort:
    """People of whom one clip each is known.

    Attributes:
        model: Name of the encoder.
        names: Of the members.
        vectors: (N, D) float32, unit norm.
    """

    model: str
    names: tuple[str, ...]
    vectors: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.vectors) or len(self.names) < MIN_MEMBERS:
            raise UsageError(
                f"a cohort of {len(self.vectors)} people is too small",
                where="cohort",
                fix=f"Give one clip each of {MIN_MEMBERS} people at least; {TOP_MEMBERS} and more are better.",
            )

    @cached_property
    def closest_members(self) -> float:
        """Highest cosine between two members: who is more like a member than this is that member."""
        cosines = self.vectors.astype(np.float64) @ self.vectors.T
        np.fill_diagonal(cosines, -1.0)
        return float(cosines.max())

    @cached_property
    def typical_std(self) -> float:
        """Standard deviation of the cosines to the members most alike, on average over the members themselves."""
        return float(self.statistics(self.vectors.astype(np.float64))[1].mean())

    def statistics(self, vectors: Matrix, *, without: tuple[int, ...] = ()) -> tuple[Matrix, Matrix]:
        """Mean and standard deviation of the cosines to the members most like each vector.

        Members that must be the vector's own speaker (more alike than any two members are) do not count.

        Args:
            vectors: (M, D), unit norm.
            without: Members to leave out.

        Returns:
            Two arrays (M,).
        """
        cosines = vectors.astype(np.float64) @ self.vectors.T.astype(np.float64)
        cosines[:, list(without)] = -np.inf
        cosines[cosines > self.closest_members] = -np.inf
        top = -np.sort(-cosines, axis=1)[:, :TOP_MEMBERS]
        counted = np.isfinite(top)
        number = np.maximum(counted.sum(axis=1), 1)
        mean = np.where(counted, top, 0.0).sum(axis=1) / number
        spread = np.where(counted, top - mean[:, None], 0.0)
        return mean, np.maximum(np.sqrt((spread**2).sum(axis=1) / number), _MIN_STD)


def make_cohort(model: str, members: dict[str, Vector]) -> Cohort:
    """A cohort of voiceprints by name; what is one recording under two names is taken once.

    Raises:
        UsageError: Fewer than ``MIN_MEMBERS`` people.
    """
    kept: list[str] = []
    for name, vector in members.items():
        if all(float(vector @ members[k]) < SAME_RECORDING_COSINE for k in kept):
            kept.append(name)
    rows = [members[k] for k in kept]
    return Cohort(model, tuple(kept), np.stack(rows) if rows else np.zeros((0, 0), np.float32))
