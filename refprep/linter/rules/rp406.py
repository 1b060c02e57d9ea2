"""RP406 engine-cuts-audio.

## What it checks
With `--profile ENGINE`: how much of the clip the engine uses, where it keeps only the start.

## Why it matters
What you chose the clip for may lie in the part that is thrown away, and it may be cut inside a word.

## Example
    clips/ana_03.wav:10.00s: RP406 warning: chatterbox keeps 0.00-10.00 s of 14.20 s, the conditioning 0.00-6.00 s

## How to fix
Give a shorter clip that ends at a pause, with the best speech at its start.

## Fix safety
There is no automatic fix: which part is the best is yours to say.

## Threshold and its source
The engine's own length, as its sources state it: ``refprep.linter.profiles``. 0.05 s more are let pass.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.profiles import MIN_LOST_S, ProfileCase, TextUse
from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import Span


def check(case: ProfileCase) -> Iterator[Hit]:
    """A hit when audio is lost; where a text goes with it, that is RP407's."""
    kept_s = case.profile.kept_s
    if (
        kept_s is None
        or case.lost_s < MIN_LOST_S
        or (case.has_text and case.profile.text is not TextUse.IGNORED)
    ):
        return
    parts = "".join(f", {what} 0.00-{part_s:.2f} s" for what, part_s in case.profile.parts)
    yield Hit(
        message=f"{case.profile.name} keeps 0.00-{kept_s:.2f} s of {case.duration_s:.2f} s{parts}",
        remedy=f"Give a clip of at most {kept_s:.0f} s that ends at a pause; `refprep split` makes such.",
        span=Span(kept_s, case.duration_s),
        evidence={
            "profile": case.profile.name,
            "kept_s": kept_s,
            "lost_s": round(case.lost_s, 3),
            "lost_words": case.lost_words,
        },
    )


RULE = Rule(
    code="RP406",
    name="engine-cuts-audio",
    summary="the engine of --profile uses only the start of the clip",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=ProfileCase,
    check=check,
    page=__doc__,
)
