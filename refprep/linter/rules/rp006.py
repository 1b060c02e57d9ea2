"""RP006 averaged-channels: the mean of the channels mixes different content.

## What it checks
Files whose channels differ and were averaged to one.

## Why it matters
The channels may be two speakers of a call, one on each side: their mean is overlapped speech, which no engine can
clone. Or two microphones at different distances: their mean sounds hollow (comb filter).

## Example
    call.flac: RP006 info: 2 channels of different content (correlation 0.01) were averaged

## How to fix
Export each channel as a file of its own, and lint those.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
A correlation below 0.9. In the speech pack the file with one speaker a channel has 0.00, the one ordinary stereo
recording (jfk.flac) 1.00.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import AudioSource, Downmix

MIN_CORRELATION = 0.9


def check(source: AudioSource) -> Iterator[Hit]:
    """Fire when the mean mixes what is not the same."""
    correlation = source.channel_correlation
    if source.downmix is Downmix.MEAN and correlation is not None and correlation < MIN_CORRELATION:
        yield Hit(
            message=f"{source.num_channels} channels of different content (correlation {correlation:.2f}) were averaged",
            remedy="if every channel is another speaker, export them as files of their own; else choose the best microphone",
            evidence={"correlation": correlation, "num_channels": source.num_channels},
        )


RULE = Rule(
    code="RP006",
    name="averaged-channels",
    summary="channels of different content were averaged",
    severity=Severity.INFO,
    fix=FixAvailability.NONE,
    noun=AudioSource,
    check=check,
    page=__doc__ or "",
)
