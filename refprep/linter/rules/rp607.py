"""RP607 voice-drift.

## What it checks
That the early, the middle and the late third of the speech each sound like the reference to every encoder, and more like
it than like any person of `--control`. Without controls the report names who in the encoder's cohort is most like it.

## Why it matters
A mean over the whole output hides a voice that changes half way.

## Example
    out.wav:2.31s: RP607 error: the late part sounds like somebody else: score 0.412, 2.800 needed (ge2e, as-norm)

## How to fix
Synthesise again, or in shorter pieces; a longer reference holds the voice better.

## Fix safety
There is no automatic fix.

## Threshold and its source
The threshold of a pair in the calibration in use (else the encoder's own), one standard deviation (0.05 of a plain cosine)
lower. GE2E with its cohort, 214 windows of 97 clips of 14 readers of the speech pack against other clips of them: one lies below
it, by 0.28, a false alarm in loud noise; the next ones, acted (sleepy, disgusted, drunk), lie 0.16 to 0.34 above it. Of 459
windows of others of the same sex all lay below it, the nearest by 0.42. An output with less than 1 s of speech is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import OutputScore


def check(score: OutputScore) -> Iterator[Hit]:
    """A hit for every window of another voice, encoder by encoder."""
    for window in score.windows:
        if not window.is_off:
            continue
        unit = "cosine" if window.scale == "cosine" else "score"
        judge = window.encoder if window.scale == "cosine" else f"{window.encoder}, {window.scale}"
        message = f"the {window.name} part sounds like somebody else: {unit} {window.score:.3f}, {window.threshold:.3f} needed"
        if window.control_score is not None:
            message += f", {window.control_score:.3f} to {window.control}"
        yield Hit(
            message=f"{message} ({judge})",
            remedy="Listen there, then synthesise it again.",
            span=window.span,
            evidence={
                "window": window.name,
                "encoder": window.encoder,
                "score": round(window.score, 4),
                "threshold": window.threshold,
                "control": window.control,
                "control_score": None if window.control_score is None else round(window.control_score, 4),
            },
        )


RULE = Rule(
    code="RP607",
    name="voice-drift",
    summary="a part of the output sounds like somebody else",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=OutputScore,
    check=check,
    page=__doc__,
)
