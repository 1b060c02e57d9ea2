"""RP305 contradictory-speaker-id.

## What it checks
That all rows with one speaker id agree on who that is: one gender, one country and, for a bare name or number, one
corpus. What counts is the id itself (`corpus/country/gender/speaker`) and the columns `gender` (or `sex`), `country` and
`corpus` (or `dataset`).

## Why it matters
Speaker "2121" is two people in two corpora. Clips that are grouped by such an id make one voice out of two people, and
no mean of embeddings says so.

## Example
    clips/a7.wav: RP305 error: speaker "2121" has gender m here and f at rows.csv:2

## How to fix
Correct the row that is wrong, or give the two people ids of their own: `corpus/country/gender/speaker`.

## Fix safety
There is no automatic fix: only you know who speaks.

## Threshold and its source
None: two genders, two countries or two corpora are two people.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.speakers import SpeakerClaim


def check(claim: SpeakerClaim) -> Iterator[Hit]:
    """A hit for each thing that the row and an earlier one say differently."""
    for found in claim.contradictions:
        yield Hit(
            message=f'speaker "{claim.speaker}" has {found.what} {found.here} here and {found.there} at {found.where}',
            remedy="Correct the row, or give the two people ids of their own (corpus/country/gender/speaker).",
            evidence={
                "speaker": claim.speaker,
                "what": found.what,
                "here": found.here,
                "there": found.there,
                "where": found.where,
            },
        )


RULE = Rule(
    code="RP305",
    name="contradictory-speaker-id",
    summary="one speaker id stands for two people",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=SpeakerClaim,
    check=check,
    page=__doc__,
)
