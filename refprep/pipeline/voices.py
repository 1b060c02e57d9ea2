"""Voiceprint -> ClipVoices: does one person speak in the clip? No other clip is needed."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import numpy.typing as npt

from refprep.types import ClipVoices, Span, Voiceprint

MIN_RUN = 2
"""Windows in a row: one alone is a laugh, a shout or a breath. Two of GE2E's span 2.4 s of speech."""
_ROUNDS = 20

# Encoder -> windows in a row (the last number: and more) -> lowest cosine of one voice. Means over more windows scatter
# less. rp306.py has the measurement.
_THRESHOLDS = {"ge2e": {2: 0.72, 3: 0.78, 4: 0.80}}

Vectors = npt.NDArray[np.float64]


def measure_voices(print_: Voiceprint) -> ClipVoices:
    """Part a clip's windows into two groups by direction, and say how far apart they are.

    Two-means on the sphere, begun with the two windows that are least alike. Windows of one voice are parted, too, but
    their groups lie close together.

    Args:
        print_: Of the clip.

    Returns:
        Groups of which one has no ``MIN_RUN`` windows in a row are no parting: the cosine is None then.
    """
    vectors = print_.window_vectors.astype(np.float64)
    labels = _part(vectors) if len(vectors) >= 2 * MIN_RUN else None
    if labels is None:
        return ClipVoices(print_.model, None, 0, None, None)
    runs = {side: _longest_run(labels == side) for side in (False, True)}
    lesser = min(runs, key=lambda side: runs[side][1] - runs[side][0])
    first, stop = runs[lesser]
    run = stop - first
    if run < MIN_RUN:
        return ClipVoices(print_.model, None, run, None, None)
    limits = _THRESHOLDS.get(print_.model)
    return ClipVoices(
        model=print_.model,
        cosine=float(_direction(vectors[labels]) @ _direction(vectors[~labels])),
        run=run,
        span=Span(print_.windows[first].start_s, print_.windows[stop - 1].end_s),
        threshold=limits[min(run, max(limits))] if limits else None,
    )


def _part(vectors: Vectors) -> npt.NDArray[np.bool_] | None:
    """Which of two groups each row belongs to; None where all fall into one."""
    cosines = vectors @ vectors.T
    one, two = (vectors[i] for i in np.unravel_index(np.argmin(cosines), cosines.shape))
    labels = np.zeros(len(vectors), dtype=bool)
    for _ in range(_ROUNDS):
        before, labels = labels, vectors @ two > vectors @ one
        if labels.all() or not labels.any():
            return None
        if np.array_equal(before, labels):
            break
        one, two = _direction(vectors[~labels]), _direction(vectors[labels])
    return labels


def _direction(rows: Vectors) -> Vectors:
    total: Vectors = rows.sum(axis=0)
    unit: Vectors = total / np.linalg.norm(total)
    return unit


def _longest_run(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """First and one past the last index of the longest run of true values; (0, 0) without one."""
    best, at = (0, 0), 0
    for value, group in groupby(flags.tolist()):
        length = len(list(group))
        if value and length > best[1] - best[0]:
            best = (at, at + length)
        at += length
    return best
