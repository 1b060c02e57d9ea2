"""Clip, voice activity -> where its speech really begins and ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refprep.dsp.levels import dc_offset, rms_dbfs, span_samples
from refprep.dsp.silence import refine_edges, split_at_quiet
from refprep.dsp.snr import estimate_snr
from refprep.types import Clip, Span

_MIN_QUIET_S = 0.08  # closures of stops are shorter


def speech_edges(clip: Clip, speech: Sequence[Span]) -> tuple[Span, ...]:
    """Voice activity, whose frames are 32 ms and which passes over short pauses, made finer by the energy (10 ms).

    Args:
        clip: Audio at any rate.
        speech: Its voice activity: sorted, disjoint.

    Returns:
        Spans, sorted and disjoint: every edge moved to where the energy starts and stops, and cut where it drops to that
        of a pause for 80 ms.
    """
    rate_hz = clip.sample_rate_hz
    sound = clip.samples - np.float32(dc_offset(clip.samples))
    speech_level_dbfs = rms_dbfs(span_samples(sound, rate_hz, speech))
    noise_level_dbfs = estimate_snr(clip.samples, rate_hz, speech).noise_dbfs
    edged = refine_edges(
        sound, rate_hz, speech, speech_level_dbfs=speech_level_dbfs, noise_level_dbfs=noise_level_dbfs
    )
    return split_at_quiet(
        sound,
        rate_hz,
        edged,
        speech_level_dbfs=speech_level_dbfs,
        noise_level_dbfs=noise_level_dbfs,
        min_quiet_s=_MIN_QUIET_S,
    )
