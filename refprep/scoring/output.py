"""Clip, ScoreTarget -> ScoredOutput: everything that is checked of one output, in order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from refprep.errors import TextInputError
from refprep.linter.registry import select_rules
from refprep.linter.rule import Finding, Rule, Severity
from refprep.linter.run import run_rules
from refprep.pipeline.align import cut_clip
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.listen import Listener
from refprep.scoring.leak import find_leaks
from refprep.scoring.target import ScoreTarget
from refprep.scoring.windows import score_windows
from refprep.scoring.words import score_text
from refprep.text.compare import compare
from refprep.text.words import split_words
from refprep.types import (
    Clip,
    LeakedWords,
    OutputEdge,
    OutputScore,
    OutputWords,
    QualityReport,
    Span,
    TextScore,
)

_NO_SPEECH = "RP211"


@dataclass(frozen=True, slots=True, eq=False)
class ScoredOutput:
    """One output, measured and judged.

    Attributes:
        score: What was measured.
        findings: What is wrong: RP602 and the rules after it, whole-file ones first, then in the order of time; RP211 alone
            where nobody speaks.
    """

    score: OutputScore
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Nothing in it is an error."""
        return all(f.severity is not Severity.ERROR for f in self.findings)

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the rules that found an error, each once."""
        return tuple(dict.fromkeys(f.name for f in self.findings if f.severity is Severity.ERROR))


def score_output(
    clip: Clip,
    target: ScoreTarget,
    listener: Listener,
    *,
    text: str | None = None,
    language: str = "",
    rules: Mapping[str, Rule] | None = None,
) -> ScoredOutput:
    """Score one output of a voice.

    Args:
        clip: What was synthesised.
        target: The voice (``open_target``).
        listener: Voice activity, recogniser, aligner.
        text: What it was to say; None scores all that needs no text.
        language: BCP 47 of the text; empty takes the reference's.
        rules: Code -> rule; those that read an ``OutputScore`` are run. None runs all that are not in preview.

    Raises:
        TextInputError: The text has no words.
        UsageError: The recogniser does not know the language.
        WeightsMissing: A model was not pulled.
    """
    path = clip.source.path
    if text is not None and not split_words(text):
        raise TextInputError(
            "the text has no words",
            where=path,
            fix="Give the text that the output was to say, or leave --text out.",
        )
    score = _measure(clip, target, listener, text, language or target.language)
    chosen = select_rules() if rules is None else rules
    if not score.speech:  # nothing else can be said of it
        return ScoredOutput(score, run_rules([score.quality], _only(chosen, _NO_SPEECH), path=path))
    return ScoredOutput(score, run_rules([score], chosen, path=path))


def _only(rules: Mapping[str, Rule], code: str) -> dict[str, Rule]:
    return {c: rule for c, rule in rules.items() if c == code}


def _measure(
    clip: Clip, target: ScoreTarget, listener: Listener, text: str | None, language: str
) -> OutputScore:
    speech = listener.speech(clip)
    quality = listener.quality(clip, text or "", language=language)
    leaks: tuple[LeakedWords, ...] = ()
    text_score: TextScore | None = None
    if speech and text is not None:
        leaks = _leaks(clip, speech, target, listener, text, language)
        text_score = _text_score(clip, leaks, listener, text, language)
    windows = [w for voice in target.voices for w in (score_windows(clip, speech, voice) if speech else ())]
    return OutputScore(
        path=clip.source.path,
        quality=quality,
        speech=speech,
        text=text_score,
        leaks=leaks,
        windows=tuple(windows),
        pace_ratio=_pace_ratio(quality, target.quality),
        level_offset_db=_level_offset_db(quality, target.quality),
    )


def _leaks(
    clip: Clip, speech: tuple[Span, ...], target: ScoreTarget, listener: Listener, text: str, language: str
) -> tuple[LeakedWords, ...]:
    heard = listener.transcribe(clip, language=language)
    words = split_words(text)
    return find_leaks(
        clip,
        speech,
        speech_edges(clip, speech),
        words,
        heard,
        compare(words, [w.text for w in heard.words], language),
        target,
        listener.aligner,
        language=language,
    )


def _text_score(
    clip: Clip, leaks: tuple[LeakedWords, ...], listener: Listener, text: str, language: str
) -> TextScore:
    """The text against what is left of the output without the leaks, on the clock of the whole."""
    span = kept_span(clip.duration_s, leaks)
    rest = cut_clip(clip, span) if leaks else clip
    found = score_text(
        listener.check(rest, text, language=language), rest, listener.aligner, language=language
    )
    return replace(found, faults=tuple(_moved(f, span.start_s) for f in found.faults))


def _moved(fault: OutputWords, by_s: float) -> OutputWords:
    return replace(fault, span=Span(fault.span.start_s + by_s, fault.span.end_s + by_s))


def kept_span(duration_s: float, leaks: tuple[LeakedWords, ...]) -> Span:
    """What is left of an output without its leaks."""
    start_s = max((x.cut_s for x in leaks if x.edge is OutputEdge.HEAD), default=0.0)
    end_s = min((x.cut_s for x in leaks if x.edge is OutputEdge.TAIL), default=duration_s)
    return Span(start_s, max(start_s, end_s))


def _pace_ratio(output: QualityReport, reference: QualityReport) -> float | None:
    one, other = output.pace_per_s, reference.pace_per_s
    if not one or not other or output.is_pace_in_characters is not reference.is_pace_in_characters:
        return None
    return one / other


def _level_offset_db(output: QualityReport, reference: QualityReport) -> float | None:
    offset_db = output.loudness_lufs - reference.loudness_lufs
    return offset_db if math.isfinite(offset_db) else None
