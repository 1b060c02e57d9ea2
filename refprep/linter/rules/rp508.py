"""RP508 damaged-codes.

## What it checks
That every file in a voice's `codes` folder is a whole entry: safetensors, of the layout that this refprep reads, under the
name of its key, and with the content that its SHA-256 says.

## Why it matters
A byte that changed is another code, which is heard as another sound, or as another voice. `refprep` never uses such a
file; another program might.

## Example
    voices/ana/reference.wav: RP508 error: codes/5be2a0c1...safetensors: its content does not fit its SHA-256

## How to fix
Remove the file, and encode the voice again: `refprep encode VOICE --model M`.

## Fix safety
There is no automatic fix: the checkpoint is needed.

## Threshold and its source
None: the hashes are equal or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import DamagedCodes


def check(damaged: DamagedCodes) -> Iterator[Hit]:
    """A hit, always."""
    yield Hit(
        message=f"{damaged.name}: {damaged.what}",
        remedy="Remove the file, and encode the voice again: `refprep encode VOICE --model M`.",
        evidence={"file": damaged.path},
    )


RULE = Rule(
    code="RP508",
    name="damaged-codes",
    summary="a file of codes is not what was written",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=DamagedCodes,
    check=check,
    page=__doc__,
)
