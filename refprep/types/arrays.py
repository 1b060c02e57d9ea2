"""Arrays that nouns hold."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Samples: TypeAlias = npt.NDArray[np.float32]
"""(T,) float32 mono, full scale at 1.0; decoders that overshoot may exceed it."""

Vector: TypeAlias = npt.NDArray[np.float32]
"""(D,) float32 of unit norm."""

Matrix: TypeAlias = npt.NDArray[np.float64]
"""(n, n) scores of pairs, or (n, D) vectors on their way to scores; float64."""


def freeze(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The same float32 data, contiguous and read-only."""
    frozen = np.ascontiguousarray(array, dtype=np.float32)
    if frozen is array and array.flags.writeable:
        frozen = array.view()
    frozen.flags.writeable = False
    return frozen
