"""RP101 uncovered-audio-tail.

## What it checks
That no words are spoken after the last word of the text.
The given text is forced onto the audio, the audio is transcribed freely, and voice activity is measured; the finding
shows all three.

## Why it matters
An engine that clones in context reads text and audio side by side. Where the text stops first, Qwen3-TTS falls into
repeating one token and never ends (3 of 3 runs with text for 6 of 10 s); one missing last word was enough to ruin 6 of
6 outputs in another report.

## Example
    clips/ana_03.wav:6.02s: RP101 error: the last 3.98 s have no text: "and left at dawn." (coverage 60 %)

## How to fix
Complete the text (the suggestion is in the finding), or cut the audio at the pause before the missing words.

## Fix safety
Safe: the words that are heard go into the text, which keeps its own; no sample changes, and the copy is checked again.
The words are a recogniser's: read them. Where that copy is not clean, `--unsafe-fixes` cuts the audio at the last
pause before the missing words, and text with it.

## Threshold and its source
A surplus of 6 heard letters, of 3 with 0.35 s of voice after the last aligned word, or whole words with voice that the
recogniser is sure of beside text it got right. Any heard word counts, "I" and "so", too, where the model, made to say the
text, gives less than 0.3 to ending there: full texts reach 0.82 and more, texts without their last word 0.19 at most.
The span begins where the last covered word ends, by voice activity and energy.
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
    return missing_hits(check, FaultKind.TAIL)


RULE = Rule(
    code="RP101",
    name="uncovered-audio-tail",
    summary="the tail of the audio is not covered by the text",
    severity=Severity.ERROR,
    fix=FixAvailability.SAFE,
    noun=TextCheck,
    check=check,
    page=__doc__,
)
