"""RP207 unusual-pace: the pace is out of the ordinary.

## What it checks
Syllables of the text, estimated from its vowel groups, for each second of speech; characters for Chinese, Japanese and
Korean. Clips with less than 1.5 s of speech are left out.

## Why it matters
Clones inherit the pace of the reference. A pace no one speaks at also says that the text is not the audio's.

## Example
    ana_03.wav: RP207 info: 9.4 syllables (estimated) a second of speech: unusually fast (ordinary: 2.2 to 8)

## How to fix
Check the text first (RP101, RP104). If it fits, choose a clip of the pace you want.

## Fix safety
None: refprep changes no samples for this.

## Threshold and its source
2.2 to 8 syllables a second; 2 to 10 characters. Over the 111 clean originals of the speech pack with a text 90 % read
2.8 to 5.8 and all with 1.5 s of speech and more 2.3 to 7.0; the estimate errs by some 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport

SYLLABLES_PER_S = (2.2, 8.0)
CHARACTERS_PER_S = (2.0, 10.0)
MIN_SPEECH_S = 1.5


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire outside of the range of ordinary speech."""
    pace = report.pace_per_s
    if pace is None or report.speech_s < MIN_SPEECH_S:
        return
    unit = "characters" if report.is_pace_in_characters else "syllables (estimated)"
    lowest, highest = CHARACTERS_PER_S if report.is_pace_in_characters else SYLLABLES_PER_S
    if pace < lowest or pace > highest:
        word = "slow" if pace < lowest else "fast"
        yield Hit(
            message=f"{pace:.1f} {unit} a second of speech: unusually {word} (ordinary: {lowest:g} to {highest:g})",
            remedy="check that the text fits the audio; if it does, clones will speak at this pace: choose a calmer clip if unwanted",
            evidence={"pace_per_s": pace, "speech_s": report.speech_s},
        )


RULE = Rule(
    code="RP207",
    name="unusual-pace",
    summary="very slow or very fast speech",
    severity=Severity.INFO,
    fix=FixAvailability.NONE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
