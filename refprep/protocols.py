"""What a stage asks of a model. A test passes a fake, a user their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from refprep.types import Alignment, Clip, Span, Transcript, Voiceprint


class VoiceActivity(Protocol):
    """Finds speech."""

    @property
    def name(self) -> str:
        """Of the model, as findings and voices call it."""
        ...

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        """Speech in the clip: sorted, disjoint, seconds from its start."""
        ...


class Transcriber(Protocol):
    """Writes down what is said."""

    @property
    def name(self) -> str:
        """Of the model, as findings and voices call it."""
        ...

    def transcribe(self, clip: Clip, intervals: Sequence[Span], *, language: str | None = None) -> Transcript:
        """Words with times and probabilities, on the clip's clock.

        Args:
            clip: Audio at any rate.
            intervals: Sorted, disjoint, each at most 30 s; each is decoded as one piece.
            language: ISO 639-1; None detects it.
        """
        ...

    def detect_language(self, clip: Clip, interval: Span) -> tuple[str, float]:
        """Language that is heard in an interval of at most 30 s, and its probability.

        A model that knows only one language gives an empty one and 0.0.
        """
        ...


class Aligner(Protocol):
    """Forces a given text onto audio."""

    @property
    def name(self) -> str:
        """Of the model, as findings and voices call it."""
        ...

    def align(self, clip: Clip, text: str, *, language: str) -> Alignment:
        """Place every word of the text; the clip is at most 30 s long."""
        ...

    def end_probability(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Probability that the speech ends with the text; None where the model cannot tell (a text too long for it)."""
        ...

    def start_share(self, clip: Clip, text: str, *, language: str) -> float | None:
        """Probability that the speech begins with the text, over that of its likeliest beginning; None as above."""
        ...


class SpeakerEncoder(Protocol):
    """Turns speech into a direction that depends on the speaker.

    Attributes:
        name: Of the encoder; cosines of two encoders are never compared.
        dim: Length of its vectors.
        default_threshold: Lowest cosine of a pair of clips that counts as one voice; None where nobody measured it.
        window_threshold: Lowest cosine of a window to its voice's mean direction; None likewise.
    """

    name: str
    dim: int
    default_threshold: float | None
    window_threshold: float | None

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """Embed the clip as a whole and in windows.

        Raises:
            AudioDecodeError: The clip holds too little speech to embed.
        """
        ...
