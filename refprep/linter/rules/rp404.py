"""RP404 short-clip.

## What it checks
That the clip holds enough speech for its speaker to be recognised.

## Why it matters
Embeddings of less than a second of speech say more about the words than about the person.

## Example
    yes.wav: RP404 error: 0.41 s of speech, 1.00 s needed

## How to fix
Use longer utterances.

## Fix safety
There is no automatic fix.

## Threshold and its source
1.0 s by default (`min_clip_s`): below it, cosines of one speaker overlap those of different speakers in the labelled pairs.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import Admission


def check(admission: Admission) -> Iterator[Hit]:
    """A hit for a clip with too little speech."""
    if admission.speech_s < admission.min_clip_s:
        yield Hit(
            message=f"{admission.speech_s:.2f} s of speech, {admission.min_clip_s:.2f} s needed",
            remedy="Use longer utterances; the limit is min_clip_s in refprep.toml.",
            evidence={"speech_s": round(admission.speech_s, 3)},
        )


RULE = Rule(
    code="RP404",
    name="short-clip",
    summary="too little speech to tell who it is",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=Admission,
    check=check,
    page=__doc__,
)
