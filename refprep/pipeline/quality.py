"""Clip, speech -> QualityReport: what the signal is like. Every formula and its source is in ``refprep.dsp``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from refprep.dsp.bandwidth import bandwidth_hz
from refprep.dsp.clipping import clipped_ratio
from refprep.dsp.levels import dc_offset, rms_dbfs, span_samples
from refprep.dsp.loudness import integrated_lufs
from refprep.dsp.pace import counts_characters, speech_units
from refprep.dsp.silence import longest_inner_pause, refine_edges
from refprep.dsp.snr import estimate_snr
from refprep.dsp.true_peak import true_peak_dbtp
from refprep.types import Clip, QualityReport, Span
from refprep.units import seconds_to_samples

_TAIL_S = 0.05
_MIN_PACED_SPEECH_S = 0.5  # below it one syllable more or less is a different pace


def measure_quality(clip: Clip, speech: Sequence[Span], *, text: str | None, language: str) -> QualityReport:
    """Measure a clip.

    Args:
        clip: Audio at any rate.
        speech: Voice activity: sorted, disjoint, seconds from the clip's start; empty where nobody speaks.
        text: What is said, for the pace; None when unknown.
        language: BCP 47; empty when unknown.

    Returns:
        The report. Silences are measured from where the energy of the speech starts and stops, relative to its own
        level. Without speech ``leading_silence_s`` is the whole clip, ``trailing_silence_s`` is 0.0, and
        ``speech_level_dbfs`` is -inf.
    """
    samples, rate_hz = clip.samples, clip.sample_rate_hz
    offset = dc_offset(samples)
    sound = samples - np.float32(offset)  # an offset is no sound: levels are measured without it
    speech_level_dbfs = rms_dbfs(span_samples(sound, rate_hz, speech))
    snr = estimate_snr(samples, rate_hz, speech)
    edged = refine_edges(
        sound, rate_hz, speech, speech_level_dbfs=speech_level_dbfs, noise_level_dbfs=snr.noise_dbfs
    )
    speech_s = sum(s.duration_s for s in edged)
    inner = longest_inner_pause(edged)
    units = speech_units(text, language) if text else None
    tail = samples[-max(1, seconds_to_samples(_TAIL_S, rate_hz)) :]
    return QualityReport(
        loudness_lufs=integrated_lufs(samples, rate_hz),
        speech_level_dbfs=speech_level_dbfs,
        true_peak_dbtp=true_peak_dbtp(samples, rate_hz),
        clipped_ratio=clipped_ratio(samples),
        snr_db=snr.snr_db,
        bandwidth_hz=bandwidth_hz(samples, rate_hz, speech),
        sample_rate_hz=rate_hz,
        dc_offset=offset,
        leading_silence_s=edged[0].start_s if edged else clip.duration_s,
        trailing_silence_s=max(0.0, clip.duration_s - edged[-1].end_s) if edged else 0.0,
        longest_inner_silence_s=inner.duration_s if inner else 0.0,
        longest_inner_silence=inner,
        tail_level_dbfs=rms_dbfs(tail - np.float32(dc_offset(tail))),
        pace_per_s=units / speech_s if units is not None and speech_s >= _MIN_PACED_SPEECH_S else None,
        duration_s=clip.duration_s,
        speech_s=speech_s,
        noise_level_dbfs=snr.noise_dbfs,
        snr_method=snr.method,
        is_pace_in_characters=counts_characters(language),
    )
