"""One spoken text -> the numbers that two references are compared by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refprep.scoring import ScoredOutput, ScoreTarget
from refprep.scoring.windows import score_windows
from refprep.types import Clip, StopReason, VoiceWindow


@dataclass(frozen=True, slots=True)
class Measure:
    """What a number says.

    Attributes:
        label: For people.
        unit: Of its values; empty for a score or a share.
        digits: That are shown.
    """

    label: str
    unit: str = ""
    digits: int = 3


PLAIN = {
    "duration_s": Measure("duration", "s", 2),
    "ended": Measure("ended by itself (1) or not (0)"),
}
SCORED = {
    "error_rate": Measure("WER or CER"),
    "pace_per_s": Measure("pace", "a second", 2),
    "leaks": Measure("edges with reference words"),
    "passed": Measure("passed (1) or not (0)"),
}


@dataclass(frozen=True, slots=True)
class Output:
    """What one condition made of one text and one seed.

    Attributes:
        text: That was to be said.
        seed: It was said with.
        stop: Why it ended.
        values: By name of the measure; None where there is no number.
    """

    text: str
    seed: int
    stop: StopReason
    values: Mapping[str, float | None]


def plain_values(duration_s: float, stop: StopReason) -> dict[str, float | None]:
    """What needs no model."""
    return {"duration_s": duration_s, "ended": float(stop is StopReason.EOS)}


def scored_values(scored: ScoredOutput, clip: Clip, others: Sequence[ScoreTarget]) -> dict[str, float | None]:
    """What the models hear.

    Similarity is the mean over the references of all conditions, whoever spoke: held against its own alone, each would
    have a scale of its own.

    Args:
        scored: Against the reference that it was spoken with.
        clip: The output.
        others: References of the other conditions.
    """
    score = scored.score
    windows = [
        *score.windows,
        *(
            w
            for t in others
            for voice in t.voices
            for w in (score_windows(clip, score.speech, voice) if score.speech else ())
        ),
    ]
    pace = score.quality.pace_per_s
    values: dict[str, float | None] = {
        "error_rate": None if score.text is None else score.text.error_rate,
        "pace_per_s": pace if pace is not None and math.isfinite(pace) else None,
        "leaks": float(len(score.leaks)),
        "passed": float(scored.passed),
    }
    for encoder in dict.fromkeys(w.encoder for w in windows):
        own = [w for w in windows if w.encoder == encoder]
        values[f"similarity:{encoder}"] = _mean([w.score for w in own])
        values[f"control:{encoder}"] = _mean([w.control_score for w in own])
        values[f"margin:{encoder}"] = _mean([w.margin for w in own])
        values[f"late_less_early:{encoder}"] = _drift(own)
    return values


def measure_of(name: str) -> Measure:
    """How a number is shown."""
    known = {**PLAIN, **SCORED}.get(name)
    if known is not None:
        return known
    kind, _, encoder = name.partition(":")
    words = {
        "similarity": "similarity to the references",
        "control": "similarity to the nearest other person",
        "margin": "similarity less that of the nearest other person",
        "late_less_early": "late similarity less early",
    }
    return Measure(f"{words[kind]} ({encoder})")


def _drift(windows: Sequence[VoiceWindow]) -> float | None:
    early, late = ([w.score for w in windows if w.name == name] for name in ("early", "late"))
    one, other = _mean(late), _mean(early)
    return None if one is None or other is None else one - other


def _mean(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None and math.isfinite(v)]
    return sum(known) / len(known) if known else None
