"""Scores of unlabelled clips -> the speakers among them, and how sure that is.

Average linkage parts the clips; how sure a clip's place is, its silhouette says: its mean score with the rest of its own
speaker less that with the nearest other one, over the larger of the two distances to the best score there is. A clip is
sure where it reaches the threshold with its own speaker, and every other one lies a margin below that.
Source of the silhouette: Rousseeuw 1987, "Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refprep.identity.groups import link_voices
from refprep.types import Matrix


@dataclass(frozen=True, slots=True)
class Place:
    """Where one clip belongs.

    Attributes:
        speaker: Number of its speaker, 1 has most speech.
        own_score: Mean score with the speaker's other clips; None for a lone clip.
        other_score: Highest mean score with another speaker's clips; None where there is no other.
        silhouette: -1 to 1, above 0 where it is nearer to its own; None for a lone clip or a lone speaker.
        is_sure: Its own speaker's score reaches the threshold and every other's stays a margin below that score; of a lone
            clip, a margin below the threshold.
    """

    speaker: int
    own_score: float | None
    other_score: float | None
    silhouette: float | None
    is_sure: bool


def discover_speakers(
    scores: Matrix, speech_s: Sequence[float], *, threshold: float, margin: float
) -> tuple[Place, ...]:
    """Find the speakers among unlabelled clips.

    Args:
        scores: (n, n) symmetric pair scores of one encoder.
        speech_s: Seconds of speech of the n clips.
        threshold: Mean score below which two groups are two people.
        margin: How far below its own speaker's a clip's score with every other speaker has to be.

    Returns:
        n places, in the order of the clips.
    """
    labels = link_voices(scores, threshold=threshold)
    total_s = {g: sum(s for s, m in zip(speech_s, labels, strict=True) if m == g) for g in set(labels)}
    order = sorted(total_s, key=lambda g: (-total_s[g], labels.index(g)))
    members = {g: [i for i, m in enumerate(labels) if m == g] for g in order}
    best = _best(scores)
    places = []
    for index, label in enumerate(labels):
        own = [scores[index, i] for i in members[label] if i != index]
        own_score = float(np.mean(own)) if own else None
        others = [float(np.mean(scores[index, members[g]])) for g in order if g != label]
        other_score = max(others, default=None)
        places.append(
            Place(
                speaker=order.index(label) + 1,
                own_score=own_score,
                other_score=other_score,
                silhouette=_silhouette(own_score, other_score, best),
                is_sure=_is_sure(own_score, other_score, threshold, margin),
            )
        )
    return tuple(places)


def _is_sure(own: float | None, other: float | None, threshold: float, margin: float) -> bool:
    if own is not None and own < threshold:
        return False
    return other is None or other <= (threshold if own is None else own) - margin


def _best(scores: Matrix) -> float:
    n = len(scores)
    return float(scores[~np.eye(n, dtype=bool)].max()) if n > 1 else 0.0


def _silhouette(own: float | None, other: float | None, best: float) -> float | None:
    if own is None or other is None:
        return None
    near, far = best - own, best - other
    return (far - near) / max(near, far) if max(near, far) > 0.0 else 0.0
