"""What a decoder hands over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Block: TypeAlias = npt.NDArray[Any]
"""(T, C) float32, float64 or int32; integers at the full scale of 32 bits."""


@dataclass(frozen=True, slots=True)
class AudioStream:
    """An opened audio stream; its blocks are decoded as they are taken.

    Attributes:
        codec: ``pcm_s16le``, ``flac``, ``vorbis``, ...
        declared_duration_s: By the header; None where it says nothing.
        blocks: In order of time.
    """

    codec: str
    sample_rate_hz: int
    num_channels: int
    declared_duration_s: float | None
    blocks: Iterator[Block]


def to_float32(block: Block) -> tuple[npt.NDArray[np.float32], bool]:
    """Bring a block to float32, full scale at 1.0.

    Returns:
        The block, and whether float32 could not hold every sample of it. A NaN stays NaN, a number beyond the
        range of float32 becomes infinite; both are refused later.
    """
    if block.dtype == np.float32:
        return block, False
    # 2^31 in float64 is exact; float32 keeps 24 significant bits.
    exact = block.astype(np.float64) / 2.0**31 if block.dtype == np.int32 else block
    with np.errstate(over="ignore"):
        narrowed = exact.astype(np.float32)
    return narrowed, bool(np.any((narrowed != exact) & np.isfinite(exact)))
