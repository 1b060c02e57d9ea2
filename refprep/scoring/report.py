"""ScoredOutput -> JSON, and a line for people."""

from __future__ import annotations

import math
from typing import Any

from refprep.linter.render import finding_json, sentence
from refprep.scoring.output import ScoredOutput
from refprep.types import LeakedWords, OutputWords, TextScore, VoiceWindow

SCHEMA_VERSION = 1


def output_json(output: ScoredOutput) -> dict[str, Any]:
    """All that is known of an output; spans in seconds."""
    score = output.score
    quality = score.quality
    return {
        "path": score.path,
        "passed": output.passed,
        "faults": list(output.faults),
        "duration_s": round(score.duration_s, 3),
        "speech_s": round(quality.speech_s, 3),
        "text": _text(score.text) if score.text is not None else None,
        "leaks": [_leak(leak) for leak in score.leaks],
        "windows": [_window(w) for w in score.windows],
        "pace_per_s": _finite(quality.pace_per_s),
        "pace_ratio": _finite(score.pace_ratio),
        "loudness_lufs": _finite(quality.loudness_lufs),
        "level_offset_db": _finite(score.level_offset_db),
        "leading_silence_s": round(quality.leading_silence_s, 3),
        "trailing_silence_s": round(quality.trailing_silence_s, 3),
        "longest_inner_silence_s": round(quality.longest_inner_silence_s, 3),
        "findings": [finding_json(f) for f in output.findings],
    }


def output_line(output: ScoredOutput) -> str:
    """One output in one line."""
    score = output.score
    parts = [f"{score.duration_s:.2f} s"]
    if score.text is not None:
        parts.append(f"{'CER' if score.text.is_in_characters else 'WER'} {score.text.error_rate:.1%}")
    parts += [f"leak at the {leak.edge.value}" for leak in score.leaks]
    for encoder in dict.fromkeys(w.encoder for w in score.windows):
        windows = [w for w in score.windows if w.encoder == encoder]
        scores = " ".join(f"{w.score:.2f}" for w in windows)
        parts.append(f"{encoder} {scores} (needs {windows[0].threshold:.2f})")
    if score.pace_ratio is not None:
        parts.append(f"pace x{score.pace_ratio:.2f}")
    if score.level_offset_db is not None:
        parts.append(f"level {score.level_offset_db:+.1f} dB")
    verdict = "passed" if output.passed else f"FAILED ({', '.join(output.faults)})"
    return f"{score.path}: {verdict}: {', '.join(parts)}"


def findings_text(output: ScoredOutput) -> str:
    """The findings for people, one line each and the help; empty without any."""
    lines: list[str] = []
    for finding in output.findings:
        place = f"{finding.path}:{finding.span.start_s:.2f}s" if finding.span else finding.path
        lines.append(f"{place}: {finding.code} {finding.severity.value}: {finding.message}")
        lines.append(f"  help: {sentence(finding.remedy)} `refprep explain {finding.code}`")
    return "\n".join(lines)


def _text(text: TextScore) -> dict[str, Any]:
    return {
        "error_rate": round(text.error_rate, 4),
        "unit": "CER" if text.is_in_characters else "WER",
        "verdict": text.check.verdict.value,
        "reason": text.check.reason,
        "given": text.check.given.text,
        "heard": text.check.heard.text,
        "faults": [_words(f) for f in text.faults],
    }


def _words(fault: OutputWords) -> dict[str, Any]:
    return {
        "fault": fault.fault.value,
        "words": fault.words,
        "instead": fault.instead,
        "place": fault.place,
        "start_s": round(fault.span.start_s, 3),
        "end_s": round(fault.span.end_s, 3),
    }


def _leak(leak: LeakedWords) -> dict[str, Any]:
    return {
        "edge": leak.edge.value,
        "words": leak.words,
        "start_s": round(leak.span.start_s, 3),
        "end_s": round(leak.span.end_s, 3),
        "cut_s": round(leak.cut_s, 3),
        "evidence": dict(leak.evidence),
    }


def _window(window: VoiceWindow) -> dict[str, Any]:
    return {
        "name": window.name,
        "start_s": round(window.span.start_s, 3),
        "end_s": round(window.span.end_s, 3),
        "speech_s": round(window.speech_s, 3),
        "encoder": window.encoder,
        "scale": window.scale,
        "score": round(window.score, 4),
        "threshold": window.threshold,
        "control": window.control,
        "control_score": _finite(window.control_score),
        "is_off": window.is_off,
    }


def _finite(value: float | None) -> float | None:
    return round(value, 4) if value is not None and math.isfinite(value) else None
