"""Clip -> what is heard in it: voice activity, transcript, and a text checked against both."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from refprep.errors import AudioDecodeError
from refprep.memory import forget_oldest
from refprep.pipeline.align import align_text
from refprep.pipeline.check import check_text, is_too_much_text, refuse_too_much
from refprep.pipeline.check_thresholds import DEFAULT_THRESHOLDS, CheckThresholds
from refprep.pipeline.edges import speech_edges
from refprep.pipeline.quality import measure_quality
from refprep.pipeline.transcribe import plan_intervals, transcribe_clip
from refprep.protocols import Aligner, SpeakerEncoder, Transcriber, VoiceActivity
from refprep.types import Clip, Origin, QualityReport, Span, TextCheck, Transcript, Voiceprint

_REMEMBERED = 64


class Listener:
    """Voice activity, recogniser and aligner, used together.

    What was heard in the last clips is remembered by the clip's id: one audio held against several texts is
    transcribed once.

    Args:
        voice_activity: Finds speech.
        transcriber: Writes it down.
        aligner: Forces a text onto it.
        thresholds: Where the verdict on a text turns.
        open_encoder: Opens the speaker encoder, when a voice is first asked for; None has no opinion on voices.
    """

    def __init__(
        self,
        voice_activity: VoiceActivity,
        transcriber: Transcriber,
        aligner: Aligner,
        *,
        thresholds: CheckThresholds = DEFAULT_THRESHOLDS,
        open_encoder: Callable[[], SpeakerEncoder] | None = None,
    ) -> None:
        self.voice_activity = voice_activity
        self.transcriber = transcriber
        self.aligner = aligner
        self.thresholds = thresholds
        self._open_encoder = open_encoder
        self._heard: dict[tuple[str, str], Transcript] = {}
        self._speech: dict[str, tuple[Span, ...]] = {}
        self._has_aligned = False

    def require(self) -> None:
        """Fail now rather than in the middle of the work.

        Raises:
            WeightsMissing: A model was not pulled.
        """
        _ = (self.voice_activity.name, self.transcriber.name, self.aligner.name)

    @property
    def models(self) -> dict[str, str]:
        """Role -> name of the models that were used so far."""
        used = {"voice_activity": self.voice_activity.name}
        if self._heard:
            used["transcriber"] = self.transcriber.name
        if self._has_aligned:
            used["aligner"] = self.aligner.name
        return used

    def speech(self, clip: Clip) -> tuple[Span, ...]:
        """Voice activity: sorted, disjoint, seconds from the clip's start."""
        if clip.id not in self._speech:
            forget_oldest(self._speech, most=_REMEMBERED)
            self._speech[clip.id] = self.voice_activity.speech_spans(clip)
        return self._speech[clip.id]

    def transcribe(self, clip: Clip, *, language: str = "") -> Transcript:
        """What is said, words with times; the language is detected when none is given."""
        key = (clip.id, language)
        if key not in self._heard:
            forget_oldest(self._heard, most=_REMEMBERED)
            self._heard[key] = transcribe_clip(
                clip, self.speech(clip), self.transcriber, language=language or None
            )
        return self._heard[key]

    def check(self, clip: Clip, text: str, *, language: str = "") -> TextCheck:
        """Hold a text against a clip.

        Args:
            clip: Any length.
            text: What it is said to say; may be empty.
            language: BCP 47 of the text; empty takes the language that is heard.
        """
        speech = self.speech(clip)
        heard = self.transcribe(clip, language=language)
        spoken = language or heard.language
        given = Transcript(text, spoken, origin=Origin.USER)
        if is_too_much_text(text, clip.duration_s):
            return refuse_too_much(given, heard, speech, duration_s=clip.duration_s)
        self._has_aligned = True
        alignment = align_text(clip, text, speech, self.aligner, heard=heard, language=spoken or "en")
        return check_text(
            given,
            heard,
            alignment,
            speech,
            duration_s=clip.duration_s,
            edges=speech_edges(clip, speech),
            thresholds=self.thresholds,
        )

    def quality(self, clip: Clip, text: str, *, language: str) -> QualityReport:
        """What the signal of a clip with this text is like."""
        return measure_quality(clip, self.speech(clip), text=text, language=language)

    def language(self, clip: Clip) -> tuple[str, float]:
        """Language that is heard at the start of a clip, and its probability, whatever the caller says it is.

        Empty and 0.0 where nobody speaks, or the recogniser knows only one language.
        """
        speech = self.speech(clip)
        heard = self._heard.get((clip.id, ""))
        # A probability of one was not measured: the model had no choice.
        if heard is not None and 0.0 < heard.language_probability < 1.0:
            return heard.language, heard.language_probability
        if not speech:
            return "", 0.0
        return self.transcriber.detect_language(clip, plan_intervals(clip.duration_s, speech)[0])

    def voiceprint(self, clip: Clip) -> Voiceprint | None:
        """The voice of a clip; None without an encoder, or with too little speech to embed."""
        if self._encoder is None:
            return None
        try:
            return self._encoder.embed(clip, self.speech(clip))
        except AudioDecodeError:
            return None

    @cached_property
    def _encoder(self) -> SpeakerEncoder | None:
        return self._open_encoder() if self._open_encoder is not None else None
