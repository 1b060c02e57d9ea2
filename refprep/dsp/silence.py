"""Where speech really begins and ends: the edges of voice activity, moved by the energy around them.

A fixed threshold (-40 dBFS in most tools) eats the soft final consonants of a quiet recording. Here the threshold
lies below the clip's own speech level, and above its own noise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from refprep.dsp.levels import Levels, frame_powers
from refprep.types import Samples, Span
from refprep.units import seconds_to_samples

_FRAME_S = 0.01
# Weak fricatives and released stops lie 25 to 35 dB below the mean level of connected speech; 40 dB keeps them.
_BELOW_SPEECH_DB = 40.0
_ABOVE_NOISE_DB = 6.0
_MAX_OUTWARD_S = 0.20  # the voice-activity model may miss a final consonant of this length
_MAX_INWARD_S = 0.10  # it pads its spans, by 30 ms in our settings


def refine_edges(
    samples: Samples,
    sample_rate_hz: int,
    speech: Sequence[Span],
    *,
    speech_level_dbfs: float,
    noise_level_dbfs: float,
) -> tuple[Span, ...]:
    """Move the outer edges of every span to where the energy starts and stops.

    Args:
        samples: (T,) float32 mono.
        sample_rate_hz: Of the samples.
        speech: Voice activity: sorted, disjoint.
        speech_level_dbfs: Level of the speech.
        noise_level_dbfs: Level of the pauses; -inf where they are digital silence.

    Returns:
        Spans in the same order, disjoint, within the clip; every one keeps its middle.
    """
    is_active, frame_s = _activity(samples, sample_rate_hz, speech_level_dbfs, noise_level_dbfs)
    duration_s = samples.shape[0] / sample_rate_hz
    if is_active.size == 0:
        return tuple(speech)
    refined: list[Span] = []
    for index, span in enumerate(speech):
        floor_s = refined[-1].end_s if refined else 0.0
        ceiling_s = speech[index + 1].start_s if index + 1 < len(speech) else duration_s
        middle_s = (span.start_s + span.end_s) / 2
        start_s = _edge(is_active, span.start_s, frame_s, outward=-1, limit_s=floor_s, middle_s=middle_s)
        end_s = _edge(is_active, span.end_s, frame_s, outward=1, limit_s=ceiling_s, middle_s=middle_s)
        refined.append(Span(min(max(floor_s, start_s), middle_s), max(min(ceiling_s, end_s), middle_s)))
    return tuple(refined)


def split_at_quiet(
    samples: Samples,
    sample_rate_hz: int,
    speech: Sequence[Span],
    *,
    speech_level_dbfs: float,
    noise_level_dbfs: float,
    min_quiet_s: float,
) -> tuple[Span, ...]:
    """Cut spans where the energy drops to that of a pause, in pauses too short for voice activity.

    Args:
        samples: (T,) float32 mono.
        sample_rate_hz: Of the samples.
        speech: Sorted, disjoint.
        speech_level_dbfs: Level of the speech.
        noise_level_dbfs: Level of the pauses; -inf where they are digital silence.
        min_quiet_s: Shorter drops do not cut: closures of stops.

    Returns:
        Sorted, disjoint spans within the given ones.
    """
    is_active, frame_s = _activity(samples, sample_rate_hz, speech_level_dbfs, noise_level_dbfs)
    pieces: list[Span] = []
    for span in speech:
        first, last = round(span.start_s / frame_s), min(round(span.end_s / frame_s), is_active.size)
        start_s, at = span.start_s, first
        for active, run in itertools.groupby(is_active[first:last].tolist()):
            length = len(list(run))
            if not active and first < at and at + length < last and length * frame_s >= min_quiet_s:
                pieces.append(Span(start_s, at * frame_s))
                start_s = (at + length) * frame_s
            at += length
        pieces.append(Span(start_s, max(start_s, span.end_s)))
    return tuple(pieces)


def _activity(
    samples: Samples, sample_rate_hz: int, speech_level_dbfs: float, noise_level_dbfs: float
) -> tuple[np.ndarray[tuple[int], np.dtype[np.bool_]], float]:
    """(N,) bool, whether each frame is louder than a pause, and the frame's length in seconds; empty if nobody can tell."""
    frame_samples = max(1, seconds_to_samples(_FRAME_S, sample_rate_hz))
    with np.errstate(divide="ignore"):
        levels: Levels = 10.0 * np.log10(frame_powers(samples, frame_samples))
    threshold_dbfs = max(speech_level_dbfs - _BELOW_SPEECH_DB, noise_level_dbfs + _ABOVE_NOISE_DB)
    if not math.isfinite(threshold_dbfs):
        levels = levels[:0]
    return levels > threshold_dbfs, frame_samples / sample_rate_hz


def _edge(
    is_active: np.ndarray[tuple[int], np.dtype[np.bool_]],
    edge_s: float,
    frame_s: float,
    *,
    outward: int,
    limit_s: float,
    middle_s: float,
) -> float:
    """Time of the outermost active frame that hangs together with the edge."""
    frame = round(edge_s / frame_s) - (1 if outward > 0 else 0)  # the frame just inside the edge
    last = len(is_active) - 1

    def active(index: int) -> bool:
        return 0 <= index <= last and bool(is_active[index])

    moved = 0
    # A closure of one or two silent frames belongs to the stop that follows it.
    while moved < round(_MAX_OUTWARD_S / frame_s):
        step = next((k for k in (1, 2, 3) if active(frame + outward * k)), None)
        if step is None:
            break
        frame, moved = frame + outward * step, moved + step
    if moved == 0:
        while moved < round(_MAX_INWARD_S / frame_s) and not active(frame):
            frame, moved = frame - outward, moved + 1
        if moved == 0:
            return edge_s
    found_s = (frame + 1) * frame_s if outward > 0 else frame * frame_s
    return max(middle_s, min(found_s, limit_s)) if outward > 0 else min(middle_s, max(found_s, limit_s))


def pauses(speech: Sequence[Span], duration_s: float) -> tuple[Span, ...]:
    """What is not speech: before, between and after the spans; empty stretches left out."""
    edges = [0.0, *(t for s in speech for t in (s.start_s, s.end_s)), duration_s]
    return tuple(Span(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a)


def longest_inner_pause(speech: Sequence[Span]) -> Span | None:
    """The longest pause between two stretches of speech; None without one."""
    inner = [Span(a.end_s, b.start_s) for a, b in itertools.pairwise(speech) if b.start_s > a.end_s]
    return max(inner, key=lambda s: s.duration_s, default=None)
