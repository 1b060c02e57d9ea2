"""`refprep lint` on labelled cases: recall, false alarms, undecided."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refprep.bench.labelled import read_rows
from refprep.errors import ManifestError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.text.compare import compare
from refprep.text.words import split_words
from refprep.types import FaultKind, TextCheck, Verdict

_REQUIRED = ("path", "language", "kind", "expect", "ref_text")
_EXPECTATIONS = ("pass", "warn", "fail")
_MISSING_KINDS = ("tail_missing", "head_missing", "middle_missing", "empty")
_EDGE_KINDS = ("tail_missing", "head_missing")
_EXTRA_KINDS = ("extra_tail", "extra_head", "extra_middle", "audio_cut")
_OTHER_KINDS = ("other_clip", "wrong_language")


@dataclass(frozen=True, slots=True)
class LintCase:
    """A text that a user might hand in with a clip.

    Attributes:
        expect: ``pass``, ``warn`` (one word off) or ``fail``.
        kind: How text and speech differ.
        words_missing: Spoken words (characters for zh, ja) that the text lacks.
    """

    case_id: str
    path: Path
    language: str
    kind: str
    expect: str
    text: str
    spoken: str
    words_missing: int


@dataclass(frozen=True, slots=True)
class LintOutcome:
    """A case and what lint said: ``pass``, ``warn``, ``fail`` or ``undecided``."""

    case: LintCase
    said: str
    reason: str
    suggested_text: str


def read_cases(path: Path) -> list[LintCase]:
    """Read labelled cases; audio paths are relative to the file's folder.

    Raises:
        ManifestError: The file cannot be read, or a row is not as described in manifests/README.md.
    """
    cases: list[LintCase] = []
    for where, row in read_rows(path, _REQUIRED):
        missing = row.get("words_missing", "").strip() or "0"
        if not missing.isdecimal():
            raise ManifestError(f"words_missing is {missing!r}", where=where, fix="Write a whole number.")
        if row["expect"] not in _EXPECTATIONS:
            raise ManifestError(
                f"expect is {row['expect']!r}", where=where, fix=f"Write one of {', '.join(_EXPECTATIONS)}."
            )
        cases.append(
            LintCase(
                case_id=row.get("case_id") or str(len(cases) + 1),
                path=path.parent / row["path"],
                language=row["language"],
                kind=row["kind"],
                expect=row["expect"],
                text=row["ref_text"],
                spoken=row.get("spoken_text", ""),
                words_missing=int(missing),
            )
        )
    return cases


def run_cases(
    cases: Sequence[LintCase], listener: Listener, *, on_case: Callable[[str], None] = lambda _: None
) -> tuple[list[LintOutcome], float, float]:
    """Hold every case's text against its audio.

    Returns:
        Outcomes in order, wall time in seconds, seconds of audio (each case counts its clip once).
    """
    outcomes: list[LintOutcome] = []
    audio_s = 0.0
    start = time.perf_counter()
    clip, clip_path = None, None
    for case in cases:
        if case.path != clip_path:
            clip, clip_path = decode_file(case.path), case.path
        if clip is None:
            continue
        audio_s += clip.duration_s
        check = listener.check(clip, case.text, language=case.language)
        outcomes.append(LintOutcome(case, _said(check), check.reason, check.suggested_text))
        on_case(case.case_id)
    return outcomes, time.perf_counter() - start, audio_s


def _said(check: TextCheck) -> str:
    if check.verdict is Verdict.PASS and any(f.kind is FaultKind.OTHER_WORD for f in check.faults):
        return "warn"
    return check.verdict.value


def summarise(
    outcomes: Sequence[LintOutcome],
    *,
    wall_s: float,
    audio_s: float,
    models: Mapping[str, str],
    span_errors_s: Sequence[float | None] = (),
) -> dict[str, Any]:
    """Figures of a run.

    Recall counts cases that must fail and do. A false alarm is a case that must pass and does not, undecided ones
    apart. ``suggested_text_wer`` is over the failing cases whose spoken text is known.

    Args:
        outcomes: Of the cases.
        wall_s: Of the run.
        audio_s: Of the cases.
        models: Role -> name.
        span_errors_s: As ``refprep.bench.spans.measure_spans`` gives them.
    """
    errors_ms = sorted(abs(e) * 1000.0 for e in span_errors_s if e is not None)
    confusion: dict[str, Counter[str]] = {}
    languages: dict[str, Counter[str]] = {}
    for o in outcomes:
        confusion.setdefault(f"{o.case.kind} ({o.case.expect})", Counter())[o.said] += 1
        languages.setdefault(o.case.language, Counter())[_grade(o)] += 1
    must_pass = [o for o in outcomes if o.case.expect == "pass"]
    errors = [
        _suggestion_error(o)
        for o in outcomes
        if o.case.expect == "fail" and o.said == "fail" and o.case.spoken
    ]
    recalls = {name: _recall(outcomes, belongs) for name, belongs in _RECALLS.items()}
    return {
        "schema_version": 1,
        "models": dict(models),
        "cases": len(outcomes),
        "passes": len(must_pass),
        **{name: _rate(found, of) for name, (found, of) in recalls.items()},
        "counts": {name: {"found": found, "of": of} for name, (found, of) in recalls.items()},
        "false_alarms": sum(o.said == "fail" for o in must_pass),
        "false_warnings": sum(o.said == "warn" for o in must_pass),
        "undecided": sum(o.said == "undecided" for o in outcomes),
        "undecided_of_passes": sum(o.said == "undecided" for o in must_pass),
        "suggested_text_wer": round(sum(errors) / len(errors), 4) if errors else None,
        "span_start_error_ms_median": _percentile(errors_ms, 0.5),
        "span_start_error_ms_p95": _percentile(errors_ms, 0.95),
        "span_starts": {"found": len(errors_ms), "of": len(span_errors_s)},
        "wall_s": round(wall_s, 2),
        "realtime_factor": round(wall_s / audio_s, 4) if audio_s else None,
        "confusion": {k: dict(v) for k, v in sorted(confusion.items())},
        "languages": {k: dict(v) for k, v in sorted(languages.items())},
        "wrong": [
            {
                "case_id": o.case.case_id,
                "kind": o.case.kind,
                "expect": o.case.expect,
                "said": o.said,
                "reason": o.reason,
            }
            for o in outcomes
            if _grade(o) != "right" and o.case.expect != "warn"
        ],
    }


def _percentile(ordered: Sequence[float], share: float) -> float | None:
    """Nearest rank."""
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 1) if ordered else None


def _grade(outcome: LintOutcome) -> str:
    if outcome.said == "undecided":
        return "undecided"
    if outcome.case.expect == "warn":
        return "right" if outcome.said in ("warn", "fail") else "missed"
    if outcome.case.expect == outcome.said:
        return "right"
    return "missed" if outcome.case.expect == "fail" else "false alarm"


def _is_missing(case: LintCase) -> bool:
    return case.expect == "fail" and case.kind.startswith(_MISSING_KINDS)


def _is_edge_word(case: LintCase) -> bool:
    return case.expect != "pass" and case.kind.startswith(_EDGE_KINDS) and case.words_missing == 1


_RECALLS: Mapping[str, Callable[[LintCase], bool]] = {
    "recall_missing": _is_missing,
    "recall_edge_word": _is_edge_word,
    "recall_extra": lambda case: case.kind in _EXTRA_KINDS,
    "recall_other_clip": lambda case: case.kind.startswith(_OTHER_KINDS),
}


def _recall(outcomes: Sequence[LintOutcome], belongs: Callable[[LintCase], bool]) -> tuple[int, int]:
    chosen = [o for o in outcomes if belongs(o.case)]
    return sum(o.said == "fail" for o in chosen), len(chosen)


def _rate(found: int, of: int) -> float | None:
    return round(found / of, 4) if of else None


def _suggestion_error(outcome: LintOutcome) -> float:
    spoken, suggested = split_words(outcome.case.spoken), split_words(outcome.suggested_text)
    return min(1.0, compare(suggested, spoken, outcome.case.language).error_rate)
