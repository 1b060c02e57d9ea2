"""An output with nothing wrong, and one with each fault, as values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from fakes import spoken

from refprep.types import (
    Alignment,
    Coverage,
    LeakedWords,
    Origin,
    OutputEdge,
    OutputScore,
    OutputWords,
    QualityReport,
    Span,
    TextCheck,
    TextScore,
    Transcript,
    Verdict,
    VoiceWindow,
    WordsFault,
)

TEXT = "the moon rose over the river"
SPEECH = (Span(0.2, 3.0),)
_SAID = [(w, 0.2 + 0.45 * k, 0.6 + 0.45 * k) for k, w in enumerate(TEXT.split())]
QUALITY = QualityReport(
    loudness_lufs=-20.0,
    speech_level_dbfs=-22.0,
    true_peak_dbtp=-3.0,
    clipped_ratio=0.0,
    snr_db=40.0,
    bandwidth_hz=8000.0,
    sample_rate_hz=24_000,
    dc_offset=0.0,
    leading_silence_s=0.2,
    trailing_silence_s=0.4,
    longest_inner_silence_s=0.0,
    longest_inner_silence=None,
    tail_level_dbfs=-math.inf,
    pace_per_s=4.0,
    duration_s=3.4,
    speech_s=2.8,
)
CHECK = TextCheck(
    given=Transcript(TEXT, "en"),
    heard=Transcript(TEXT, "en", words=spoken(_SAID), origin=Origin.ASR, model="fake-asr"),
    alignment=Alignment(spoken(_SAID), "fake-asr"),
    coverage=Coverage(SPEECH, (), (), 0.0, 0.0),
    error_rate=0.0,
    verdict=Verdict.PASS,
    reason="",
    faults=(),
    suggested_text=TEXT,
)
WINDOW = VoiceWindow(
    "early",
    Span(0.2, 1.6),
    1.4,
    "ge2e",
    "as-norm",
    score=4.1,
    threshold=1.8,
    control="ben",
    control_score=1.2,
)
SCORE = OutputScore(
    path="out.wav",
    quality=QUALITY,
    speech=SPEECH,
    text=TextScore(CHECK, 0.0, False, ()),
    leaks=(),
    windows=(WINDOW, replace(WINDOW, name="late", span=Span(1.6, 3.0))),
    pace_ratio=1.02,
    level_offset_db=0.7,
)
HEAD_LEAK = LeakedWords(
    OutputEdge.HEAD,
    "the lime",
    Span(0.2, 0.71),
    0.71,
    {"log_likelihood_gain": 6.2, "forced_probability": 0.8},
)
TAIL_LEAK = LeakedWords(OutputEdge.TAIL, "thank you", Span(2.4, 3.0), 2.4, {"log_likelihood_gain": 6.2})


def with_words(
    fault: WordsFault, words: str, *, place: str = "tail", instead: str = "", error_rate: float = 0.2
) -> OutputScore:
    """One fault of words."""
    found = OutputWords(fault, words, Span(2.1, 3.0), place, {"heard": words}, instead)
    return replace(SCORE, text=TextScore(CHECK, error_rate, False, (found,)))


def with_window(score: float, *, control_score: float | None = 1.2, name: str = "late") -> OutputScore:
    """One window with another score."""
    odd = replace(WINDOW, name=name, score=score, control_score=control_score)
    return replace(SCORE, windows=(WINDOW, odd))


def with_quality(**changes: object) -> OutputScore:
    """Another signal."""
    return replace(SCORE, quality=replace(QUALITY, **changes))  # type: ignore[arg-type]


def undecided(reason: str, faults: Sequence[OutputWords] = ()) -> OutputScore:
    """The witnesses do not agree."""
    check = replace(CHECK, verdict=Verdict.UNDECIDED, reason=reason)
    return replace(SCORE, text=TextScore(check, 0.5, False, tuple(faults)))
