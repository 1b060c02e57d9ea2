"""RP107 undecided-text.

## What it checks
That the recogniser and the aligner can tell whether the text covers the audio.

## Why it matters
A check that cannot tell must not pass in silence: loud noise, babble, or a language the model hardly knows hide a
missing word as well as they hide the others.

## Example
    clips/bar.wav: RP107 warning: undecided: the recogniser does not understand the audio (mean probability 0.42)

## How to fix
Use a cleaner take, or a larger model (`--asr whisper-large-v3-turbo`), or listen yourself and ignore the finding.

## Fix safety
Unsafe: where voice without words follows the text, the audio is cut at the last pause before it. Other doubts have no
automatic fix.

## Threshold and its source
``refprep.pipeline.check_thresholds``: less than 75 % of the letters agree and the mean forced probability is below
0.5 (or less than 40 % agree, whatever the probability), or more than 0.7 s of voice without words follow the text. 4 of 102 good pairs of the labelled set end here, all of
them noise, 1.7 s digit strings or archaic names.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import TextCheck, Verdict


def check(check: TextCheck) -> Iterator[Hit]:
    """A hit when the verdict is undecided."""
    if check.verdict is Verdict.UNDECIDED:
        yield Hit(
            message=f"undecided: {check.reason}",
            remedy="Use a cleaner take or a larger model (--asr), or listen to it.",
            evidence={
                "error_rate": round(check.error_rate, 3),
                "forced_probability": round(check.alignment.mean_probability, 3),
                "uncovered_voice_s": round(sum(s.duration_s for s in check.coverage.uncovered), 3),
                "heard_text": check.heard.text,
            },
        )


RULE = Rule(
    code="RP107",
    name="undecided-text",
    summary="the models cannot tell whether the text covers the audio",
    severity=Severity.WARNING,
    fix=FixAvailability.UNSAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
