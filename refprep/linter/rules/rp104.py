"""RP104 unspoken-text.

## What it checks
That every word of the text is in the audio.
The given text is forced onto the audio, the audio is transcribed freely, and voice activity is measured; the finding
shows all three.

## Why it matters
The engine waits for speech that never comes: it leaks those words into the output. F5-TTS cuts the audio at 12 s and
keeps the whole text, and so makes this fault itself.

## Example
    clips/ana_03.wav:9.80s: RP104 error: nobody says "thank you for listening" (4 words)

## How to fix
Take the words out of the text, or use the whole recording.

## Fix safety
Safe: only words that recogniser and aligner both find nowhere in the audio leave the text; no sample changes, and the
copy is checked again.

## Threshold and its source
Two words without length and with a probability below 0.1, or a stretch of at least 4 letters whose mean probability
is below 0.15, or whole words that only the text has with a mean below 0.2; spoken words reach 0.9, words nobody says 0.00-0.02.
Words that are written twice and heard once count where one copy gets no time and its first word no probability.
``refprep.pipeline.check_thresholds`` has all numbers and what they were measured on (``refprep bench lint`` measures them
again).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import unspoken_hits
from refprep.types import FaultKind, TextCheck


def check(check: TextCheck) -> Iterator[Hit]:
    """One hit for every fault of this kind."""
    return unspoken_hits(check, FaultKind.UNSPOKEN)


RULE = Rule(
    code="RP104",
    name="unspoken-text",
    summary="the text holds words that nobody says",
    severity=Severity.ERROR,
    fix=FixAvailability.SAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
