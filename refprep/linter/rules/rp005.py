"""RP005 inverted-channel: the channels would cancel each other.

## What it checks
Files in which one channel is the other with its sign turned: a wrongly wired balanced cable or plug.

## Why it matters
Engines that average the channels hear next to nothing, without any error. refprep keeps the first channel.

## Example
    ana_03.wav: RP005 warning: a channel is the negative of the first (correlation -1.000): their mean is silence; ...

## How to fix
Export the recording as mono from one of the channels.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
A correlation below -0.99: the mean is then at least 20 dB below either channel. Two microphones in one room stay far
from it. No clip of the speech pack fires; the test makes one.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import AudioSource, Downmix


def check(source: AudioSource) -> Iterator[Hit]:
    """Fire when an average would have cancelled the voice."""
    if source.downmix is Downmix.INVERTED:
        correlation = source.channel_correlation
        shown = "" if correlation is None else f" (correlation {correlation:.3f})"
        yield Hit(
            message=f"a channel is the negative of the first{shown}: their mean is silence; the first is kept",
            remedy="export it as mono from one channel, or invert one of them",
            evidence={"correlation": correlation},
        )


RULE = Rule(
    code="RP005",
    name="inverted-channel",
    summary="two channels are negatives of each other",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=AudioSource,
    check=check,
    page=__doc__ or "",
)
