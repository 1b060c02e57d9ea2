"""RP003 header-duration-mismatch: what the header claims is not what decodes.

## What it checks
The duration that the header claims (Xing, Info and VBRI tags of MP3, track durations of MP4, MOV, Matroska, AVI and
others) against what decodes. Files that are cut within a container that says its own size are refused while decoding.

## Why it matters
Either audio is missing, and the text says more than the audio; or the header lies, and players and engines that trust
it cut or pad. One public reference MP3 claims 40 s and holds 15 s.

## Example
    ana_03.mp3: RP003 warning: the header claims 40.00 s, 15.02 s decode

## How to fix
Listen to the end. When words are missing, copy or download the file again; otherwise export it again.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
0.2 s. Encoders count their own delay and padding: over the ten compressed clips of the speech pack the claim exceeds
what decodes by at most 0.082 s (a 32 kbit/s MP3).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import AudioSource

MAX_DIFFERENCE_S = 0.2


def check(source: AudioSource) -> Iterator[Hit]:
    """Fire when the claim and the truth differ."""
    declared_s, decoded_s = source.declared_duration_s, source.decoded_duration_s
    if declared_s is not None and abs(declared_s - decoded_s) > MAX_DIFFERENCE_S:
        yield Hit(
            message=f"the header claims {declared_s:.2f} s, {decoded_s:.2f} s decode",
            remedy="listen to its end; if nothing is missing, export it again as WAV or FLAC",
            evidence={"declared_s": declared_s, "decoded_s": decoded_s},
        )


RULE = Rule(
    code="RP003",
    name="header-duration-mismatch",
    summary="the header claims another duration than decodes",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    noun=AudioSource,
    check=check,
    page=__doc__ or "",
)
