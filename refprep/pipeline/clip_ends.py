"""Clip, speech -> ClipEdges: does it begin and end with a word's own onset and decay, or in the midst of it?"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from refprep.dsp.levels import dc_offset, rms_dbfs
from refprep.types import Clip, ClipEdge, ClipEdges, QualityReport, Samples, Span, Transcript, Word
from refprep.units import seconds_to_samples

# A clip that was trimmed at a word's onset is loud within 30 ms, but not at once; one that was cut in a vowel is.
_EDGES_S = (0.01, 0.03)
_WORD_REACH_S = 0.3  # a word that begins or ends farther from the edge does not stand there


def measure_edges(
    clip: Clip, speech: Sequence[Span], quality: QualityReport, *, heard: Transcript | None = None
) -> ClipEdges | None:
    """Measure both ends of a clip.

    Args:
        clip: Audio at any rate.
        speech: Voice activity: sorted, disjoint.
        quality: Of the same clip: the levels of its speech and noise.
        heard: Free transcription, for the words that stand at the edges; None where nobody listened.

    Returns:
        The ends; None where nobody speaks.
    """
    if not speech or not math.isfinite(quality.speech_level_dbfs):
        return None
    words = heard.words if heard else ()
    first = words[0] if words and words[0].span.start_s <= _WORD_REACH_S else None
    last = words[-1] if words and words[-1].span.end_s >= clip.duration_s - _WORD_REACH_S else None
    end_silence_s = max(0.0, clip.duration_s - speech[-1].end_s)
    return ClipEdges(
        start=_edge(clip.samples, clip.sample_rate_hz, speech[0].start_s, quality, first),
        end=_edge(clip.samples[::-1], clip.sample_rate_hz, end_silence_s, quality, last),
        duration_s=clip.duration_s,
    )


def _edge(
    inwards: Samples, sample_rate_hz: int, silence_s: float, quality: QualityReport, word: Word | None
) -> ClipEdge:
    """``inwards``: samples in the order from the edge."""
    pieces = (inwards[: max(1, seconds_to_samples(s, sample_rate_hz))] for s in _EDGES_S)
    level_dbfs = min(rms_dbfs(piece - np.float32(dc_offset(piece))) for piece in pieces)
    noise_dbfs = quality.noise_level_dbfs
    return ClipEdge(
        level_db=level_dbfs - quality.speech_level_dbfs,
        above_noise_db=level_dbfs - noise_dbfs if math.isfinite(noise_dbfs) else math.inf,
        silence_s=silence_s,
        word=word.text if word else "",
        word_probability=word.probability if word else None,
    )
