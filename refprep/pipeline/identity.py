"""Voiceprints -> Identity: is it one and the same person?

Cosines are compared within one encoder only. The target voice is the largest group of clips that agree with each other
(average linkage), or the group of an anchor clip; everything else is another voice, until shown otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from refprep.errors import UsageError
from refprep.types import Identity, Span, Voiceprint

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class VoiceGroups:
    """Clips grouped by who speaks.

    Attributes:
        cosines: (n, n) float64, symmetric, ones on the diagonal.
        target: Indices of the target voice's clips, ascending.
        others: Index -> number of the group it fell into (1 is the largest of the others).
        rival_share: Speech of the largest other group over that of the target, 0-1.
    """

    cosines: Matrix
    target: tuple[int, ...]
    others: Mapping[int, int]
    rival_share: float


def cosine_matrix(prints: Sequence[Voiceprint]) -> Matrix:
    """Cosines of all pairs.

    Args:
        prints: n voiceprints of one encoder.

    Returns:
        (n, n) float64.

    Raises:
        UsageError: Voiceprints of two encoders: their cosines mean nothing.
    """
    models = sorted({p.model for p in prints})
    if len(models) > 1:
        raise UsageError(
            f"voiceprints of {' and '.join(models)} cannot be compared",
            where="identity",
            fix="Embed all clips with one encoder.",
        )
    if not prints:
        return np.zeros((0, 0))
    vectors = np.stack([p.vector for p in prints]).astype(np.float64)
    cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
    np.fill_diagonal(cosines, 1.0)
    return (cosines + cosines.T) / 2


def group_voices(prints: Sequence[Voiceprint], *, threshold: float, anchor: int | None = None) -> VoiceGroups:
    """Find the clips of the target voice.

    Args:
        prints: n voiceprints of one encoder.
        threshold: Mean cosine below which two groups are two people.
        anchor: Index of a clip that is known to be the target; None takes the group with most speech.

    Returns:
        The groups; the target is never empty unless there are no clips.
    """
    cosines = cosine_matrix(prints)
    n = len(prints)
    if n == 0:
        return VoiceGroups(cosines, (), {}, 0.0)
    if n == 1:
        return VoiceGroups(cosines, (0,), {}, 0.0)
    distance = np.clip(1.0 - cosines, 0.0, 2.0)
    np.fill_diagonal(distance, 0.0)
    labels = fcluster(linkage(squareform(distance, checks=False), "average"), 1.0 - threshold, "distance")
    speech_s = {
        int(g): sum(p.speech_s for p, m in zip(prints, labels, strict=True) if m == g) for g in set(labels)
    }
    order = sorted(speech_s, key=lambda g: (-speech_s[g], g))
    chosen = int(labels[anchor]) if anchor is not None else order[0]
    rivals = [g for g in order if g != chosen]
    return VoiceGroups(
        cosines=cosines,
        target=tuple(i for i in range(n) if labels[i] == chosen),
        others={i: rivals.index(int(labels[i])) + 1 for i in range(n) if labels[i] != chosen},
        rival_share=speech_s[rivals[0]] / max(speech_s[chosen], 1e-9) if rivals else 0.0,
    )


def centroid(prints: Sequence[Voiceprint]) -> npt.NDArray[np.float64] | None:
    """Mean direction of voiceprints, weighted by their speech; None without any."""
    if not prints:
        return None
    total = np.sum([p.vector.astype(np.float64) * p.speech_s for p in prints], axis=0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm > 0.0 else None


def measure_identity(
    index: int, prints: Sequence[Voiceprint], target: Sequence[int], controls: Mapping[str, Voiceprint]
) -> Identity:
    """Measure one clip against the target voice and the controls.

    Args:
        index: Of the clip among ``prints``; it may belong to the target or not.
        prints: All clips.
        target: Indices of the target voice.
        controls: Name -> voiceprint of people it must not be.

    Returns:
        Cosines to the target's other clips (the clip itself is left out), to their mean direction, of its windows to
        that mean, and to every control.
    """
    own = prints[index]
    others = [prints[i] for i in target if i != index]
    pairs = [float(own.vector.astype(np.float64) @ o.vector) for o in others]
    mean = centroid(others)
    worst_cosine: float | None = None
    worst: Span | None = None
    if mean is not None and len(own.windows):
        window_cosines = own.window_vectors.astype(np.float64) @ mean
        at = int(np.argmin(window_cosines))
        worst_cosine, worst = float(window_cosines[at]), own.windows[at]
    return Identity(
        clip_id=own.clip_id,
        model=own.model,
        min_pairwise_cosine=min(pairs) if pairs else None,
        mean_pairwise_cosine=sum(pairs) / len(pairs) if pairs else None,
        centroid_cosine=float(own.vector.astype(np.float64) @ mean) if mean is not None else None,
        min_window_cosine=worst_cosine,
        worst_window=worst,
        control_cosines={
            name: float(own.vector.astype(np.float64) @ c.vector) for name, c in controls.items()
        },
    )
