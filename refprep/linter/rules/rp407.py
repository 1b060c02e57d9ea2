"""RP407 engine-keeps-whole-text.

## What it checks
With `--profile ENGINE`: whether the engine cuts the audio and goes on with the whole text.

## Why it matters
From then on the text exceeds the audio, which is the fault of RP104, made by the engine: it reads the reference's last
words into the output, or speaks too fast.

## Example
    clips/ana_03.wav:12.00s: RP407 error: f5-tts keeps 0.00-12.00 s of 15.40 s and the whole text; beyond lie "and left at dawn" (4 words)

## How to fix
Cut the audio at a pause before that yourself, and the text with it.

## Fix safety
There is no automatic fix: where to cut is yours to say.

## Threshold and its source
The engine's own length, as its sources state it: ``refprep.linter.profiles``. 0.05 s more are let pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.profiles import MIN_LOST_S, ProfileCase, TextUse
from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import quote
from refprep.types import Span


def check(case: ProfileCase) -> Iterator[Hit]:
    """A hit when audio is lost and its text is not."""
    kept_s = case.profile.kept_s
    if (
        kept_s is None
        or case.lost_s < MIN_LOST_S
        or not case.has_text
        or case.profile.text is TextUse.IGNORED
    ):
        return
    lost = case.lost_words
    beyond = ""
    if lost:
        num_words = case.num_lost_words
        beyond = f"; beyond lie {quote(lost)} ({num_words} word{'s' * (num_words != 1)})"
    yield Hit(
        message=f"{case.profile.name} keeps 0.00-{kept_s:.2f} s of {case.duration_s:.2f} s and the whole text{beyond}",
        remedy=f"Cut the audio at a pause before {kept_s:.0f} s, and the text with it; `refprep split` does both.",
        span=Span(kept_s, case.duration_s),
        evidence={
            "profile": case.profile.name,
            "kept_s": kept_s,
            "lost_s": round(case.lost_s, 3),
            "lost_words": lost,
        },
    )


RULE = Rule(
    code="RP407",
    name="engine-keeps-whole-text",
    summary="the engine of --profile cuts the audio and not its text",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=ProfileCase,
    check=check,
    page=__doc__,
)
