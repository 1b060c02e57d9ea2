"""Bandwidth: the highest frequency that still carries speech.

A 48 kHz file can hold telephone speech; its rate says nothing. In every band the loud frames of the speech (fricatives
reach highest, and are rare) are held against the loudest band, and against the same band in the pauses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import signal

from refprep.dsp.levels import span_samples
from refprep.dsp.silence import pauses
from refprep.types import Samples, Span

_FRAME_S = 0.032
_BAND_HZ = 125.0
_LOUD_PERCENTILE = 95.0
# Over the 139 originals of the speech pack with speech, and the same clips cut to 8 kHz and back: 50 dB keeps every cut
# clip at or below 4250 Hz and 98 % of the originals at or above 7255 Hz; with 60 dB, copies of cut clips at 24 kHz and
# 16 bits reach 6625 Hz.
_BELOW_PEAK_DB = 50.0
_ABOVE_PAUSES_DB = 6.0
_GUARD_S = 0.05
_PIECE_S = 5.0
_MAX_PIECES = 60


def bandwidth_hz(samples: Samples, sample_rate_hz: int, speech: Sequence[Span]) -> float:
    """Measure the bandwidth of the speech.

    Args:
        samples: (T,) float32 mono.
        sample_rate_hz: Of the samples.
        speech: Voice activity; the whole clip is used where it is empty.

    Returns:
        Upper edge in Hz, at most half the rate; 0.0 for silence.
    """
    duration_s = samples.shape[0] / sample_rate_hz
    spans = speech or (Span(0.0, duration_s),)
    heard = _thinned(span_samples(samples, sample_rate_hz, spans), sample_rate_hz)
    levels = _band_levels(heard, sample_rate_hz, _LOUD_PERCENTILE)
    if levels is None:
        return 0.0
    threshold = np.full(levels.shape, levels.max() - _BELOW_PEAK_DB)
    quiet = [
        Span(p.start_s + _GUARD_S, p.end_s - _GUARD_S)
        for p in pauses(spans, duration_s)
        if p.duration_s > 3 * _GUARD_S
    ]
    unheard = _thinned(span_samples(samples, sample_rate_hz, quiet), sample_rate_hz)
    noise = _band_levels(unheard, sample_rate_hz, 50.0)
    if noise is not None:
        threshold = np.maximum(threshold, noise + _ABOVE_PAUSES_DB)
    carries = levels > threshold
    # A lone band is a whistle of the equipment, not speech: two of three neighbours have to agree.
    neighbours = np.convolve(carries.astype(np.int64), np.ones(3, dtype=np.int64), mode="full")[2:][
        : carries.size
    ]
    below = np.convolve(carries.astype(np.int64), np.ones(3, dtype=np.int64), mode="full")[: carries.size]
    confirmed = np.flatnonzero(carries & (np.maximum(neighbours, below) >= 2))
    if confirmed.size == 0:
        return 0.0
    return float(min((confirmed[-1] + 1) * _BAND_HZ, sample_rate_hz / 2))


def _thinned(samples: Samples, sample_rate_hz: int) -> Samples:
    """At most some minutes, in pieces from all over: hours of spectra would fill the memory and say the same."""
    piece = round(_PIECE_S * sample_rate_hz)
    num_pieces = samples.shape[0] // piece
    if num_pieces <= _MAX_PIECES:
        return samples
    chosen = np.linspace(0, num_pieces - 1, _MAX_PIECES).astype(np.int64)
    return samples[: num_pieces * piece].reshape(num_pieces, piece)[chosen].reshape(-1)


def _band_levels(samples: Samples, sample_rate_hz: int, percentile: float) -> npt.NDArray[np.float64] | None:
    """Level of every band, dB, at a percentile over the frames; None for silence or less than one frame."""
    frame_samples = round(_FRAME_S * sample_rate_hz)
    if samples.shape[0] < frame_samples or not np.any(samples):
        return None
    # Hann side lobes fall below -60 dB within the neighbouring band.
    frequencies, _, spectra = signal.stft(
        samples,
        sample_rate_hz,
        window="hann",
        nperseg=frame_samples,
        boundary=None,
        padded=False,
        detrend="constant",
    )
    powers = np.abs(spectra) ** 2
    num_bands = int(np.ceil(sample_rate_hz / 2 / _BAND_HZ))
    bands = np.minimum((frequencies / _BAND_HZ).astype(np.int64), num_bands - 1)
    summed = np.zeros((num_bands, powers.shape[1]))
    np.add.at(summed, bands, powers)
    levels: npt.NDArray[np.float64] = 10.0 * np.log10(np.percentile(summed, percentile, axis=1) + 1e-20)
    return levels
