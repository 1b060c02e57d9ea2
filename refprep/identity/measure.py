"""One clip against the target voice and the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from refprep.identity.verifier import Verifier
from refprep.types import Identity, Matrix, Span, Voiceprint


def centroid(prints: Sequence[Voiceprint]) -> Matrix | None:
    """Mean direction of voiceprints, weighted by their speech; None without any."""
    if not prints:
        return None
    total = np.sum([p.vector.astype(np.float64) * p.speech_s for p in prints], axis=0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm > 0.0 else None


def measure_identity(
    index: int,
    prints: Sequence[Voiceprint],
    scores: Matrix,
    target: Sequence[int],
    controls: Mapping[str, Voiceprint],
    verifier: Verifier,
) -> Identity:
    """Measure one clip against the target voice and the controls.

    Args:
        index: Of the clip among ``prints``; it may belong to the target or not.
        prints: All n clips.
        scores: (n, n) their pair scores.
        target: Indices of the target voice.
        controls: Name -> voiceprint of people it must not be.
        verifier: Of the encoder.

    Returns:
        Scores against the target's other clips (the clip itself is left out), against their mean direction, of its
        windows against that mean, and against every control.
    """
    own = prints[index]
    others = [i for i in target if i != index]
    pairs = [float(scores[index, i]) for i in others]
    mean = centroid([prints[i] for i in others])
    worst_score: float | None = None
    worst: Span | None = None
    centroid_score: float | None = None
    if mean is not None:
        speech_s = np.array([[min(own.speech_s, sum(prints[i].speech_s for i in others))]])
        centroid_score = float(verifier.compare(_rows(own.vector), mean[None], speech_s=speech_s)[0, 0])
        worst_score, worst = worst_window(own, mean, verifier)
    return Identity(
        clip_id=own.clip_id,
        model=own.model,
        scale=verifier.scale,
        min_pairwise_score=min(pairs) if pairs else None,
        mean_pairwise_score=sum(pairs) / len(pairs) if pairs else None,
        centroid_score=centroid_score,
        min_window_score=worst_score,
        worst_window=worst,
        control_scores={name: verifier.score(own, c) for name, c in controls.items()},
    )


def worst_window(print_: Voiceprint, mean: Matrix, verifier: Verifier) -> tuple[float | None, Span | None]:
    """The window least like a mean direction, and its score; None and None without windows."""
    if not print_.windows:
        return None, None
    scores = verifier.compare(print_.window_vectors.astype(np.float64), mean[None])[:, 0]
    at = int(np.argmin(scores))
    return float(scores[at]), print_.windows[at]


def _rows(vector: npt.NDArray[np.float32]) -> Matrix:
    return vector.astype(np.float64)[None]
