"""Voice activity by the silero network that faster-whisper carries."""

from __future__ import annotations

from refprep.dsp.resample import resample
from refprep.types import Clip, Span

VAD_SAMPLE_RATE_HZ = 16_000


class SileroVad:
    """Speech spans from silero's frame probabilities, which come every 32 ms: the resolution of every span.

    Args:
        threshold: Frame probability above which speech begins; 0.5 is the network's own operating point.
        min_silence_s: Shorter pauses do not end a span.
        min_speech_s: Shorter spans are dropped (clicks, lip noise).
    """

    name = "silero-vad"

    def __init__(
        self, *, threshold: float = 0.5, min_silence_s: float = 0.1, min_speech_s: float = 0.06
    ) -> None:
        self.threshold = threshold
        self.min_silence_s = min_silence_s
        self.min_speech_s = min_speech_s

    def speech_spans(self, clip: Clip) -> tuple[Span, ...]:
        """Speech in the clip: sorted, disjoint, seconds from its start, clipped to its length."""
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        audio = resample(clip.samples, clip.sample_rate_hz, VAD_SAMPLE_RATE_HZ)
        found = get_speech_timestamps(
            audio,
            VadOptions(
                threshold=self.threshold,
                min_silence_duration_ms=round(self.min_silence_s * 1000),
                min_speech_duration_ms=round(self.min_speech_s * 1000),
                # Padding would call silence speech, and coverage would have to take it off again.
                speech_pad_ms=0,
            ),
            VAD_SAMPLE_RATE_HZ,
        )
        duration_s = clip.duration_s
        return tuple(
            Span(
                min(s["start"] / VAD_SAMPLE_RATE_HZ, duration_s),
                min(s["end"] / VAD_SAMPLE_RATE_HZ, duration_s),
            )
            for s in found
        )
