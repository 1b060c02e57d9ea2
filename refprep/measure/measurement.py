"""What is known of one audio file and its text before any rule judges it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from refprep.errors import RefprepError
from refprep.types import AudioSource, ClipEdges, ClipVoices, LanguageCase, QualityReport, Span, TextCheck


@dataclass(frozen=True, slots=True)
class Parts:
    """What is to be measured, beside the signal: rules that nobody selected need no model.

    Attributes:
        text: The text against the audio, and the language of both.
        voices: Whether one person speaks.
    """

    text: bool = True
    voices: bool = False


@dataclass(frozen=True, slots=True)
class Measurement:
    """Everything known of one audio file and its text.

    Attributes:
        error: Why the file does not decode; everything else is empty then.
        source: What the file is.
        duration_s: Decoded length.
        speech: Voice activity: sorted, disjoint.
        quality: Measurements of the signal.
        check: Text against audio; None without a text.
        models: Role -> name of the models that measured.
        edges: How the clip begins and ends; None where nobody speaks.
        language: Of the text and of the audio; None without a text.
        voices: Whether one person speaks; None where nobody asked, or there is too little speech.
    """

    error: RefprepError | None = None
    source: AudioSource | None = None
    duration_s: float | None = None
    speech: tuple[Span, ...] = ()
    quality: QualityReport | None = None
    check: TextCheck | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    edges: ClipEdges | None = None
    language: LanguageCase | None = None
    voices: ClipVoices | None = None

    def nouns(self) -> Iterator[object]:
        """What the rules read."""
        measured = (
            self.error, self.source, self.check, self.language, self.quality, self.edges, self.voices,
        )  # fmt: skip
        yield from (n for n in measured if n is not None)

    def at(self, path: str) -> Measurement:
        """The same, of the same bytes at another place."""
        if self.source is None or self.source.path == path:
            return self
        return replace(self, source=replace(self.source, path=path))
