"""Texts, aligned and checked."""

from __future__ import annotations

import enum
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from refprep.types.span import Span


class Origin(enum.StrEnum):
    """Who wrote a transcript."""

    USER = "user"
    ASR = "asr"


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its place in the audio.

    Attributes:
        text: As written, punctuation included, no surrounding space.
        span: Where it is spoken.
        probability: Mean probability the model gives its tokens, 0-1.
    """

    text: str
    span: Span
    probability: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """A text and, if it was heard, its words.

    Attributes:
        text: NFC.
        language: BCP 47 (``en``, ``es-AR``); empty when unknown.
        language_probability: 0-1; 1.0 when the caller named the language.
        words: Empty for a text a user wrote.
        origin: User or recogniser.
        model: Name of the recogniser; empty for a user's text.
    """

    text: str
    language: str
    language_probability: float = 1.0
    words: tuple[Word, ...] = ()
    origin: Origin = Origin.USER
    model: str = ""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A given text forced onto audio.

    Attributes:
        words: One for every written word, in order, also for those nobody says (short and improbable).
        aligner: Name of the model.
        end_probability: Probability that nothing more is said after the text, 0-1; None where nobody asked.
        start_share: Probability that the speech begins with the text, over that of its likeliest beginning, 0-1; None
            likewise.
    """

    words: tuple[Word, ...]
    aligner: str
    end_probability: float | None = None
    start_share: float | None = None

    @property
    def mean_probability(self) -> float:
        """Mean over the words; 0.0 without any."""
        return sum(w.probability for w in self.words) / len(self.words) if self.words else 0.0

    @property
    def median_probability(self) -> float:
        """Median over the words; 0.0 without any."""
        return statistics.median(w.probability for w in self.words) if self.words else 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the speech the words account for.

    Attributes:
        speech: Voice activity: sorted, disjoint.
        uncovered: Stretches of it that no word covers: sorted, disjoint.
        unspoken: Indices of words that have no place in the audio.
    """

    speech: tuple[Span, ...]
    uncovered: tuple[Span, ...]
    unspoken: tuple[int, ...]
    head_gap_s: float
    tail_gap_s: float

    @property
    def speech_s(self) -> float:
        """Seconds of speech."""
        return sum(s.duration_s for s in self.speech)

    @property
    def ratio(self) -> float:
        """Covered part of the speech, 0-1; 1.0 when there is none."""
        total_s = self.speech_s
        if total_s <= 0.0:
            return 1.0
        return max(0.0, 1.0 - sum(s.duration_s for s in self.uncovered) / total_s)


@dataclass(frozen=True, slots=True)
class LanguageCase:
    """The language of a text and of its audio.

    Attributes:
        text: As written.
        declared: BCP 47, as the row or the caller states it; empty where nobody does.
        heard: Language that the recogniser hears; empty where it knows only one, or nobody speaks.
        probability: Of ``heard``, 0-1.
        speech_s: Seconds of speech it rests on.
    """

    text: str
    declared: str
    heard: str
    probability: float
    speech_s: float


class FaultKind(enum.StrEnum):
    """What is wrong between a text and its audio."""

    TAIL = "tail"
    HEAD = "head"
    GAP = "gap"
    UNSPOKEN = "unspoken"
    OTHER_WORD = "other-word"
    WRONG_TEXT = "wrong-text"


class Verdict(enum.StrEnum):
    """Does the text say what the audio says?"""

    PASS = "pass"  # a verdict, not a password
    FAIL = "fail"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class TextFault:
    """One place where text and audio part.

    Attributes:
        kind: What is wrong.
        span: Where in the audio.
        words: Words that are spoken and not written, or written and not spoken.
        word_range: Half-open range of written words concerned; empty range where words are missing.
        evidence: Numbers of the three witnesses, by name.
        instead: What is spoken in the place of the written words; empty where nothing is.
    """

    kind: FaultKind
    span: Span
    words: str
    word_range: tuple[int, int]
    evidence: Mapping[str, float | str]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """Text against audio: the three witnesses, and what they say together.

    Attributes:
        given: The text under test.
        heard: Free transcription of the audio.
        alignment: The given text forced onto the audio.
        coverage: Voice activity against the aligned words.
        error_rate: Given against heard text: WER, or CER for scripts without spaces.
        verdict: Pass, fail, or undecided.
        reason: Why undecided; empty otherwise.
        faults: In the order of time; empty unless the verdict is FAIL.
        suggested_text: What the text should be; the given text when nothing is wrong.
    """

    given: Transcript
    heard: Transcript
    alignment: Alignment
    coverage: Coverage
    error_rate: float
    verdict: Verdict
    reason: str
    faults: tuple[TextFault, ...]
    suggested_text: str
