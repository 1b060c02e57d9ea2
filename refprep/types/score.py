"""What a synthesised clip is like beside the text it was to say and the voice it was to have."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from refprep.types.signal import QualityReport
from refprep.types.span import Span
from refprep.types.text import TextCheck


class OutputEdge(enum.StrEnum):
    """Which end of an output."""

    HEAD = "head"
    TAIL = "tail"


class WordsFault(enum.StrEnum):
    """What is wrong with some words of an output."""

    REPEATED = "repeated"  # words of the text, said once more
    REORDERED = "reordered"  # words of the text, said at another place
    MISSING = "missing"  # words of the text that nobody says
    INSERTED = "inserted"  # words that neither text nor reference has there
    REPLACED = "replaced"  # words in the place of others


@dataclass(frozen=True, slots=True)
class LeakedWords:
    """Words of the reference at an edge of the output.

    Attributes:
        edge: Which one.
        words: As the reference has them.
        span: Where they are.
        cut_s: Where to cut: in the pause beside them, else at the quietest moment.
        evidence: Numbers of the witnesses, by name.
    """

    edge: OutputEdge
    words: str
    span: Span
    cut_s: float
    evidence: Mapping[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OutputWords:
    """A place where the output's words are not the text's.

    Attributes:
        fault: What is wrong.
        words: Those concerned: of the text where they are missing or replaced, else as they are heard.
        span: Where; for missing words, where they would be.
        place: ``head``, ``middle`` or ``tail`` of the output.
        evidence: Numbers of the witnesses, by name.
        instead: What is heard in the place of replaced words.
    """

    fault: WordsFault
    words: str
    span: Span
    place: str
    evidence: Mapping[str, float | str] = field(default_factory=dict)
    instead: str = ""


@dataclass(frozen=True, slots=True)
class TextScore:
    """An output against the text it was to say.

    Attributes:
        check: The three witnesses, leaked words left out of the audio.
        error_rate: Edits over the words (characters) of the text: WER or CER; insertions count.
        is_in_characters: ``error_rate`` is a CER.
        faults: In the order of time.
    """

    check: TextCheck
    error_rate: float
    is_in_characters: bool
    faults: tuple[OutputWords, ...]

    def of(self, fault: WordsFault) -> tuple[OutputWords, ...]:
        """The faults of one kind."""
        return tuple(f for f in self.faults if f.fault is fault)


@dataclass(frozen=True, slots=True)
class VoiceWindow:
    """A third of an output's speech, as one encoder hears it.

    Attributes:
        name: ``early``, ``middle`` or ``late``; of little speech ``early`` and ``late``, or ``whole``.
        span: From its first to its last speech.
        speech_s: Seconds of speech in it.
        encoder: Name of the speaker encoder.
        scale: Of the scores, as ``Identity.scale``.
        score: With the voice.
        threshold: Lowest score of one voice in such a window.
        control: Name of the person most like it who is not the voice; empty without controls.
        control_score: Score with that person; None likewise.
        min_margin: Least distance between the two scores.
    """

    name: str
    span: Span
    speech_s: float
    encoder: str
    scale: str
    score: float
    threshold: float
    control: str = ""
    control_score: float | None = None
    min_margin: float = 0.0

    @property
    def margin(self) -> float | None:
        """Score with the voice less that with the nearest control; None without controls."""
        return None if self.control_score is None else self.score - self.control_score

    @property
    def is_off(self) -> bool:
        """It sounds like somebody else."""
        return self.score < self.threshold or (self.margin is not None and self.margin < self.min_margin)


@dataclass(frozen=True, slots=True)
class OutputScore:
    """All that was measured of one output.

    Attributes:
        path: Of the output, as the caller gave it.
        quality: Of its signal; the pace is that of the text.
        speech: Voice activity; empty where nobody speaks.
        text: Against the text; None without a text, or where nobody speaks.
        leaks: Reference words at its edges.
        windows: Its thirds, encoder by encoder.
        pace_ratio: Its pace over the reference's; None where one of them is unknown.
        level_offset_db: Its loudness less the reference's; None where one of them is silent.
    """

    path: str
    quality: QualityReport
    speech: tuple[Span, ...]
    text: TextScore | None
    leaks: tuple[LeakedWords, ...]
    windows: tuple[VoiceWindow, ...]
    pace_ratio: float | None
    level_offset_db: float | None

    @property
    def duration_s(self) -> float:
        """Length of the output."""
        return self.quality.duration_s

    @property
    def lowest_window(self) -> VoiceWindow | None:
        """The window farthest below its threshold; None without windows."""
        return min(self.windows, key=lambda w: w.score - w.threshold, default=None)
