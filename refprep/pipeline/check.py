"""Three witnesses -> TextCheck: does the text say what the audio says?

(1) The given text, forced onto the audio: words nobody says get no time and no probability. (2) A free transcription,
laid beside the text: words only one of them has. (3) Voice activity that no aligned word covers. Each alone is known
to fail: the alignment stretches a last word over a missing tail, the recogniser errs on hard clips, voice activity
hears breaths. So a text is refused only where witnesses agree, and a pass needs all speech accounted for; what is
neither is undecided.

The thresholds and the measurements behind them are in ``refprep.pipeline.check_thresholds``.
"""

from __future__ import annotations

from collections.abc import Sequence

from refprep.pipeline.check_thresholds import DEFAULT_THRESHOLDS, CheckThresholds
from refprep.pipeline.coverage import measure_coverage
from refprep.pipeline.mend import mended_text
from refprep.pipeline.witnesses import Witnesses
from refprep.text.compare import compare
from refprep.text.words import split_words
from refprep.types import (
    Alignment,
    FaultKind,
    Span,
    TextCheck,
    TextFault,
    Transcript,
    Verdict,
)

_MOST_WORDS, _MOST_WORDS_PER_S, _MOST_LETTERS_PER_WORD = 100, 20.0, 20


def check_text(
    given: Transcript,
    heard: Transcript,
    alignment: Alignment,
    speech: Sequence[Span],
    *,
    duration_s: float,
    edges: Sequence[Span] = (),
    thresholds: CheckThresholds = DEFAULT_THRESHOLDS,
) -> TextCheck:
    """Let the three witnesses decide.

    Args:
        given: The text under test; its language is taken from ``heard`` when it states none.
        heard: Free transcription of the audio, words with times.
        alignment: The given text forced onto the audio: one word for every written word.
        speech: Voice activity: sorted, disjoint.
        duration_s: Of the clip.
        edges: The speech with finer edges (``refprep.pipeline.edges``): where faults begin and end; voice activity's own
            when empty.
        thresholds: Where the verdict turns.

    Returns:
        A check whose faults are sorted by time. FAIL has at least one fault beside OTHER_WORD, UNDECIDED a reason.
    """
    language = given.language or heard.language
    words = split_words(given.text)
    heard_words = [w.text for w in heard.words]
    comparison = compare(words, heard_words, language)
    bare = measure_coverage(speech, alignment, bridge_s=thresholds.bridge_s, ignore_s=0.0)
    case = Witnesses(
        given, heard, alignment, speech, edges or speech, duration_s, words, comparison, bare, thresholds
    )
    faults = sorted(case.faults(), key=lambda f: (f.span.start_s, f.span.end_s))
    missing = [f.span for f in faults if f.kind in (FaultKind.TAIL, FaultKind.HEAD, FaultKind.GAP)]
    coverage = measure_coverage(speech, alignment, bridge_s=thresholds.bridge_s, missing=missing)
    failed = [f for f in faults if f.kind is not FaultKind.OTHER_WORD]
    reason = "" if failed else case.doubt()
    return TextCheck(
        given=given,
        heard=heard,
        alignment=alignment,
        coverage=coverage,
        error_rate=comparison.error_rate,
        verdict=Verdict.FAIL if failed else Verdict.UNDECIDED if reason else Verdict.PASS,
        reason=reason,
        faults=tuple(faults) if not reason else (),
        suggested_text=mended_text(given, heard, faults if not reason else ()),
    )


def is_too_much_text(text: str, duration_s: float) -> bool:
    """More words or letters than a second could hold, by far: a text of a megabyte is not worth aligning.

    Auctioneers reach 6 words a second, Japanese 12 characters.
    """
    most_words = _MOST_WORDS + _MOST_WORDS_PER_S * duration_s
    return len(text) > most_words * _MOST_LETTERS_PER_WORD or len(split_words(text)) > most_words


def refuse_too_much(
    given: Transcript, heard: Transcript, speech: Sequence[Span], *, duration_s: float
) -> TextCheck:
    """The check of a text that is too much for its clip, without aligning it."""
    span = Span(speech[0].start_s, speech[-1].end_s) if speech else Span(0.0, duration_s)
    evidence: dict[str, float | str] = {
        "letter_similarity": 0.0,
        "words": float(len(split_words(given.text))),
    }
    fault = TextFault(FaultKind.WRONG_TEXT, span, heard.text, (0, 0), evidence, instead=heard.text)
    alignment = Alignment((), heard.model)
    return TextCheck(
        given=given,
        heard=heard,
        alignment=alignment,
        coverage=measure_coverage(speech, alignment, bridge_s=0.0),
        error_rate=1.0,
        verdict=Verdict.FAIL,
        reason="",
        faults=(fault,),
        suggested_text=heard.text,
    )
