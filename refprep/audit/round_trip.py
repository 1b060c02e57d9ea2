"""Audio -> how much it sounds like the reference, early, in the middle and late, beside people it must not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refprep.errors import AudioDecodeError
from refprep.identity.verifier import Verifier
from refprep.pipeline.joined import reference_clip
from refprep.pipeline.samples import clip_of
from refprep.scoring.target import TargetVoice
from refprep.scoring.windows import score_windows
from refprep.types import Clip, Reference, Samples, Span
from refprep.units import CODE_RATE_HZ


@dataclass(frozen=True, slots=True)
class Likeness:
    """Of one piece of audio, by one speaker encoder.

    Attributes:
        encoder: Its name.
        scale: Of the scores.
        windows: Score with the reference, by window.
        controls: Score with the nearest person it must not be, likewise; None without any.
    """

    encoder: str
    scale: str
    windows: Mapping[str, float]
    controls: Mapping[str, float | None]

    @property
    def mean(self) -> float:
        """Of the windows."""
        return sum(self.windows.values()) / len(self.windows)


class RoundTrip:
    """A reference and the encoders that hear it.

    Args:
        reference: The voice's.
        verifiers: Speaker encoders with their thresholds.
        controls: Name -> audio of people it must not be; the encoder's cohort where there are none.
        seconds: Of the reference that are looked at.

    Raises:
        AudioDecodeError: Reference or control hold too little speech.
    """

    def __init__(
        self,
        reference: Reference,
        verifiers: Sequence[Verifier],
        controls: Mapping[str, Clip],
        *,
        seconds: float,
    ) -> None:
        rate_hz = reference.sample_rate_hz
        # The clips' places are known: no voice activity has to be found, and noise has none.
        places_s = [(c.start_sample / rate_hz, min(c.end_sample / rate_hz, seconds)) for c in reference.clips]
        self._speech = tuple(Span(start_s, end_s) for start_s, end_s in places_s if end_s > start_s)
        clip = reference_clip(reference)
        self._voices = [
            TargetVoice(
                verifier,
                verifier.embed(clip, self._speech),
                {name: verifier.embed(c, (Span(0.0, c.duration_s),)) for name, c in controls.items()},
            )
            for verifier in verifiers
        ]
        self.original = self._heard(clip, self._speech)

    def of_reference(self, samples: Samples) -> tuple[Likeness, ...]:
        """A decoded reference, whose speech is where that of the reference is."""
        return self._heard(clip_of(samples, CODE_RATE_HZ, path="round trip"), self._speech)

    def of_output(self, samples: Samples) -> tuple[Likeness, ...]:
        """Something else that was said, all of which counts as speech."""
        clip = clip_of(samples, CODE_RATE_HZ, path="output")
        return self._heard(clip, (Span(0.0, clip.duration_s),))

    def _heard(self, clip: Clip, speech: Sequence[Span]) -> tuple[Likeness, ...]:
        found: list[Likeness] = []
        for voice in self._voices:
            try:
                windows = score_windows(clip, speech, voice)
            except AudioDecodeError:  # too little to embed
                windows = ()
            if windows:
                found.append(
                    Likeness(
                        voice.verifier.model,
                        voice.verifier.scale,
                        {w.name: w.score for w in windows},
                        {w.name: w.control_score for w in windows},
                    )
                )
        return tuple(found)
