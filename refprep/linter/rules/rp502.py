"""RP502 stale-codes.

## What it checks
That the codes beside a reference were made of its samples: the hash of the canonical PCM in their key against that of
`reference.wav`.

## Why it matters
Codes of another recording beside this text are a text that does not fit its audio, which no engine survives. A server
that kept codes by path went on with the old ones when the file was replaced (vllm-omni issue 4873).

## Example
    voices/ana/reference.wav: RP502 error: codes/5be2a0c1: these codes are of other audio (PCM 8038377a3c2c) than the reference (1f0e9dd04b5a)

## How to fix
Encode the voice again, and remove the file. `refprep` itself never uses it.

## Fix safety
There is no automatic fix: the checkpoint is needed.

## Threshold and its source
None: the hashes are equal or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import CodesCase


def check(case: CodesCase) -> Iterator[Hit]:
    """A hit for codes of other samples."""
    made_of = case.entry.key.audio_sha256
    if made_of != case.audio_sha256:
        yield Hit(
            message=f"{case.name}: these codes are of other audio (PCM {made_of[:12]}) than the reference ({case.audio_sha256[:12]})",
            remedy="Remove the file, and encode the voice again: `refprep encode VOICE --model M`.",
            evidence={"codes_audio_sha256": made_of, "audio_sha256": case.audio_sha256},
        )


RULE = Rule(
    code="RP502",
    name="stale-codes",
    summary="codes are of other audio than the reference",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=CodesCase,
    check=check,
    page=__doc__,
)
