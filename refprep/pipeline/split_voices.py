"""Voiceprints of a recording's utterances -> who speaks in each, and whether somebody else does, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refprep.identity.discover import discover_speakers
from refprep.identity.verifier import Verifier
from refprep.types import Matrix, Voiceprint

MAX_COMPARED = 2000
"""Utterances that are held against each other; more, and the scores of all pairs alone take hundreds of megabytes."""


@dataclass(frozen=True, slots=True)
class UtteranceVoice:
    """Who speaks in one utterance.

    Attributes:
        voice: Number of the voice; 1 has most speech. None where there is too little speech to tell, or, beyond the
            ``MAX_COMPARED`` longest utterances, where it is like none of their voices.
        score: Mean score with the voice's other utterances, on the verifier's scale; None for a lone one.
        is_sure: The score reaches the threshold, and that with every other voice stays a margin below it.
        is_mixed: A window of it is less like its voice than windows of one person are; None where nothing tells.
    """

    voice: int | None = None
    score: float | None = None
    is_sure: bool = False
    is_mixed: bool | None = None


def find_voices(prints: Sequence[Voiceprint | None], verifier: Verifier) -> tuple[UtteranceVoice, ...]:
    """Tell the voices of a recording apart.

    Args:
        prints: Of its utterances; None where one has too little speech to embed.
        verifier: Of the encoder that made them.

    Returns:
        One for every utterance.

    Raises:
        UsageError: Nobody measured a threshold for the encoder.
    """
    known = {k: p for k, p in enumerate(prints) if p is not None}
    longest = sorted(known, key=lambda k: -known[k].speech_s)[:MAX_COMPARED]
    places = _discover({k: known[k] for k in sorted(longest)}, verifier)
    core = {
        v: [known[k] for k, p in places.items() if p.voice == v] for v in {p.voice for p in places.values()}
    }
    for k in sorted(set(known) - set(longest)):
        places[k] = _place(known[k], core, verifier)
    order = _by_speech(places, known)
    is_mixed = _find_mixed(places, known, verifier)
    return tuple(
        UtteranceVoice(order.get(places[k].voice), places[k].score, places[k].is_sure, is_mixed.get(k))
        if k in places
        else UtteranceVoice()
        for k in range(len(prints))
    )


def _discover(prints: dict[int, Voiceprint], verifier: Verifier) -> dict[int, UtteranceVoice]:
    found = discover_speakers(
        verifier.matrix(list(prints.values())),
        [p.speech_s for p in prints.values()],
        threshold=verifier.threshold,
        margin=verifier.min_margin,
    )
    return {k: UtteranceVoice(p.speaker, p.own_score, p.is_sure) for k, p in zip(prints, found, strict=True)}


def _place(own: Voiceprint, core: dict[int | None, list[Voiceprint]], verifier: Verifier) -> UtteranceVoice:
    """The voice that one more utterance is most like."""
    scores = {v: _mean_score(own, members, verifier) for v, members in core.items()}
    best, *others = sorted(scores, key=lambda v: -scores[v])
    if scores[best] < verifier.threshold:
        return UtteranceVoice()
    is_sure = all(scores[v] <= verifier.threshold - verifier.min_margin for v in others)
    return UtteranceVoice(best, scores[best], is_sure)


def _mean_score(own: Voiceprint, members: Sequence[Voiceprint], verifier: Verifier) -> float:
    speech_s = np.array([[min(own.speech_s, p.speech_s) for p in members]])
    vectors = np.stack([p.vector for p in members]).astype(np.float64)
    return float(verifier.compare(own.vector[None].astype(np.float64), vectors, speech_s=speech_s).mean())


def _by_speech(places: dict[int, UtteranceVoice], prints: dict[int, Voiceprint]) -> dict[int | None, int]:
    """Voice as found -> its number among all, by seconds of speech."""
    total_s: dict[int, float] = {}
    for k, place in places.items():
        if place.voice is not None:
            total_s[place.voice] = total_s.get(place.voice, 0.0) + prints[k].speech_s
    ranked = sorted(total_s, key=lambda v: (-total_s[v], v))
    return {v: number for number, v in enumerate(ranked, start=1)}


def _find_mixed(
    places: dict[int, UtteranceVoice], prints: dict[int, Voiceprint], verifier: Verifier
) -> dict[int, bool]:
    """Utterance -> a window of it falls below the window threshold against the mean direction of its voice's others."""
    limit = verifier.window_threshold
    if limit is None:
        return {}
    totals: dict[int, Matrix] = {}
    for k, place in places.items():
        if place.voice is not None:
            totals[place.voice] = totals.get(place.voice, 0.0) + _weighted(prints[k])
    found = {}
    for k, place in places.items():
        if place.voice is None or not len(prints[k].windows):
            continue
        others = totals[place.voice] - _weighted(prints[k])
        norm = float(np.linalg.norm(others))
        if norm > 1e-6:  # 0 for the only utterance of its voice
            rows = prints[k].window_vectors.astype(np.float64)
            found[k] = bool(verifier.compare(rows, (others / norm)[None])[:, 0].min() < limit)
    return found


def _weighted(print_: Voiceprint) -> Matrix:
    weighted: Matrix = print_.vector.astype(np.float64) * print_.speech_s
    return weighted
