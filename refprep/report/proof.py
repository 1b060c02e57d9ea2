"""voice.json -> what was proven: of the choice, of the whole reference, by which encoders, with whose consent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_OBJECTIVES = {
    "lowest_pair_score": ("lowest score of a pair", "no set reaches"),
    "variety": ("different n-grams", "no set reaches"),
    "closeness": ("distance to the length asked for", "no set lies below"),
    "quality": ("quality deficit", "no set lies below"),
}
"""Objective -> (what it is called, what its bound says)."""


def selections_view(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The certificate of every nested reference, the shortest first, and of the whole one."""
    parts = [(str(row.get("file", "")), row.get("selection") or {}) for row in document.get("nested") or []]
    if document.get("selection"):
        parts.append(("reference.wav", document["selection"]))
    return [
        {
            "file": file,
            "proof": selection.get("proof", ""),
            "is_optimal": selection.get("is_optimal"),
            "steps": [_step(step) for step in selection.get("steps") or []],
        }
        for file, selection in parts
    ]


def verdict_view(document: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the whole reference was found to be right, and if not, why.

    Returns:
        ``is_verified`` (None where voice.json does not say), ``verdict``, and ``reasons``, empty where it is verified.
    """
    check = document.get("joined_check") or {}
    is_verified = document.get("is_verified")
    reasons = []
    if is_verified is False:
        reasons = [str(check["reason"])] if check.get("reason") else []
        reasons += [
            f"{finding['code']} {finding['message']}"
            for finding in check.get("findings") or []
            if finding.get("severity") == "error"
        ]
        reasons = reasons or ["voice.json does not say why"]
    return {"is_verified": is_verified, "verdict": check.get("verdict", ""), "reasons": reasons}


def joined_view(document: Mapping[str, Any]) -> dict[str, Any]:
    """The whole reference against its text and its voice; ``is_below`` is None where no threshold was measured."""
    check = document.get("joined_check") or {}
    lowest, threshold = check.get("min_window_score"), check.get("window_threshold")
    return {
        "check": check,
        "lowest": lowest,
        "threshold": threshold,
        "is_below": None if lowest is None or threshold is None else lowest < threshold,
        "scale": (document.get("similarity") or {}).get("scale", ""),
        "findings": check.get("findings") or [],
    }


def encoders_view(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every speaker encoder with what its scores are held against, and the worst of the chosen clips by it."""
    return [
        {
            "row": encoder,
            "lowest_pair": _lowest(document, encoder, "min_pairwise_score"),
            "lowest_window": _lowest(document, encoder, "min_window_score"),
            "lowest_margin": _lowest(document, encoder, "margin"),
        }
        for encoder in document.get("encoders") or []
    ]


def opinions(row: Mapping[str, Any], document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each encoder says of a clip: its identity, the threshold, and whether it takes it for the target voice.

    ``agrees`` goes by the mean score with the target's clips, as grouping does; None where there is none.
    """
    needed = {e.get("encoder"): e.get("threshold") for e in document.get("encoders") or []}
    found = []
    for identity in _identities(row):
        threshold, mean = needed.get(identity.get("encoder")), identity.get("mean_pairwise_score")
        agrees = None if threshold is None or mean is None else mean >= threshold
        found.append({"identity": identity, "threshold": threshold, "agrees": agrees})
    return found


def consent_view(document: Mapping[str, Any], num_clips: int) -> dict[str, Any] | None:
    """What the chosen clips' rows say of consent; None where voice.json has no such entry."""
    consent = document.get("consent")
    if not consent:
        return None
    without = int(consent.get("clips_without") or 0)
    return {
        "statements": consent.get("statements") or [],
        "without": without,
        "is_missing": without == num_clips,
    }


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    objective = str(step.get("objective", ""))
    name, says = _OBJECTIVES.get(objective, (objective.replace("_", " "), "bound"))
    return {"row": step, "name": name, "says": says}


def _identities(row: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    first = row.get("identity")
    return [*([first] if first else []), *(row.get("further_identities") or [])]


def _lowest(document: Mapping[str, Any], encoder: Mapping[str, Any], key: str) -> float | None:
    values = [
        identity[key]
        for clip in document.get("clips") or []
        for identity in _identities(clip)
        if identity.get("encoder") == encoder.get("encoder") and identity.get(key) is not None
    ]
    return min(values, default=None)
