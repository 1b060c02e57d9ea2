"""FileReport -> the values that a pair's template lays out. Nothing here is markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from refprep.linter.render import sentence
from refprep.linter.rule import Finding
from refprep.linter.run import FileReport
from refprep.report.lint.sound import LONG_S, Sound
from refprep.report.lint.words import Piece, text_pieces, word_places, words_without_place
from refprep.report.waveform import HALF_HEIGHT, axis_ticks, extent, place
from refprep.types import Span, TextCheck, Verdict

_VERDICTS = {
    Verdict.PASS: {"icon": "✓", "kind": "pass", "words": "The text fits", "counted": "fit"},
    Verdict.FAIL: {"icon": "✕", "kind": "fail", "words": "The text does not fit", "counted": "do not fit"},
    Verdict.UNDECIDED: {"icon": "?", "kind": "undecided", "words": "Undecided", "counted": "undecided"},
}
_UNREADABLE = {"icon": "✕", "kind": "fail", "words": "Not readable", "counted": "not readable"}
_NO_TEXT = {"icon": "–", "kind": "none", "words": "No text", "counted": "without a text"}
_NOT_CHECKED = {"icon": "–", "kind": "none", "words": "Text not checked", "counted": "not checked"}

ICONS = {"error": "✕", "warning": "!", "info": "i"}
_TAG = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")
# Room for a rule's code on the narrowest window, as a part of the width; marks that would touch take another lane.
_LABEL_WIDTH = 0.16
_MOST_LANES = 4
# A long clip is not squeezed into the window: it scrolls, as wide a second as 30 s have in a wide window.
_LONG_PX_PER_S = 36.0


def pair_view(report: FileReport, number: int, sound: Sound | None, why_silent: str) -> dict[str, Any]:
    """Everything the template of a pair with findings reads.

    Args:
        report: What was found.
        number: Of the pair, from 1.
        sound: To be drawn and played; None without.
        why_silent: Why there is none.
    """
    check = report.check
    runs = text_pieces(check) if check else []
    view = row_view(report, number)
    return {
        **view,
        "source": report.utterance.source,
        "speaker": report.utterance.speaker,
        "reason": sentence(check.reason) if check and check.reason else "",
        "findings": [_finding_view(f, k) for k, f in enumerate(report.findings)],
        "check": check,
        "runs": runs,
        "unplaced": words_without_place(check) if check else (),
        "suggested": _suggested(report),
        "measures": _measures(report),
        "why_silent": why_silent,
        "sound": sound,
        "picture": _picture(report, sound, runs) if sound else None,
    }


def row_view(report: FileReport, number: int) -> dict[str, Any]:
    """What is said of every pair, also of one without findings."""
    check = report.check
    language = (check.given.language or check.heard.language) if check else report.utterance.language
    return {
        "id": f"pair-{number}",
        "number": number,
        "path": report.path,
        "verdict": _verdict(report),
        "duration_s": report.duration_s,
        "language": language.replace("_", "-") if _TAG.fullmatch(language) else "",
        "text": check.given.text if check else report.utterance.text or "",
    }


def _verdict(report: FileReport) -> Mapping[str, str]:
    if report.check:
        return _VERDICTS[report.check.verdict]
    if report.duration_s is None:
        return _UNREADABLE
    return _NO_TEXT if report.utterance.text is None else _NOT_CHECKED


def _finding_view(finding: Finding, index: int) -> dict[str, Any]:
    return {
        "finding": finding,
        "index": index,
        "icon": ICONS[finding.severity.value],
        "message": sentence(finding.message),
        "remedy": sentence(finding.remedy),
        "evidence": [(k.replace("_", " "), _value(v)) for k, v in finding.evidence.items()],
    }


def _value(value: float | int | str | None) -> str:
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    return "–" if value is None else str(value)


def _suggested(report: FileReport) -> str:
    """What the text should be; empty where nothing is to be changed."""
    given = report.check.given.text if report.check else report.utterance.text
    texts = [f.suggested_text for f in report.findings if f.suggested_text is not None]
    return next((t for t in texts if t != given), "")


def _measures(report: FileReport) -> list[tuple[str, float | None, int, str]]:
    """(name, value, digits, unit) of the signal; empty for a file that does not decode."""
    q = report.quality
    if q is None:
        return []
    inner = [("Longest pause", q.longest_inner_silence_s, 2, "s")] if q.longest_inner_silence else []
    pace = "characters/s" if q.is_pace_in_characters else "syllables/s"
    return [
        ("Loudness", q.loudness_lufs, 1, "LUFS"),
        ("True peak", q.true_peak_dbtp, 1, "dBTP"),
        (f"SNR ({q.snr_method.value.replace('-', ' ')})", q.snr_db, 1, "dB"),
        ("Bandwidth", q.bandwidth_hz / 1000, 1, "kHz"),
        ("Sample rate", q.sample_rate_hz / 1000, 1, "kHz"),
        ("Clipped", 100 * q.clipped_ratio, 2, "%"),
        ("Silence before", q.leading_silence_s, 2, "s"),
        ("Silence after", q.trailing_silence_s, 2, "s"),
        *inner,
        ("Pace", q.pace_per_s, 1, pace),
    ]


def _picture(report: FileReport, sound: Sound, runs: Sequence[Sequence[Piece]]) -> dict[str, Any]:
    """What lies where on the time axis."""
    duration_s, check = sound.duration_s, report.check
    label = _LABEL_WIDTH * min(1.0, LONG_S / duration_s)
    marks = _marks(report.findings, duration_s, label)
    lanes = 1 + max((m["lane"] for m in marks), default=-1)
    return {
        "width": f"{duration_s * _LONG_PX_PER_S:.0f}" if duration_s > LONG_S else "100%",
        "columns": sound.columns,
        "box": 2 * HALF_HEIGHT,
        "marks": marks,
        "marks_height": 20 * lanes,
        "speech": [_at(s, duration_s) for s in report.speech],
        "uncovered": [_at(s, duration_s) for s in check.coverage.uncovered] if check else [],
        "words": _words(check, runs, duration_s) if check else [],
        "ticks": [{"time_s": t, "at": place(t, duration_s)} for t in axis_ticks(duration_s)],
    }


def _words(check: TextCheck, runs: Sequence[Sequence[Piece]], duration_s: float) -> list[dict[str, Any]]:
    words = check.alignment.words
    struck = {p.index for run in runs for p in run if p.mark == "struck"}
    return [
        {"index": k, "text": words[k].text, "is_struck": k in struck, **_at(span, duration_s)}
        for k, span in word_places(check, len(words)).items()
    ]


def _marks(findings: Sequence[Finding], duration_s: float, label: float) -> list[dict[str, Any]]:
    """Findings that have a place, in lanes: none covers another's code, which is ``label`` of the picture wide."""
    ends: list[float] = []
    marks = []
    for index, finding in enumerate(findings):
        if finding.span is None:
            continue
        left = min(1.0, finding.span.start_s / duration_s)
        right = min(1.0, finding.span.end_s / duration_s)
        is_late = left > 1.0 - label  # its code would leave the picture: it stands before the end
        if is_late:
            left = min(left, 1.0 - label)
        lane = next((k for k, end in enumerate(ends) if end <= left), len(ends))
        lane = min(lane, _MOST_LANES - 1)
        ends[lane : lane + 1] = [max(right, left + label)]
        marks.append(
            {
                "index": index,
                "finding": finding,
                "icon": ICONS[finding.severity.value],
                "lane": lane,
                "y": 20 * lane,
                "is_late": is_late,
                **_at(finding.span, duration_s),
            }
        )
    return marks


def _at(span: Span, duration_s: float) -> dict[str, Any]:
    return extent(span.start_s, min(span.end_s, max(duration_s, span.start_s)), duration_s)
