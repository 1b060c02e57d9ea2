"""RP108 missing-text.

## What it checks
That somebody wrote down what the clip says: `--text`, a sidecar (`a.txt` or `a.lab` beside `a.wav`), or a manifest row.

## Why it matters
In-context cloning needs the text of the reference. Without one nothing can be held against the audio.

## Example
    clips/ana_04.wav: RP108 warning: nobody wrote down what it says

## How to fix
`refprep transcribe ana_04.wav > ana_04.txt`, then read it through: recognisers err on names.

## Fix safety
Unsafe: the recogniser's text is written, and a transcription nobody has read is a guess.

## Threshold and its source
None: a text is there or it is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.manifest import Utterance


def check(utterance: Utterance) -> Iterator[Hit]:
    """A hit when no text was given; an empty text is RP101's matter."""
    if utterance.text is None:
        yield Hit(
            message="nobody wrote down what it says",
            remedy=f"Write {utterance.audio.with_suffix('.txt').name} beside it, or start from `refprep transcribe`.",
        )


RULE = Rule(
    code="RP108",
    name="missing-text",
    summary="the clip has no text to check",
    severity=Severity.WARNING,
    fix=FixAvailability.UNSAFE,
    noun=Utterance,
    check=check,
    page=__doc__,
)
