"""What a stage asks of a model. A test passes a fake, a user their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from refprep.errors import RefprepError
from refprep.types import (
    Alignment,
    BackendProfile,
    Clip,
    CodeCacheEntry,
    CodeMatrix,
    EncoderFacts,
    Samples,
    Sampling,
    Span,
    SpeechRequest,
    StopReason,
    StreamEnd,
    SynthesisResult,
    SynthesisSettings,
    Transcript,
    Voiceprint,
)


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


class SynthesisGuard(Protocol):
    """Watches one synthesis and may end it."""

    def on_frame(self, frame: npt.NDArray[np.int32], eos_rank: int | None) -> StopReason | None:
        """Take a frame of codes and how many ids were likelier than EOS, if that is known; a reason stops the synthesis."""
        ...

    def on_audio(self, samples: Samples) -> StopReason | None:
        """Take decoded samples, in order; a reason stops the synthesis."""
        ...


class Synthesizer(Protocol):
    """Speaks."""

    @property
    def name(self) -> str:
        """Of the model, as records call it."""
        ...

    @property
    def sample_rate_hz(self) -> int:
        """Of what it gives."""
        ...

    def check(self, request: SpeechRequest) -> None:
        """Refuse what it cannot do, before anything runs.

        Raises:
            UsageError: Names what does not fit.
        """
        ...

    def speak(
        self,
        requests: Sequence[SpeechRequest],
        guards: Sequence[SynthesisGuard | None] | None = None,
        on_step: Callable[[], None] | None = None,
    ) -> list[SynthesisResult]:
        """Speak all requests; results are in their order.

        Args:
            requests: What to say, with the budget of each.
            guards: One a request, or None.
            on_step: Called now and then, for progress.
        """
        ...

    def stream(
        self, request: SpeechRequest, guard: SynthesisGuard | None = None
    ) -> Iterator[Samples | StreamEnd]:
        """Samples as they are decoded, then the record of them; what was given away is not kept."""
        ...


class LoadedSynthesizer(Synthesizer, Protocol):
    """A checkpoint that speaks, as a backend opens it."""

    @property
    def sampling(self) -> Sampling:
        """The publisher's."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """How it is run, for records: ``model``, ``weights`` (random or as given), ``step_mode``, and what else counts."""
        ...


class ReferenceEncoder(Protocol):
    """Turns a reference into what a talker takes: codes and, where it has one, a speaker embedding, in float32."""

    @property
    def name(self) -> str:
        """Of the checkpoint, for messages."""
        ...

    @property
    def facts(self) -> EncoderFacts:
        """Everything on the encoder's side that decides what comes out."""
        ...

    def encode(self, samples: Samples) -> CodeMatrix:
        """Codes of a whole reference.

        Args:
            samples: (T,) float32 mono at 24 kHz.

        Returns:
            (ceil(T / 1920), codebooks) int32, codebook 0 first.

        Raises:
            UsageError: Samples, or weights, that may not be encoded.
            MachineError: The weights are missing, or the device failed.
        """
        ...

    def embed(self, samples: Samples) -> npt.NDArray[np.float32] | None:
        """Speaker embedding of a whole reference: (D,) float32, not normalised; None where there is no speaker encoder.

        Args:
            samples: (T,) float32 mono at 24 kHz.

        Raises:
            UsageError, MachineError: As ``encode`` does.
        """
        ...


class VoiceEncoder(ReferenceEncoder, Protocol):
    """A checkpoint's encoder, which also knows what it cannot do and which codes are its kind."""

    def fault(self) -> RefprepError | None:
        """Why it cannot encode: weights that are not there, or rounded ones; None where it can."""
        ...

    def fits(self, entry: CodeCacheEntry) -> bool:
        """Whether the checkpoint's talker takes codes of this kind, whichever weights made them."""
        ...


class Backend(Protocol):
    """A checkpoint of a kind that refprep runs; nothing is loaded until it is asked for."""

    @property
    def folder(self) -> Path:
        """Of the checkpoint."""
        ...

    @property
    def profile(self) -> BackendProfile:
        """What it can do."""
        ...

    def encoder(self, *, device: str) -> VoiceEncoder:
        """Of references, in float32.

        Raises:
            UsageError: The checkpoint takes no recorded voice.
            WeightsMissing: There is no codec.
            BackendError: Another codec than the one that is known.
        """
        ...

    def synthesizer(self, settings: SynthesisSettings) -> LoadedSynthesizer:
        """Load what speaks.

        Raises:
            UsageError: A setting that the backend does not have.
            WeightsMissing: A file is not there.
            BackendError: The files do not fit each other, or a package is missing.
            DeviceError: The device is out of memory.
        """
        ...
