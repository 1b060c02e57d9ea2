"""Two encodings of one clip, held against each other: the curve over the codebooks, not its mean alone.

name     shape                  meaning
codes    (frames, codebooks)    integers, codebook 0 first
hidden   (frames, width)        float, of the encoder before its quantizer
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.types import CodeMatrix

Hidden = npt.NDArray[np.floating]

WINDOWS = ("early", "middle", "late")
"""Thirds of a clip."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Codes that are the same in both.

    Attributes:
        per_codebook: Share of the frames, by codebook; 1 where there are no frames.
        windows: The same of every third, by name.
        first_difference: Number of the first frame with another code; None where all are equal.
        chance: Share by codebook that frames in any other order would have in common.
        frames: That were compared.
    """

    per_codebook: tuple[float, ...]
    windows: Mapping[str, tuple[float, ...]]
    first_difference: int | None
    chance: tuple[float, ...]
    frames: int

    @property
    def mean(self) -> float:
        """Of all codebooks."""
        return float(np.mean(self.per_codebook))

    @property
    def first(self) -> float:
        """Of codebook 0, which everything after it is built on."""
        return self.per_codebook[0]


def compare_codes(exact: CodeMatrix, other: CodeMatrix) -> Agreement:
    """Compare frame by frame.

    Args:
        exact: (frames, codebooks).
        other: The same shape; of two lengths the shorter counts, and the rest does not agree.

    Raises:
        ValueError: Other codebooks, or none.
    """
    if exact.ndim != 2 or other.ndim != 2 or exact.shape[1] != other.shape[1] or exact.shape[1] == 0:
        raise ValueError(f"codes of {exact.shape} and {other.shape}")
    frames = max(len(exact), len(other))
    same = np.zeros((frames, exact.shape[1]), np.bool_)
    common = min(len(exact), len(other))
    same[:common] = exact[:common] == other[:common]
    differing = np.flatnonzero(~same.all(axis=1))
    return Agreement(
        per_codebook=_shares(same),
        windows={
            n: _shares(part) for n, part in zip(WINDOWS, np.array_split(same, len(WINDOWS)), strict=True)
        },
        first_difference=int(differing[0]) if differing.size else None,
        chance=tuple(_chance(exact[:, k], other[:, k]) for k in range(exact.shape[1])),
        frames=frames,
    )


@dataclass(frozen=True, slots=True)
class Distance:
    """How far states are from the exact ones, as a part of how much those vary over the clip: 1 says nothing is left.

    Attributes:
        whole: Of the clip.
        windows: Of every third, by name.
    """

    whole: float
    windows: Mapping[str, float]

    @property
    def worst(self) -> float:
        """Of the third that is furthest away."""
        return max(self.whole, *self.windows.values())


def compare_hidden(exact: Hidden, other: Hidden) -> Distance:
    """Distances before the quantizer, where rounding is still small.

    Args:
        exact: (frames, width).
        other: The same shape.

    Returns:
        Root of the mean square of the difference over that of ``exact`` around its mean; infinity for what is no number.

    Raises:
        ValueError: Two shapes.
    """
    if exact.shape != other.shape:
        raise ValueError(f"states of {exact.shape} and {other.shape}")
    wide = exact.astype(np.float64)
    apart = np.square(other.astype(np.float64) - wide).mean(axis=1)
    spread = float(np.square(wide - wide.mean(axis=0)).mean()) if len(wide) else 0.0
    parts = zip(WINDOWS, np.array_split(apart, len(WINDOWS)), strict=True)
    return Distance(_relative(apart, spread), {name: _relative(part, spread) for name, part in parts})


def difference_db(exact: npt.NDArray[np.floating], other: npt.NDArray[np.floating]) -> float | None:
    """Level of the difference of two signals below the exact one, in dB: negative is quieter.

    Returns:
        Minus infinity where they are equal; None where the exact one is silent, and nothing can be said.

    Raises:
        ValueError: Two lengths.
    """
    if exact.shape != other.shape:
        raise ValueError(f"signals of {exact.shape} and {other.shape}")
    power = float(np.square(exact, dtype=np.float64).mean()) if exact.size else 0.0
    apart = float(np.square(other.astype(np.float64) - exact).mean()) if exact.size else 0.0
    if apart == 0.0:
        return float("-inf")
    return None if power == 0.0 else float(10.0 * np.log10(apart / power))


def _shares(same: npt.NDArray[np.bool_]) -> tuple[float, ...]:
    if not len(same):
        return tuple(1.0 for _ in range(same.shape[1]))
    return tuple(float(v) for v in same.mean(axis=0))


def _chance(one: npt.NDArray[np.integer], other: npt.NDArray[np.integer]) -> float:
    """Expected agreement of one column with a shuffled other one."""
    if not len(one) or not len(other):
        return 0.0
    size = int(max(one.max(), other.max())) + 1
    shares = (np.bincount(column, minlength=size) / len(column) for column in (one, other))
    return float(np.prod(list(shares), axis=0).sum())


def _relative(squares: npt.NDArray[np.floating], spread: float) -> float:
    if not len(squares):
        return 0.0
    mean = float(squares.mean())
    if not np.isfinite(mean):
        return float("inf")
    if mean == 0.0:
        return 0.0
    return float(np.sqrt(mean / spread)) if spread > 0.0 else float("inf")
