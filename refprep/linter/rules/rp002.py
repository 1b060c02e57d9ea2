"""RP002 misnamed-container: the name's extension belongs to another container.

## What it checks
The file's extension against the container found in its first bytes.

## Why it matters
Tools that trust the name fail on such a file or read it as noise, and a lossy file passes for an original. One
public reference voice is called `.wav` and is an MP3.

## Example
    ana_03.wav: RP002 info: the name says .wav, the content is mp3 (mp3)

## How to fix
Rename the file, or look for the original that it was made from.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
No threshold. Extensions that are not on our list, and families that share a container (m4a, mp4 and mov; webm and
mkv), are never sourceed. Of the 181 clips of the speech pack none is misnamed, and none is sourceed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import AudioSource


def check(source: AudioSource) -> Iterator[Hit]:
    """Fire when the name lies."""
    if source.extension_lies:
        suffix = PurePath(source.path).suffix
        yield Hit(
            message=f"the name says {suffix}, the content is {source.container} ({source.codec})",
            remedy=f"rename it to {PurePath(source.path).stem}.{source.container}",
            evidence={"extension": suffix, "container": source.container, "codec": source.codec},
        )


RULE = Rule(
    code="RP002",
    name="misnamed-container",
    summary="the extension belongs to another container",
    severity=Severity.INFO,
    fix=FixAvailability.NONE,
    noun=AudioSource,
    check=check,
    page=__doc__ or "",
)
