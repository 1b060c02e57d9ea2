"""Speaker encoders on labelled pairs: equal error rate and thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refprep.bench.labelled import read_rows
from refprep.errors import ManifestError, RefprepError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.identity import cosine_matrix
from refprep.protocols import SpeakerEncoder, VoiceActivity
from refprep.types import Voiceprint

_REQUIRED = ("path_a", "path_b", "same")
LONG_S = 3.0


@dataclass(frozen=True, slots=True)
class IdentityPair:
    """Two clips and whether one person speaks in both."""

    path_a: Path
    path_b: Path
    is_same: bool
    kind: str


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair with its cosine and the length of its shorter clip, seconds."""

    pair: IdentityPair
    cosine: float
    shorter_s: float


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


def score_pairs(
    pairs: Sequence[IdentityPair],
    encoder: SpeakerEncoder,
    voice_activity: VoiceActivity,
    *,
    on_clip: Callable[[str], None] = lambda _: None,
) -> tuple[list[ScoredPair], list[str]]:
    """Embed every clip once and score the pairs.

    Returns:
        Scored pairs in order, and the clips that could not be embedded, with the reason.
    """
    prints: dict[Path, tuple[Voiceprint, float]] = {}
    failed: dict[Path, str] = {}
    for path in dict.fromkeys(p for pair in pairs for p in (pair.path_a, pair.path_b)):
        try:
            clip = decode_file(path)
            prints[path] = (encoder.embed(clip, voice_activity.speech_spans(clip)), clip.duration_s)
        except RefprepError as error:
            failed[path] = f"{path}: {error.what}"
        on_clip(str(path))
    scored = []
    for pair in pairs:
        if pair.path_a in prints and pair.path_b in prints:
            (a, a_s), (b, b_s) = prints[pair.path_a], prints[pair.path_b]
            scored.append(ScoredPair(pair, float(cosine_matrix([a, b])[0, 1]), min(a_s, b_s)))
    return scored, list(failed.values())


def equal_error_rate(same: Sequence[float], different: Sequence[float]) -> tuple[float, float]:
    """EER and its threshold: where misses and false accepts are equal, linearly interpolated between scores.

    Raises:
        ValueError: One side has no scores.
    """
    if not same or not different:
        raise ValueError("both same and different pairs are needed")
    genuine, impostor = np.sort(np.asarray(same)), np.sort(np.asarray(different))
    thresholds = np.unique(np.concatenate([genuine, impostor, [genuine[-1] + 1e-6, impostor[-1] + 1e-6]]))
    misses = np.searchsorted(genuine, thresholds, side="left") / len(genuine)
    accepts = 1.0 - np.searchsorted(impostor, thresholds, side="left") / len(impostor)
    gap = misses - accepts
    at = int(np.argmax(gap >= 0.0))
    if at == 0 or gap[at] == 0.0:
        return float((misses[at] + accepts[at]) / 2), float(thresholds[at])
    share = -gap[at - 1] / (gap[at] - gap[at - 1])
    rate = misses[at - 1] + share * (misses[at] - misses[at - 1])
    return float(rate), float(thresholds[at - 1] + share * (thresholds[at] - thresholds[at - 1]))


def threshold_at(different: Sequence[float], false_accepts: float) -> float:
    """Lowest threshold at which at most this share of different pairs is accepted."""
    scores = sorted(different, reverse=True)
    allowed = int(false_accepts * len(scores))
    return float(np.nextafter(scores[allowed], np.inf)) if allowed < len(scores) else -1.0


def summarise(
    scored: Sequence[ScoredPair], failed: Sequence[str], *, encoder: SpeakerEncoder, models: Mapping[str, str]
) -> dict[str, Any]:
    """Figures of a run: EER over all pairs and over the groups that the kinds and lengths make."""
    groups = {
        "all": list(scored),
        "long": [s for s in scored if s.shorter_s >= LONG_S],
        "long_without_hardest": [
            s for s in scored if s.shorter_s >= LONG_S and s.pair.kind != "diff_hardest"
        ],
        "long_same_session": [
            s
            for s in scored
            if s.shorter_s >= LONG_S
            and s.pair.kind != "diff_hardest"
            and s.pair.kind in ("same_session", *_different_kinds(scored))
        ],
    }
    kinds = {
        kind: [s.cosine for s in scored if s.pair.kind == kind]
        for kind in dict.fromkeys(s.pair.kind for s in scored)
    }
    return {
        "schema_version": 1,
        "models": dict(models),
        "encoder": encoder.name,
        "default_threshold": encoder.default_threshold,
        "pairs": len(scored),
        "failed": list(failed),
        "groups": {name: _figures(members, encoder.default_threshold) for name, members in groups.items()},
        "kinds": {
            kind: {
                "pairs": len(c),
                "min": round(min(c), 4),
                "median": round(float(np.median(c)), 4),
                "max": round(max(c), 4),
            }
            for kind, c in kinds.items()
        },
    }


def _different_kinds(scored: Sequence[ScoredPair]) -> list[str]:
    return sorted({s.pair.kind for s in scored if not s.pair.is_same and s.pair.kind != "diff_8k_digits"})


def _figures(members: Sequence[ScoredPair], default_threshold: float | None) -> dict[str, Any]:
    same = [s.cosine for s in members if s.pair.is_same]
    different = [s.cosine for s in members if not s.pair.is_same]
    row: dict[str, Any] = {"same": len(same), "different": len(different)}
    if same and different:
        rate, threshold = equal_error_rate(same, different)
        strict = threshold_at(different, 0.01)
        row |= {
            "eer": round(rate, 4),
            "eer_threshold": round(threshold, 4),
            "threshold_at_1_percent_false_accepts": round(strict, 4),
            "misses_there": round(sum(c < strict for c in same) / len(same), 4),
        }
        if default_threshold is not None:
            row |= {
                "false_accepts_at_default": round(
                    sum(c >= default_threshold for c in different) / len(different), 4
                ),
                "misses_at_default": round(sum(c < default_threshold for c in same) / len(same), 4),
            }
    return row
