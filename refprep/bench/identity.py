"""Speaker encoders on labelled pairs: equal error rates by length and kind, with and without score normalisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from refprep.bench.labelled import read_rows
from refprep.errors import ManifestError, RefprepError
from refprep.identity.error_rates import equal_error_interval, equal_error_rate, threshold_at
from refprep.identity.verifier import Verifier
from refprep.pipeline.decode import decode_file
from refprep.protocols import SpeakerEncoder, VoiceActivity
from refprep.types import Voiceprint

_REQUIRED = ("path_a", "path_b", "same")
LONG_S = 3.0
HARDEST = "diff_hardest"
"""Pairs that were chosen because an encoder finds them alike: a rate among them says how they were chosen."""
_CLEAN = "same_session"
_DIGITS = "diff_8k_digits"
_BUCKETS_S = (2.0, 3.0, 6.0)


@dataclass(frozen=True, slots=True)
class IdentityPair:
    """Two clips and whether one person speaks in both."""

    path_a: Path
    path_b: Path
    is_same: bool
    kind: str


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair with its score and the length of its shorter clip, seconds."""

    pair: IdentityPair
    score: float
    shorter_s: float


Prints = Mapping[Path, tuple[Voiceprint, float]]
"""Clip -> its voiceprint and its length, seconds."""


def read_pairs(path: Path) -> list[IdentityPair]:
    """Read labelled pairs; audio paths are relative to the file's folder.

    Raises:
        ManifestError: The file cannot be read, or a row is not as described in manifests/README.md.
    """
    pairs: list[IdentityPair] = []
    for where, row in read_rows(path, _REQUIRED):
        same = row["same"].strip()
        if same not in ("0", "1"):
            raise ManifestError(f"same is {same!r}", where=where, fix="Write 1 for one person, 0 for two.")
        folder = path.parent
        pairs.append(
            IdentityPair(folder / row["path_a"], folder / row["path_b"], same == "1", row.get("kind", ""))
        )
    return pairs


def embed_clips(
    pairs: Sequence[IdentityPair],
    encoder: SpeakerEncoder,
    voice_activity: VoiceActivity,
    *,
    on_clip: Callable[[str], None] = lambda _: None,
) -> tuple[Prints, list[str]]:
    """Embed every clip of the pairs once.

    Returns:
        Voiceprints by path, and the clips that could not be embedded, with the reason.
    """
    prints: dict[Path, tuple[Voiceprint, float]] = {}
    failed: list[str] = []
    for path in dict.fromkeys(p for pair in pairs for p in (pair.path_a, pair.path_b)):
        try:
            clip = decode_file(path)
            prints[path] = (encoder.embed(clip, voice_activity.speech_spans(clip)), clip.duration_s)
        except RefprepError as error:
            failed.append(f"{path}: {error.what}")
        on_clip(str(path))
    return prints, failed


def score_pairs(pairs: Sequence[IdentityPair], prints: Prints, verifier: Verifier) -> list[ScoredPair]:
    """Score the pairs both of whose clips were embedded, in order."""
    scored = []
    for pair in pairs:
        if pair.path_a in prints and pair.path_b in prints:
            (a, a_s), (b, b_s) = prints[pair.path_a], prints[pair.path_b]
            scored.append(ScoredPair(pair, verifier.score(a, b), min(a_s, b_s)))
    return scored


def summarise(scored: Sequence[ScoredPair], *, threshold: float | None) -> dict[str, Any]:
    """Figures of one encoder on one scale.

    Args:
        scored: Its pairs.
        threshold: In use; None where nobody measured one.

    Returns:
        ``eer_all``, ``eer_3s`` (both clips 3 s and longer, without pairs chosen for being hard), ``eer_3s_clean`` (of
        these, one person in one session against different people), each null without pairs of both labels; and under
        ``groups``, ``lengths`` and ``kinds`` what they are made of.
    """
    long = [s for s in scored if s.shorter_s >= LONG_S]
    plain = [s for s in long if s.pair.kind != HARDEST]
    groups = {
        "all": list(scored),
        "3s": plain,
        "3s_clean": [s for s in plain if s.pair.kind == _CLEAN or _is_ordinary_stranger(s)],
        "3s_with_hardest": long,
    }
    figures = {name: _figures(members, threshold) for name, members in groups.items()}
    return {
        **{f"eer_{name}": figures[name].get("eer") for name in ("all", "3s", "3s_clean")},
        "threshold": threshold,
        "groups": figures,
        "lengths": {name: _figures(members, threshold) for name, members in _by_length(scored).items()},
        "kinds": {kind: _kind_figures(scored, kind) for kind in dict.fromkeys(s.pair.kind for s in scored)},
    }


def _is_ordinary_stranger(scored: ScoredPair) -> bool:
    return not scored.pair.is_same and scored.pair.kind != _DIGITS


def _by_length(scored: Sequence[ScoredPair]) -> dict[str, list[ScoredPair]]:
    """Pairs by the length of their shorter clip."""
    edges = (0.0, *_BUCKETS_S, float("inf"))
    found: dict[str, list[ScoredPair]] = {}
    for low, high in pairwise(edges):
        name = f"{low:g}-{high:g} s" if high != float("inf") else f"{low:g} s and more"
        found[name] = [s for s in scored if low <= s.shorter_s < high]
    return found


def _figures(members: Sequence[ScoredPair], threshold: float | None) -> dict[str, Any]:
    same = [s.score for s in members if s.pair.is_same]
    different = [s.score for s in members if not s.pair.is_same]
    row: dict[str, Any] = {
        "same": len(same),
        "different": len(different),
        "min_same": round(min(same), 4) if same else None,
        "max_different": round(max(different), 4) if different else None,
    }
    if same and different:
        rate, at = equal_error_rate(same, different)
        low, high = equal_error_interval(same, different)
        strict = threshold_at(different, 0.01)
        row |= {
            "eer": round(rate, 4),
            "eer_low": round(low, 4),
            "eer_high": round(high, 4),
            "eer_threshold": round(at, 4),
            "threshold_at_1_percent_false_accepts": round(strict, 4),
            "misses_there": round(sum(c < strict for c in same) / len(same), 4),
        }
        if threshold is not None:
            row |= {
                "false_accepts": round(sum(c >= threshold for c in different) / len(different), 4),
                "misses": round(sum(c < threshold for c in same) / len(same), 4),
            }
    return row


def _kind_figures(scored: Sequence[ScoredPair], kind: str) -> dict[str, Any]:
    """Scores of one kind, and its EER against all pairs of the other label."""
    own = [s for s in scored if s.pair.kind == kind]
    scores = [s.score for s in own]
    is_same = own[0].pair.is_same
    others = [s.score for s in scored if s.pair.is_same is not is_same]
    row: dict[str, Any] = {
        "pairs": len(own),
        "is_same": is_same,
        "min": round(min(scores), 4),
        "median": round(float(np.median(scores)), 4),
        "max": round(max(scores), 4),
        "eer": None,
    }
    if others:
        sides = (scores, others) if is_same else (others, scores)
        row["eer"] = round(equal_error_rate(*sides)[0], 4)
    return row
