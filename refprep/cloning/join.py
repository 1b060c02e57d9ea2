"""Pieces of speech in a row, without clicks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refprep.types import Samples, freeze
from refprep.units import db_to_gain, seconds_to_samples

FADE_S = 0.005
"""A raised cosine this long at the edges of a piece: shorter than the onset of any consonant, long enough not to click."""

PAUSE_S = 0.3
"""Least pause between two pieces: what a reader leaves between sentences."""

_SILENT_BELOW_DB = -45.0
_PIECE_S = 0.01


def join_pieces(pieces: Sequence[Samples], sample_rate_hz: int, *, pause_s: float = PAUSE_S) -> Samples:
    """Join pieces of speech; silence at their edges counts towards the pause between them.

    Args:
        pieces: (T,) float32 each.
        sample_rate_hz: Of all.
        pause_s: Least silence between the speech of two pieces.

    Returns:
        (T,) float32; one piece alone comes back as it is.
    """
    if len(pieces) == 1:
        return pieces[0]
    parts: list[Samples] = []
    for number, piece in enumerate(pieces):
        parts.append(_faded(piece, sample_rate_hz))
        if number + 1 < len(pieces):
            there = edge_silence_s(piece[::-1], sample_rate_hz) + edge_silence_s(
                pieces[number + 1], sample_rate_hz
            )
            missing = seconds_to_samples(max(0.0, pause_s - there), sample_rate_hz)
            parts.append(np.zeros(missing, np.float32))
    return freeze(np.concatenate(parts) if parts else np.zeros(0, np.float32))


def edge_silence_s(samples: Samples, sample_rate_hz: int) -> float:
    """Silence at the start: pieces of 10 ms whose level stays 45 dB under the loudest one."""
    step = seconds_to_samples(_PIECE_S, sample_rate_hz)
    count = len(samples) // step
    if count == 0:
        return 0.0
    levels = np.sqrt(np.mean(samples[: count * step].reshape(count, step) ** 2, axis=1))
    is_loud = levels > max(float(levels.max()) * db_to_gain(_SILENT_BELOW_DB), 1e-7)
    return (int(np.argmax(is_loud)) if is_loud.any() else count) * _PIECE_S


def _faded(piece: Samples, sample_rate_hz: int) -> Samples:
    length = min(seconds_to_samples(FADE_S, sample_rate_hz), len(piece) // 2)
    if length == 0:
        return piece
    ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(length) + 0.5) / length)).astype(np.float32)
    faded = piece.copy()
    faded[:length] *= ramp
    faded[-length:] *= ramp[::-1]
    return faded
