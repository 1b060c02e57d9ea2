"""RP103 uncovered-audio-gap.

## What it checks
That no words are spoken between two words of the text that follow each other.
The given text is forced onto the audio, the audio is transcribed freely, and voice activity is measured; the finding
shows all three.

## Why it matters
From the gap on, text and audio run apart: the engine hears each word where it reads another, and clones a voice that
slurs or skips.

## Example
    clips/ana_03.wav:3.10s: RP103 error: 1.25 s inside have no text: "under the bridge" (coverage 88 %)

## How to fix
Insert the missing words where the finding says.

## Fix safety
Safe: the words that are heard go into the text, which keeps its own; no sample changes, and the copy is checked again.
The words are a recogniser's: read them. Nothing is ever cut out of the middle.

## Threshold and its source
A surplus of 7 heard letters in two words or more, or two whole words that the recogniser is sure of (0.65) beside text
it got right; half as sure (0.5) is enough where the word behind them loses 85 % of its forced probability without them. One word is reported from 6 letters and a probability of 0.9: recognisers put in short words of their own.
``refprep.pipeline.check_thresholds`` has all numbers and what they were measured on (``refprep bench lint`` measures them
again).
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.linter.rules.text_hits import missing_hits
from refprep.types import FaultKind, TextCheck


def check(check: TextCheck) -> Iterator[Hit]:
    """One hit for every fault of this kind."""
    return missing_hits(check, FaultKind.GAP)


RULE = Rule(
    code="RP103",
    name="uncovered-audio-gap",
    summary="words inside the audio are missing from the text",
    severity=Severity.ERROR,
    fix=FixAvailability.SAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
