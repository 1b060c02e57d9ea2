"""What a proven selection costs, on made-up sets of clips of several kinds.

The kinds are what makes an integer program hard: scores that say nothing, scores that all say something else, lengths
that are all alike, many copies. A kind's instances are drawn from a seed, so that two runs time the same ones.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from refprep.pipeline.select import ClipPool, LengthWindow, select_clips
from refprep.text.ngrams import text_ngrams

KINDS = ("realistic", "equal_scores", "random_scores", "two_clusters", "equal_durations", "duplicates")
TARGETS_S = (12.0, 30.0)
THRESHOLD = 0.7
_LONGEST_S = 30.0
_LIMITS_S = {24: 1.0, 200: 10.0}
# Letters of English by frequency per thousand (Lewand, Cryptological Mathematics, 2000), vowels and others apart:
# words of alternating kinds have about the letter pairs that sentences have.
_VOWELS = {"a": 82, "e": 127, "i": 70, "o": 75, "u": 28, "ea": 20, "ou": 15}
_OTHERS = {
    "b": 15, "c": 28, "d": 43, "f": 22, "g": 20, "h": 61, "k": 8, "l": 40, "m": 24, "n": 67, "p": 19, "r": 60, "s": 63,
    "t": 91, "v": 10, "w": 24, "y": 20, "th": 40, "st": 20, "nd": 15, "ch": 10,
}  # fmt: skip


def limit_s(num_clips: int) -> float | None:
    """Longest time that a selection among so many clips may take; None where nobody set one."""
    return next((limit for clips, limit in sorted(_LIMITS_S.items()) if num_clips <= clips), None)


def make_pool(kind: str, num_clips: int, rng: np.random.Generator) -> ClipPool:
    """Draw the candidates of a kind.

    Raises:
        ValueError: A kind that is none of ``KINDS``.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is none of {', '.join(KINDS)}")
    durations_s = np.round(np.clip(rng.lognormal(1.4, 0.4, num_clips), 1.0, 15.0), 3)
    if kind == "equal_durations":
        durations_s = rng.choice([3.0, 4.0], num_clips)
    texts = [_text(float(d), rng) for d in durations_s]
    duplicates: list[tuple[int, int]] = []
    if kind == "duplicates":
        takes = rng.integers(0, max(1, num_clips // 4), num_clips)
        texts = [texts[int(t)] for t in takes]
        duplicates = [(i, j) for i in range(num_clips) for j in range(i) if takes[i] == takes[j]]
    return ClipPool(
        durations_s=durations_s.tolist(),
        scores=_scores(kind, num_clips, rng),
        deficits=rng.choice([0, 1, 2, 3, 4, 11, 12, 13], num_clips).tolist()
        if kind == "realistic"
        else [0] * num_clips,
        ngrams=[text_ngrams(t) for t in texts],
        duplicates=duplicates,
    )


def measure_selection(
    num_clips: Sequence[int],
    *,
    rounds: int,
    seed: int,
    time_limit_s: float = 60.0,
    on_round: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Time selection on every kind, for a target of 12 s and one of 30 s.

    Args:
        num_clips: Numbers of candidates.
        rounds: Instances of each kind, number and target.
        seed: Of the instances.
        time_limit_s: Of one selection.
        on_round: Told what was timed.

    Returns:
        A row for each number, kind and target: median and worst seconds, how many were proven optimal, the limit.
    """
    rows: list[dict[str, Any]] = []
    for num in num_clips:
        for place, kind in enumerate(KINDS):
            for target_s in TARGETS_S:
                times_s: list[float] = []
                proven = found = 0
                for number in range(rounds):
                    pool = make_pool(
                        kind, num, np.random.default_rng([seed, num, place, int(target_s), number])
                    )
                    window = LengthWindow(12.0, _LONGEST_S, target_s, 0.12, 0.16)
                    start = time.perf_counter()
                    selection = select_clips(
                        pool, window=window, threshold=THRESHOLD, time_limit_s=time_limit_s
                    )
                    times_s.append(time.perf_counter() - start)
                    found += selection is not None
                    proven += selection is None or selection.is_optimal
                    on_round(f"{num} {kind} {target_s:g} s")
                rows.append(
                    {
                        "clips": num,
                        "kind": kind,
                        "target_s": target_s,
                        "rounds": rounds,
                        "found": found,
                        "proven": proven,
                        "median_s": round(statistics.median(times_s), 3),
                        "worst_s": round(max(times_s), 3),
                        "limit_s": limit_s(num),
                    }
                )
    return {"schema_version": 1, "seed": seed, "rows": rows}


def _scores(kind: str, num: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    if kind in ("equal_scores", "equal_durations", "duplicates"):
        scores = np.full((num, num), 0.9)
    elif kind == "random_scores":
        scores = rng.uniform(0.6, 1.0, (num, num))
    elif kind == "two_clusters":
        side = rng.integers(0, 2, num)
        scores = np.where(side[:, np.newaxis] == side, 0.88, 0.65) + rng.uniform(-0.05, 0.05, (num, num))
    else:
        # Directions scattered about one voice: the pair cosines of GE2E on one reader's clips, 0.75 to 0.95.
        vectors = rng.standard_normal((num, 32)) * 0.075 + np.eye(32)[0]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        scores = vectors @ vectors.T
    scores = np.tril(scores, -1)
    return np.asarray(scores + scores.T + np.eye(num), dtype=np.float64)


def _text(duration_s: float, rng: np.random.Generator) -> str:
    """Words of made-up English, at 2.3 to 3.2 of them a second."""
    words = []
    for _ in range(max(2, round(duration_s * rng.uniform(2.3, 3.2)))):
        syllables = [_draw(_OTHERS, rng) + _draw(_VOWELS, rng) for _ in range(rng.integers(1, 4))]
        words.append("".join(syllables) + (_draw(_OTHERS, rng) if rng.random() < 0.6 else ""))
    return " ".join(words)


def _draw(weights: dict[str, int], rng: np.random.Generator) -> str:
    chances = np.array(list(weights.values()), dtype=np.float64)
    return str(rng.choice(list(weights), p=chances / chances.sum()))
