"""RP007 narrowed-samples: the file is finer than float32.

## What it checks
32-bit integer and 64-bit float files whose samples do not all fit a 32-bit float.

## Why it matters
refprep keeps and compares samples as 32-bit floats; the promise of bit-identical samples holds for the rounded ones.

## Example
    ana_03.wav: RP007 info: pcm_s32le samples are finer than 32-bit float and were rounded (by less than -150 dBFS)

## How to fix
Export as 24-bit PCM or 32-bit float. No microphone delivers more than 24 bits.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
No threshold: any sample that changed. 32-bit files with 24 bits of content do not fire.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import AudioSource


def check(source: AudioSource) -> Iterator[Hit]:
    """Fire when float32 could not hold a sample."""
    if source.is_narrowed:
        yield Hit(
            message=f"{source.codec} samples are finer than 32-bit float and were rounded (by less than -150 dBFS)",
            remedy="nothing to hear; for bit-identical copies export it as 24-bit or 32-bit float",
            evidence={"codec": source.codec},
        )


RULE = Rule(
    code="RP007",
    name="narrowed-samples",
    summary="samples finer than float32 were rounded",
    severity=Severity.INFO,
    fix=FixAvailability.NONE,
    noun=AudioSource,
    check=check,
    page=__doc__ or "",
)
