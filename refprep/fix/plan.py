"""A pair's report -> the changes that would mend it, in the order in which they are worth trying. Nothing is read here.

Safe changes keep every spoken word and every sample of speech: the text gets the words that are heard and loses the
words nobody says (RP101-RP104); silence at the edges is trimmed (RP205). The others wait to be asked for: text that is
only the recogniser's (RP105, RP106, RP108), and cuts at a pause, which take speech and its words together (RP101 and
RP102 that no completion mends, RP107 where voice without words follows, RP209).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from refprep.fix.cuts import EDGE_S, WordTimes, head_cuts, tail_cuts
from refprep.fix.step import Step
from refprep.linter.rules.rp205 import KEPT_EDGE_S
from refprep.linter.run import FileReport
from refprep.pipeline.mend import mended_text
from refprep.types import FaultKind, Span, TextCheck, TextFault, Verdict

SAFE_TEXT = {
    FaultKind.TAIL: "RP101",
    FaultKind.HEAD: "RP102",
    FaultKind.GAP: "RP103",
    FaultKind.UNSPOKEN: "RP104",
}
ALL_TEXT = SAFE_TEXT | {FaultKind.WRONG_TEXT: "RP105", FaultKind.OTHER_WORD: "RP106"}
MISSING_TEXT, UNDECIDED, LONG_EDGE, LOUD_TAIL = "RP108", "RP107", "RP205", "RP209"


@dataclass(frozen=True, slots=True)
class Plan:
    """What there is to try.

    Attributes:
        steps: The one that keeps most first.
        obstacles: Why a finding that has a fix gets none, in a clause each.
    """

    steps: tuple[Step, ...]
    obstacles: tuple[str, ...]


def plan_fixes(
    report: FileReport, voice: Sequence[Span], *, unsafe: bool, heard_text: str | None = None
) -> Plan:
    """Find what would mend a pair.

    Args:
        report: Of the pair as it is now; its findings say what is wanted.
        voice: Refined voice activity of the same audio: sorted, disjoint.
        unsafe: Also what puts a recogniser's text in place of a user's, or loses speech.
        heard_text: What the recogniser hears; for a pair without text.
    """
    codes = {f.code for f in report.findings}
    whole = Span(0.0, report.duration_s or 0.0)
    text = report.utterance.text
    keep = _trimmed(report, whole) if LONG_EDGE in codes else whole
    trims = frozenset({LONG_EDGE} if keep != whole else ())
    written: list[tuple[str | None, frozenset[str]]] = []
    if unsafe and MISSING_TEXT in codes and text is None and heard_text:
        written.append((heard_text, frozenset({MISSING_TEXT})))
    for kinds in (ALL_TEXT, SAFE_TEXT) if unsafe else (SAFE_TEXT,):
        faults = _faults(report.check, kinds, codes)
        if (
            report.check is not None
            and faults
            and (mended := mended_text(report.check.given, report.check.heard, faults))
        ):
            written.append((mended, frozenset(ALL_TEXT[f.kind] for f in faults)))
    steps = [Step(t, keep, c | trims) for t, c in written]
    steps += [Step(t, whole, c) for t, c in written]
    if trims:
        steps.append(Step(text, keep, trims))
    obstacles: list[str] = []
    if unsafe:
        steps += _cuts(report, voice, codes, obstacles)
    return Plan(tuple(dict.fromkeys(steps)), tuple(obstacles))


def _faults(
    check: TextCheck | None, kinds: dict[FaultKind, str], codes: Collection[str]
) -> tuple[TextFault, ...]:
    """Those that are reported: what is ignored stays as it is."""
    faults = check.faults if check is not None else ()
    return tuple(f for f in faults if kinds.get(f.kind) in codes)


def _trimmed(report: FileReport, whole: Span) -> Span:
    """What is left when the long edges that were found are cut to ``KEPT_EDGE_S``; never less than the speech."""
    long = {name for f in report.findings if f.code == LONG_EDGE for name in f.evidence}
    quality, speech = report.quality, report.speech
    if quality is None or not speech:
        return whole
    start_s, end_s = whole.start_s, whole.end_s
    if "leading_silence_s" in long:
        start_s = max(0.0, min(quality.leading_silence_s - KEPT_EDGE_S, speech[0].start_s))
    if "trailing_silence_s" in long:
        end_s = min(end_s, max(end_s - quality.trailing_silence_s + KEPT_EDGE_S, speech[-1].end_s))
    return Span(start_s, end_s)


def _cuts(
    report: FileReport, voice: Sequence[Span], codes: Collection[str], obstacles: list[str]
) -> Iterator[Step]:
    check, text, duration_s = report.check, report.utterance.text, report.duration_s or 0.0
    if LOUD_TAIL in codes and voice and duration_s - voice[-1].end_s > EDGE_S / 2:
        # Something else than the voice is loud: a click, a chair. Nothing is said there.
        end_s = voice[-1].end_s + min(EDGE_S, (duration_s - voice[-1].end_s) / 2)
        yield Step(text, Span(0.0, end_s), frozenset({LOUD_TAIL}))
    times = WordTimes(check) if check is not None else None
    wanted: list[tuple[str, float | None, float | None]] = []  # code, uncovered from, uncovered to
    for fault in _faults(check, {FaultKind.TAIL: "RP101", FaultKind.HEAD: "RP102"}, codes):
        is_tail = fault.kind is FaultKind.TAIL
        wanted.append(
            (ALL_TEXT[fault.kind], *((fault.span.start_s, None) if is_tail else (None, fault.span.end_s)))
        )
    if UNDECIDED in codes and check is not None and times is not None and _has_voice_after(check):
        wanted.append((UNDECIDED, times.end_s, None))
    if LOUD_TAIL in codes:
        wanted.append((LOUD_TAIL, math.inf, None))
    for code, from_s, to_s in wanted:
        if text is not None and (times is None or not times.is_known):
            obstacles.append(f"{code}: a cut would need to know when each word of the text is spoken")
            continue
        found = [
            Step(left, keep, frozenset({code}))
            for keep, left in (
                tail_cuts(voice, times, uncovered_from_s=from_s)
                if from_s is not None
                else head_cuts(voice, times, uncovered_to_s=to_s or 0.0, duration_s=duration_s)
            )
        ]
        if not found:
            obstacles.append(
                f"{code}: there is no pause where a cut would leave a second of speech with its words"
            )
        yield from found


def _has_voice_after(check: TextCheck) -> bool:
    return check.verdict is Verdict.UNDECIDED and check.coverage.tail_gap_s > EDGE_S
