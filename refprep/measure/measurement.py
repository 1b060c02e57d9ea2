"""What is known of one audio file and its text before any rule judges it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from refprep.errors import RefprepError
from refprep.types import AudioSource, QualityReport, Span, TextCheck


@dataclass(frozen=True, slots=True)
class Parts:
    """What is to be measured, beside the signal: rules that nobody selected need no model.

    Attributes:
        text: The text against the audio.
    """

    text: bool = True


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
    """

    error: RefprepError | None = None
    source: AudioSource | None = None
    duration_s: float | None = None
    speech: tuple[Span, ...] = ()
    quality: QualityReport | None = None
    check: TextCheck | None = None
    models: Mapping[str, str] = field(default_factory=dict)

    def nouns(self) -> Iterator[object]:
        """What the rules read."""
        yield from (n for n in (self.error, self.source, self.check, self.quality) if n is not None)

    def at(self, path: str) -> Measurement:
        """The same, of the same bytes at another place."""
        if self.source is None or self.source.path == path:
            return self
        return replace(self, source=replace(self.source, path=path))
