"""Scores -> who belongs together.

The target voice is the largest group of clips that agree with each other (average linkage), or the group of an anchor
clip; everything else is another voice, until shown otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from refprep.types import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class VoiceGroups:
    """Clips grouped by who speaks.

    Attributes:
        target: Indices of the target voice's clips, ascending.
        others: Index -> number of the group it fell into (1 is the largest of the others).
        rival_share: Speech of the largest other group over that of the target, 0-1.
        rival_clips: Clips of the other group with most clips.
    """

    target: tuple[int, ...]
    others: Mapping[int, int]
    rival_share: float
    rival_clips: int = 0


def link_voices(scores: Matrix, *, threshold: float) -> list[int]:
    """Group number of every clip: average linkage, cut where the mean score of two groups falls below the threshold.

    Args:
        scores: (n, n) symmetric pair scores.
        threshold: Mean score below which two groups are two people.

    Returns:
        n numbers; equal ones are one voice.
    """
    n = len(scores)
    if n < 2:
        return [1] * n
    above = scores[~np.eye(n, dtype=bool)].max()
    distance = above - scores
    np.fill_diagonal(distance, 0.0)
    if above < threshold:
        return list(range(1, n + 1))
    tree = linkage(squareform(distance, checks=False), "average")
    return [int(g) for g in fcluster(tree, above - threshold, "distance")]


def group_voices(
    scores: Matrix, speech_s: Sequence[float], *, threshold: float, anchor: int | None = None
) -> VoiceGroups:
    """Find the clips of the target voice.

    Args:
        scores: (n, n) symmetric pair scores of one encoder.
        speech_s: Seconds of speech of the n clips.
        threshold: Mean score below which two groups are two people.
        anchor: Index of a clip that is known to be the target; None takes the group with most speech.

    Returns:
        The groups; the target is never empty unless there are no clips.
    """
    labels = link_voices(scores, threshold=threshold)
    if not labels:
        return VoiceGroups((), {}, 0.0)
    total_s = {g: sum(s for s, m in zip(speech_s, labels, strict=True) if m == g) for g in set(labels)}
    order = sorted(total_s, key=lambda g: (-total_s[g], labels.index(g)))
    chosen = labels[anchor] if anchor is not None else order[0]
    rivals = [g for g in order if g != chosen]
    return VoiceGroups(
        target=tuple(i for i, g in enumerate(labels) if g == chosen),
        others={i: rivals.index(g) + 1 for i, g in enumerate(labels) if g != chosen},
        rival_share=total_s[rivals[0]] / max(total_s[chosen], 1e-9) if rivals else 0.0,
        rival_clips=max((labels.count(g) for g in rivals), default=0),
    )
