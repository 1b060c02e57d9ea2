"""RP004 dead-channel: one channel carries no signal.

## What it checks
Files of several channels of which only one has a signal.

## Why it matters
Most engines average the channels: the voice becomes 6 dB quieter with two, and the noise of the dead input is added.
refprep keeps the live channel, sample for sample.

## Example
    ana_03.wav: RP004 warning: channel 2 of 2 is silent; channel 1 is kept as it is

## How to fix
Export the recording as mono from the live channel, and check the cable or the interface before the next take.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
A channel is dead when its peak is at most two steps of 16 bits (-84 dBFS) and 40 dB below the live one. In the speech
pack that is `stereo_left_only.wav` and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import AudioSource, Downmix


def check(source: AudioSource) -> Iterator[Hit]:
    """Fire when a channel was left out because nothing is in it."""
    if source.downmix is Downmix.LIVE_CHANNEL:
        live = max(range(source.num_channels), key=lambda c: source.channel_peaks[c])
        dead = [c + 1 for c in range(source.num_channels) if c != live]
        yield Hit(
            message=f"channel {', '.join(map(str, dead))} of {source.num_channels} is silent; channel {live + 1} is kept as it is",
            remedy="export it as mono, from the live channel: players and engines that average lose 6 dB",
            evidence={
                "live_channel": live + 1,
                "num_channels": source.num_channels,
                "peak": source.channel_peaks[live],
            },
        )


RULE = Rule(
    code="RP004",
    name="dead-channel",
    summary="one channel is silent; the live one is kept",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=AudioSource,
    check=check,
    page=__doc__ or "",
)
