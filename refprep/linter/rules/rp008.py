"""RP008 no-consent.

## What it checks
What the manifest says under `consent`: that the speaker did not refuse, and, with `--require-consent`, that the row says
at all that they agreed.

## Why it matters
A cloned voice says what its owner never said. Who builds one has to be able to show that they may.

## Example
    clips/ana_07.wav: RP008 error: the speaker does not consent: "withdrawn"

## How to fix
Leave the clip out, or write down what shows the consent: `"consent": "signed 2026-01-02, file 17"`.

## Fix safety
There is no automatic fix: nobody can consent for somebody else.

## Threshold and its source
`no`, `false`, `none`, `refused`, `denied`, `withdrawn` and `revoked` refuse; an empty cell, `unknown`, `n/a` and `todo` say
nothing; every other text is a statement, which refprep carries into voice.json and does not judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import ConsentCase


def check(case: ConsentCase) -> Iterator[Hit]:
    """A hit when the speaker refused, or when nothing is stated and something has to be."""
    if case.is_refused:
        yield Hit(
            message=f'the speaker does not consent: "{case.statement}"',
            remedy="Leave the clip out.",
            evidence={"consent": case.statement},
        )
    elif case.is_required and not case.is_stated:
        yield Hit(
            message="nobody wrote down that the speaker consents",
            remedy='Write "consent" into its manifest row: how you know, such as a date and a file.',
            evidence={"consent": case.statement},
        )


RULE = Rule(
    code="RP008",
    name="no-consent",
    summary="the speaker does not consent, or has to and nobody wrote it down",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=ConsentCase,
    check=check,
    page=__doc__,
)
