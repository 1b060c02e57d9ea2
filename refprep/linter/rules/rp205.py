"""RP205 long-edge-silence: there is much silence at an edge.

## What it checks
The time from the start of the file to the first speech, and from the last speech to the end. Edges are found relative
to the clip's own speech level, so soft final consonants count as speech.

## Why it matters
Leading silence is inherited by the clone, and silence takes the place of speech in engines that keep a fixed length.

## Example
    silence_roomtone.wav: RP205 warning: 4.25 s of silence before the speech (limit 1.0 s)

## How to fix
Trim the edge, leaving 0.2 s of the recording's own room tone.

## Fix safety
Safe: only samples outside of the speech are removed, those that stay are bit-identical.

## Threshold and its source
1.0 s. None of the LibriSpeech, LJSpeech and VCTK originals of the speech pack has more than 0.61 s at either edge; 9 of
its other 35 clean originals fire (fixed-length and browser recordings). `silence_digital.wav` (2.5 and 3 s added) reads
2.95 and 3.35 s, `silence_roomtone.wav` (4 and 2 s) 4.25 and 2.24 s.
"""

from __future__ import annotations

from collections.abc import Iterator

from refprep.linter.rule import FixAvailability, Hit, Rule, Severity
from refprep.types import QualityReport, Span

MAX_EDGE_S = 1.0
KEPT_EDGE_S = 0.2


def check(report: QualityReport) -> Iterator[Hit]:
    """Fire for each edge."""
    if report.speech_s <= 0.0:  # RP211 says so
        return
    edges = (
        ("before", "leading", report.leading_silence_s, 0.0),
        ("after", "trailing", report.trailing_silence_s, report.duration_s - report.trailing_silence_s),
    )
    for where, name, silence_s, start_s in edges:
        if silence_s > MAX_EDGE_S:
            start_s = max(0.0, start_s)
            yield Hit(
                message=f"{silence_s:.2f} s of silence {where} the speech (limit {MAX_EDGE_S:.1f} s)",
                remedy=f"trim {silence_s - KEPT_EDGE_S:.2f} s: keep {KEPT_EDGE_S:.1f} s {where} the speech",
                span=Span(start_s, start_s + silence_s),
                evidence={f"{name}_silence_s": silence_s},
            )


RULE = Rule(
    code="RP205",
    name="long-edge-silence",
    summary="long silence before or after the speech",
    severity=Severity.WARNING,
    fix=FixAvailability.SAFE,
    noun=QualityReport,
    check=check,
    page=__doc__ or "",
)
