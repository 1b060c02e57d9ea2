"""RP303 ambiguous-speaker-id.

## What it checks
That a speaker id says which corpus, country (or language), gender and speaker: `vctk/en/f/p225`.

## Why it matters
Speaker "2121" is two people in two corpora. Clips joined by a bare number make one voice out of two people.

## Example
    manifest.jsonl:12: RP303 warning: speaker id "2121" does not say which corpus, country and gender

## How to fix
Write `corpus/country/gender/speaker` (gender `f`, `m` or `u` for not known).

## Fix safety
There is no automatic fix: only you know which corpus it is.

## Threshold and its source
Four non-empty parts, the third one of `f`, `m`, `u`, `x`.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.manifest import Utterance

GENDERS = frozenset({"f", "m", "u", "x"})


def is_full_speaker_id(speaker: str) -> bool:
    """The id has the four parts corpus/country/gender/speaker."""
    parts = speaker.split("/")
    return len(parts) == 4 and all(p.strip() for p in parts) and parts[2].lower() in GENDERS


def check(utterance: Utterance) -> Iterator[Hit]:
    """A hit when a speaker is named, and not in full."""
    if utterance.speaker and not is_full_speaker_id(utterance.speaker):
        yield Hit(
            message=f'speaker id "{utterance.speaker}" does not say which corpus, country and gender',
            remedy="Write corpus/country/gender/speaker, such as vctk/en/f/p225.",
            evidence={"speaker": utterance.speaker},
        )


RULE = Rule(
    code="RP303",
    name="ambiguous-speaker-id",
    summary="the speaker id does not say which corpus, country and gender",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=Utterance,
    check=check,
    page=__doc__,
)
