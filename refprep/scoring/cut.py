"""Where to cut between two words: in the pause, else at the quietest moment."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from refprep.types import Clip, Span
from refprep.units import seconds_to_samples

_FRAME_S = 0.02
_HOP_S = 0.005
_SOUND_S = 0.03  # less sound within a pause is the end of a fading consonant, or a click


def find_cut(clip: Clip, edged: Sequence[Span], around: Span, *, near_s: float) -> float:
    """A moment between two words.

    Args:
        clip: The audio.
        edged: Its speech, cut at pauses of 80 ms and more (``refprep.pipeline.edges.speech_edges``).
        around: Where the moment must lie.
        near_s: Where it is expected.

    Returns:
        The middle of the pause that is nearest to ``near_s``; where there is none, the quietest 20 ms, those near to
        ``near_s`` first.
    """
    sounds = [s for s in edged if s.duration_s >= _SOUND_S]
    pauses = [
        Span(a.end_s, b.start_s)
        for a, b in pairwise(sounds)
        if a.end_s < around.end_s and b.start_s > around.start_s
    ]
    if pauses:
        best = min(pauses, key=lambda p: max(p.start_s - near_s, near_s - p.end_s, 0.0) - 0.5 * p.duration_s)
        return (best.start_s + best.end_s) / 2
    return _quietest(clip, around, near_s)


def _quietest(clip: Clip, around: Span, near_s: float) -> float:
    rate_hz = clip.sample_rate_hz
    size, hop = seconds_to_samples(_FRAME_S, rate_hz), seconds_to_samples(_HOP_S, rate_hz)
    first = max(0, seconds_to_samples(around.start_s, rate_hz) - size // 2)
    last = min(clip.num_samples, seconds_to_samples(around.end_s, rate_hz) + size // 2)
    starts = np.arange(first, max(first + 1, last - size), hop)
    energies = np.array([np.mean(np.square(clip.samples[s : s + size], dtype=np.float64)) for s in starts])
    centres_s = (starts + size / 2) / rate_hz
    # 1 dB for every 10 ms away: a closure inside a word is no better than the boundary beside it.
    cost = 10.0 * np.log10(energies + 1e-12) + 100.0 * np.abs(centres_s - near_s)
    return float(centres_s[int(np.argmin(cost))])
