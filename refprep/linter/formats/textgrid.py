"""Words, speech and findings -> a Praat TextGrid.

An interval tier of Praat has no gaps, no overlaps and no intervals without length, and covers the sound from end to
end; times are rounded once, to microseconds, so that neighbours share their boundary to the digit.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from refprep.linter.formats.place import one_line
from refprep.linter.run import FileReport
from refprep.types import Span

_Interval = tuple[float, float, str]
_POINT_S = 0.001  # a finding without length is made this long, to be seen


def to_textgrid(report: FileReport) -> str:
    """Three interval tiers: ``words`` as aligned, ``speech`` by voice activity, ``findings``.

    A written word that has no time of its own (nobody says it) stands in the interval of the word before it, or of the
    word after it at the start. Findings that overlap stand in one interval, separated by bars.

    Raises:
        ValueError: The file did not decode, or is empty.
    """
    end_s = round(report.duration_s or 0.0, 6)
    if end_s <= 0:
        raise ValueError(f"a TextGrid needs a length: {report.path}")
    words = [(w.span, one_line(w.text)) for w in report.check.alignment.words] if report.check else []
    found = [
        (f.span or Span(0.0, end_s), one_line(f"{f.code} {f.severity.value}: {f.message}"))
        for f in report.findings
    ]
    tiers = {
        "words": _fill(_in_turn(words, end_s), end_s),
        "speech": _fill(_in_turn([(s, "speech") for s in report.speech], end_s), end_s),
        "findings": _overlay(found, end_s),
    }
    lines = [
        'File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {end_s:.6f}",
        "tiers? <exists>", f"size = {len(tiers)}", "item []:",
    ]  # fmt: skip
    for number, (name, intervals) in enumerate(tiers.items(), start=1):
        lines += [
            f"    item [{number}]:", '        class = "IntervalTier"', f'        name = "{name}"',
            "        xmin = 0", f"        xmax = {end_s:.6f}", f"        intervals: size = {len(intervals)}",
        ]  # fmt: skip
        for k, (start, end, text) in enumerate(intervals, start=1):
            quoted = text.replace('"', '""')
            lines += [
                f"        intervals [{k}]:", f"            xmin = {start:.6f}", f"            xmax = {end:.6f}",
                f'            text = "{quoted}"',
            ]  # fmt: skip
    return "\n".join(lines)


def _in_turn(labels: Iterable[tuple[Span, str]], end_s: float) -> list[_Interval]:
    """Labels one after another; a later one starts where the earlier ends, and joins it where no time is left."""
    placed: list[_Interval] = []
    waiting: list[str] = []
    for span, text in labels:
        start = max(placed[-1][1] if placed else 0.0, round(span.start_s, 6))
        end = min(round(span.end_s, 6), end_s)
        if end > start:
            placed.append((start, end, " ".join([*waiting, text])))
            waiting = []
        elif placed:
            first, last, before = placed[-1]
            placed[-1] = (first, last, f"{before} {text}")
        else:
            waiting.append(text)
    return placed or ([(0.0, end_s, " ".join(waiting))] if waiting else [])


def _fill(placed: Iterable[_Interval], end_s: float) -> list[_Interval]:
    """Empty intervals wherever there is no label."""
    filled: list[_Interval] = []
    now = 0.0
    for start, end, text in placed:
        if start > now:
            filled.append((now, start, ""))
        filled.append((start, end, text))
        now = end
    if now < end_s:
        filled.append((now, end_s, ""))
    return filled


def _overlay(labels: Iterable[tuple[Span, str]], end_s: float) -> list[_Interval]:
    """Cut at every start and end; each piece carries the labels that hold there."""
    spans: list[_Interval] = []
    for span, text in labels:
        start, end = max(0.0, round(span.start_s, 6)), min(round(span.end_s, 6), end_s)
        if end <= start:
            start = min(start, max(0.0, round(end_s - _POINT_S, 6)))
            end = min(round(start + _POINT_S, 6), end_s)
        spans.append((start, end, text))
    cuts = sorted({0.0, end_s, *(s for s, _, _ in spans), *(e for _, e, _ in spans)})
    return [(a, b, " | ".join(t for s, e, t in spans if s <= a and b <= e)) for a, b in pairwise(cuts)]
