"""Clipping: flat tops at the extreme of the clip, wherever a later gain has put it.

A converter or an editor that runs out of range repeats its largest value. We count the samples of such runs, three
and more equal samples at the clip's own maximum or minimum: the rule of Audacity's "Find Clipping" (start
threshold 3), but relative to the clip, so that clipping which was attenuated afterwards is found too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from refprep.types import Samples

_MIN_RUN_SAMPLES = 3
# Below this the steps of 16 bits are coarse beside the wave and its own crest makes flat runs: -42 dBFS, 256 steps.
_MIN_EXTREME = 2.0**-7
# A rounded wave is flat at its crest as well, once; a clipped one is flat again and again.
_MIN_RUNS = 2


def clipped_ratio(samples: Samples) -> float:
    """Share of samples in flat tops at the extremes, or beyond full scale (as decoders of MP3 can give); 0 to 1.

    Args:
        samples: (T,) float32 mono.
    """
    if samples.size == 0:
        return 0.0
    clipped = np.abs(samples) > 1.0
    for extreme in (samples.max(), samples.min()):
        if abs(extreme) >= _MIN_EXTREME:
            clipped |= _in_runs(samples == extreme)
    return float(np.count_nonzero(clipped)) / samples.size


def _in_runs(is_extreme: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Mark the runs that are long enough, if there are several."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_extreme, [False])).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    is_long = ends - starts >= _MIN_RUN_SAMPLES
    if np.count_nonzero(is_long) < _MIN_RUNS:
        return np.zeros_like(is_extreme)
    steps = np.zeros(is_extreme.size + 1, dtype=np.int8)
    steps[starts[is_long]], steps[ends[is_long]] = 1, -1
    return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)
