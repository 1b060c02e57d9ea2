"""What a speaker encoder hears of a clip, and the windows it is heard in.

Pauses carry the room and not the voice, so the stretches of speech are put one behind the other first. Windows are
cut from that track and reported on the clip's own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.dsp.resample import resample
from refprep.errors import AudioDecodeError
from refprep.types import Clip, Samples, Span, Voiceprint, freeze
from refprep.units import seconds_to_samples

MIN_SPEECH_S = 0.4
"""Below it no encoder here tells speakers apart, and the x-vector networks run out of frames (WavLM's needs 0.3 s)."""

Vectors = npt.NDArray[np.float32]
"""(N, D) float32, every row of unit norm."""


@dataclass(frozen=True, slots=True, eq=False)
class SpeechTrack:
    """The speech of a clip without its long pauses.

    Attributes:
        samples: (T,) float32 mono.
        sample_rate_hz: Of ``samples``.
        track_starts: Where each piece begins on the track, in samples; sorted, the first is 0.
        clip_starts: Where each piece begins in the resampled clip, in samples.
        speech_s: Seconds of speech, without the margins kept around it.
    """

    samples: Samples
    sample_rate_hz: int
    track_starts: tuple[int, ...]
    clip_starts: tuple[int, ...]
    speech_s: float

    @property
    def num_samples(self) -> int:
        """Length in samples."""
        return int(self.samples.shape[0])

    def clip_span(self, start: int, stop: int) -> Span:
        """Where samples ``start`` up to ``stop`` of the track lie in the clip, pauses between them included."""
        first = self._clip_sample(min(start, self.num_samples - 1))
        last = self._clip_sample(min(stop, self.num_samples) - 1)
        return Span(first / self.sample_rate_hz, (last + 1) / self.sample_rate_hz)

    def _clip_sample(self, sample: int) -> int:
        piece = int(np.searchsorted(self.track_starts, sample, side="right")) - 1
        return self.clip_starts[piece] + sample - self.track_starts[piece]


def gather_speech(clip: Clip, speech: Sequence[Span], *, sample_rate_hz: int, margin_s: float) -> SpeechTrack:
    """Put a clip's speech on one track.

    Args:
        clip: Audio at any rate.
        speech: Voice activity: sorted, disjoint, seconds from the clip's start.
        sample_rate_hz: Rate of the track.
        margin_s: Kept before and after every span; so a pause of twice this length stays whole.

    Raises:
        AudioDecodeError: Less than ``MIN_SPEECH_S`` of speech.
    """
    speech_s = sum(s.duration_s for s in speech)
    if speech_s < MIN_SPEECH_S:
        raise AudioDecodeError(
            f"only {speech_s:.2f} s of speech; a voice can be told from {MIN_SPEECH_S:.1f} s upwards",
            where=clip.source.path,
            fix="Leave the clip out, or give a longer one.",
        )
    samples = resample(clip.samples, clip.sample_rate_hz, sample_rate_hz)
    pieces: list[tuple[int, int]] = []
    for span in speech:
        start = max(0, seconds_to_samples(span.start_s - margin_s, sample_rate_hz))
        stop = min(samples.shape[0], seconds_to_samples(span.end_s + margin_s, sample_rate_hz))
        if pieces and start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(stop, pieces[-1][1]))
        elif start < stop:
            pieces.append((start, stop))
    if not pieces:
        raise ValueError("the speech spans lie outside the clip")
    lengths = [stop - start for start, stop in pieces]
    return SpeechTrack(
        samples=np.concatenate([samples[start:stop] for start, stop in pieces]),
        sample_rate_hz=sample_rate_hz,
        track_starts=tuple(int(n) for n in np.cumsum([0, *lengths[:-1]])),
        clip_starts=tuple(start for start, _ in pieces),
        speech_s=speech_s,
    )


def window_ranges(num_samples: int, window: int, hop: int) -> list[tuple[int, int]]:
    """Windows of equal length that cover a track: half-open, in samples.

    The last one is moved back to end with the track, so none is padded; a track shorter than a window is one window.
    """
    if num_samples <= window:
        return [(0, num_samples)]
    starts = list(range(0, num_samples - window + 1, hop))
    if starts[-1] + window < num_samples:
        starts.append(num_samples - window)
    return [(start, start + window) for start in starts]


def unit_rows(vectors: npt.NDArray[np.floating]) -> Vectors:
    """(N, D) with every row divided by its norm, in float64 until the end; float32.

    Raises:
        ValueError: A row is zero or not finite: it has no direction.
    """
    exact = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(exact, axis=1, keepdims=True)
    if not (np.isfinite(norms).all() and (norms > 0.0).all()):
        raise ValueError("an embedding of no direction")
    return np.asarray(exact / norms, dtype=np.float32)


def make_voiceprint(
    clip: Clip,
    track: SpeechTrack,
    *,
    model: str,
    vector: npt.NDArray[np.floating],
    window_vectors: npt.NDArray[np.floating],
    ranges: Sequence[tuple[int, int]],
) -> Voiceprint:
    """Normalise the embeddings and put the windows on the clip's clock.

    Args:
        clip: What was embedded.
        track: Its speech.
        model: Name of the encoder.
        vector: (D,) of the whole clip, any norm.
        window_vectors: (N, D), any norms.
        ranges: The N windows, in samples of the track.

    Raises:
        AudioDecodeError: The network gave an embedding without a direction.
    """
    try:
        rows = unit_rows(np.concatenate([vector[None], window_vectors]))
    except ValueError as error:
        raise AudioDecodeError(
            f"{model} gives {error}",
            where=clip.source.path,
            fix="Leave the clip out: it holds no usable speech.",
        ) from error
    # The sample grid of another rate may reach past the clip's own last sample by a fraction of one.
    spans = (track.clip_span(start, stop) for start, stop in ranges)
    return Voiceprint(
        clip_id=clip.id,
        model=model,
        vector=freeze(rows[0]),
        window_vectors=freeze(rows[1:]),
        windows=tuple(Span(min(s.start_s, clip.duration_s), min(s.end_s, clip.duration_s)) for s in spans),
        speech_s=track.speech_s,
    )
