"""Does the beginning of one recording sound like a stretch of another? The witness that needs no recogniser.

A leak is the reference, spoken on: the same voice says the same words in the same way. Cepstra of both, every 10 ms, are
laid along each other (dynamic time warping, steps of Sakoe and Chiba 1978 with a slope between 1/2 and 2); a path earns what its
frames lie below ``_NEAR`` and pays what they lie above, as in a local alignment of Smith and Waterman 1981. It has to begin
with the speech of the output and may lie anywhere in the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.fft import dct

from refprep.dsp.resample import resample
from refprep.types import Samples, Span
from refprep.units import seconds_to_samples

FRAME_S = 0.01
_RATE_HZ = 16_000
_WINDOW_SAMPLES = 400
_FFT_SAMPLES = 512
_NUM_MELS = 40
_CEPSTRA = slice(1, 20)  # the first says how loud it is
_FLOOR_DB = -40.0  # below a frame's loudest band: what noise fills differently in every recording
_NEAR = 1.3
_START_FRAMES = 20  # voice activity may begin with a breath
_STEPS = ((1, 1), (2, 1), (1, 2))

_QUIET_DB = -30.0  # below the loudest frames: pauses are alike in every recording, and say nothing
_SILENCE_DB = -90.0


@dataclass(frozen=True, slots=True, eq=False)
class Cepstra:
    """Mel cepstra of a recording, the loudness left out.

    Attributes:
        frames: (N, 19), one row every 10 ms.
        is_loud: (N,) bool, speech rather than a pause.
    """

    frames: npt.NDArray[np.float64]
    is_loud: npt.NDArray[np.bool_]

    def cut(self, start_s: float, end_s: float) -> Cepstra:
        """The frames that begin in a stretch."""
        inside = slice(max(0, round(start_s / FRAME_S)), max(0, round(end_s / FRAME_S)))
        return Cepstra(self.frames[inside], self.is_loud[inside])

    def reversed(self) -> Cepstra:
        """The same, the last frame first."""
        return Cepstra(self.frames[::-1], self.is_loud[::-1])


@dataclass(frozen=True, slots=True)
class Echo:
    """A stretch of the reference, found at the beginning of an output.

    Attributes:
        gain: What the path earns, in frames times distance.
        distance: Mean distance of its loud frames.
        span: In the output, seconds from where the search began.
        source: In the reference, likewise.
    """

    gain: float
    distance: float
    span: Span
    source: Span


def cepstra(samples: Samples, sample_rate_hz: int) -> Cepstra:
    """What a recording sounds like, every 10 ms."""
    sound = resample(samples, sample_rate_hz, _RATE_HZ)
    hop = seconds_to_samples(FRAME_S, _RATE_HZ)
    if sound.shape[0] < _WINDOW_SAMPLES:
        return Cepstra(np.zeros((0, _CEPSTRA.stop - _CEPSTRA.start)), np.zeros(0, dtype=np.bool_))
    frames = np.lib.stride_tricks.sliding_window_view(sound, _WINDOW_SAMPLES)[::hop]
    powers = np.abs(np.fft.rfft(frames * np.hanning(_WINDOW_SAMPLES), _FFT_SAMPLES)) ** 2
    mels = powers @ _mel_bands().T
    floors = np.maximum(mels.max(axis=1, keepdims=True), 1e-12) * 10.0 ** (_FLOOR_DB / 10.0)
    levels_db = 10.0 * np.log10(mels.sum(axis=1) + 1e-12)
    return Cepstra(
        frames=dct(np.log(mels + floors), norm="ortho", axis=1)[:, _CEPSTRA],
        is_loud=np.asarray(levels_db > max(np.percentile(levels_db, 95) + _QUIET_DB, _SILENCE_DB)),
    )


def find_echo(output: Cepstra, reference: Cepstra) -> Echo | None:
    """The stretch of the reference that an output begins with; None where no path earns anything.

    Args:
        output: Its first seconds, from the first speech on. Reverse both to search the end.
        reference: All of it.
    """
    num_out, num_ref = output.frames.shape[0], reference.frames.shape[0]
    if not num_out or not num_ref:
        return None
    earned = _NEAR - _distances(output.frames, reference.frames)
    is_heard = output.is_loud[:, None] & reference.is_loud[None, :]
    earned = np.where(is_heard, earned, np.minimum(earned, 0.0))
    gains = np.full((num_out, num_ref), -np.inf)
    came = np.zeros((num_out, num_ref), dtype=np.int8)  # 1 + number of the step, 0 where a path begins
    for t in range(num_out):
        if t <= _START_FRAMES:
            gains[t] = 0.0
        for number, (back_out, back_ref) in enumerate(_STEPS, start=1):
            if t >= back_out and num_ref > back_ref:
                before, here = gains[t - back_out, :-back_ref], gains[t, back_ref:]
                came[t, back_ref:][before > here] = number
                np.maximum(before, here, out=here)
        gains[t] += earned[t]
    end = int(np.argmax(gains))
    gain = float(gains.flat[end])
    return _trace(came, is_heard, divmod(end, num_ref), gain) if gain > 0.0 else None


def _distances(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N, M) root mean square differences of rows."""
    squares = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1)[None, :] - 2.0 * one @ other.T
    found: npt.NDArray[np.float64] = np.sqrt(np.maximum(squares, 0.0) / one.shape[1])
    return found


def _trace(
    came: npt.NDArray[np.int8], is_heard: npt.NDArray[np.bool_], end: tuple[int, int], gain: float
) -> Echo:
    """Walk a path back to where it began."""
    out, ref = end
    num_loud = int(is_heard[out, ref])
    while came[out, ref]:
        back_out, back_ref = _STEPS[came[out, ref] - 1]
        out, ref = out - back_out, ref - back_ref
        num_loud += int(is_heard[out, ref])
    middle_s = _WINDOW_SAMPLES / _RATE_HZ / 2  # a frame stands for the middle of its window
    return Echo(
        gain=gain,
        distance=_NEAR - gain / max(1, num_loud),
        span=Span(out * FRAME_S, end[0] * FRAME_S + middle_s),
        source=Span(ref * FRAME_S, end[1] * FRAME_S + middle_s),
    )


def _mel_bands() -> npt.NDArray[np.float64]:
    """(40, 257) triangles between 80 and 7600 Hz; O'Shaughnessy's mel scale."""
    freqs = np.fft.rfftfreq(_FFT_SAMPLES, 1.0 / _RATE_HZ)
    low, high = (2595.0 * np.log10(1.0 + f / 700.0) for f in (80.0, 7600.0))
    edges = 700.0 * (10.0 ** (np.linspace(low, high, _NUM_MELS + 2) / 2595.0) - 1.0)
    rising = (freqs - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - freqs) / (edges[2:] - edges[1:-1])[:, None]
    bands: npt.NDArray[np.float64] = np.clip(np.minimum(rising, falling), 0.0, None)
    return bands
