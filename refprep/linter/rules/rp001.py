"""RP001 unreadable-audio.

## What it checks
That the file decodes: it exists, is a regular file, holds audio, is whole, and every sample is a finite number.

## Why it matters
A file that half decodes gives half a reference, and a NaN turns every embedding and every code computed from it into
NaN.

## Example
    clips/ana_03.wav: RP001 error: the file is cut short: the header promises 10.00 s, 6.02 s are there

## How to fix
The message says what is wrong with this file: export it again, or take it off the list.

## Fix safety
There is no automatic fix: samples that are not there cannot be brought back.

## Threshold and its source
None: a file decodes or it does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.errors import RefprepError
from refprep.linter.rule import FixAvailability, Hit, Rule, Severity


def check(error: RefprepError) -> Iterator[Hit]:
    """An error is the finding."""
    yield Hit(error.what, error.fix)


RULE = Rule(
    code="RP001",
    name="unreadable-audio",
    summary="the file does not decode to usable audio",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=RefprepError,
    check=check,
    page=__doc__,
)
