"""Signal to noise: the level of the speech over the level of the pauses.

The pauses say it directly. Where they are digital silence (a join, a gate, a lossy codec) or too short, the quietest frames
within the speech stand in for them: the minimum-statistics idea of R. Martin (IEEE Trans. Speech Audio Proc. 9(5), 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from refprep.dsp.levels import dc_offset, frame_powers, power_to_db, span_samples
from refprep.dsp.silence import pauses
from refprep.types import Samples, SnrMethod, Span
from refprep.units import seconds_to_samples

_FRAME_S = 0.02
_GUARD_S = 0.05  # beside speech a pause still holds reverberation and breath
_MIN_PAUSE_FRAMES = 5
_MIN_SPEECH_FRAMES = 25
_QUIET_PERCENTILE = 5.0
_DIGITAL_SILENCE = 1e-12  # power, -120 dBFS: below the noise of any converter


@dataclass(frozen=True, slots=True)
class SnrEstimate:
    """Speech over noise.

    Attributes:
        snr_db: None when impossible: no speech, or no frame with any noise in it.
        noise_dbfs: Level of the noise; -inf when there is none.
        method: Where the noise was read.
    """

    snr_db: float | None
    noise_dbfs: float
    method: SnrMethod


def estimate_snr(samples: Samples, sample_rate_hz: int, speech: Sequence[Span]) -> SnrEstimate:
    """Estimate the signal-to-noise ratio of a clip.

    Args:
        samples: (T,) float32 mono.
        sample_rate_hz: Of the samples.
        speech: Voice activity: sorted, disjoint.
    """
    frame_samples = max(1, seconds_to_samples(_FRAME_S, sample_rate_hz))
    heard = span_samples(samples, sample_rate_hz, speech)
    speech_powers = frame_powers(heard - np.float32(dc_offset(heard)), frame_samples)
    quiet = [
        Span(p.start_s + _GUARD_S, p.end_s - _GUARD_S)
        for p in pauses(speech, samples.shape[0] / sample_rate_hz)
        if p.duration_s > 2 * _GUARD_S + _FRAME_S
    ]
    # Frame by frame for each pause: a frame that straddles two of them would mix their noises.
    parts = [frame_powers(_centred(span_samples(samples, sample_rate_hz, [p])), frame_samples) for p in quiet]
    pause_powers = np.concatenate(parts) if parts else np.zeros(0)
    pause_powers = pause_powers[pause_powers > _DIGITAL_SILENCE]
    if pause_powers.size >= _MIN_PAUSE_FRAMES and speech_powers.size:
        # The median: a click or a breath in one pause is not the noise of the room.
        return _ratio(float(speech_powers.mean()), float(np.median(pause_powers)), SnrMethod.PAUSES)
    voiced = speech_powers[speech_powers > _DIGITAL_SILENCE]
    if voiced.size >= _MIN_SPEECH_FRAMES:
        floor = float(np.percentile(voiced, _QUIET_PERCENTILE))
        return _ratio(float(voiced.mean()), floor, SnrMethod.QUIET_FRAMES)
    return SnrEstimate(None, power_to_db(0.0), SnrMethod.NONE)


def _centred(pause: Samples) -> Samples:
    """A pause around its own median: the mean of the clip, or a click, would add to the noise."""
    return pause - np.median(pause).astype(np.float32) if pause.size else pause


def _ratio(speech_power: float, noise_power: float, method: SnrMethod) -> SnrEstimate:
    """Noise is in the speech too: what is left after taking it away is the signal."""
    if noise_power <= 0.0:
        return SnrEstimate(None, power_to_db(0.0), SnrMethod.NONE)
    signal_power = max(speech_power - noise_power, 0.01 * noise_power)  # at most 20 dB below the noise
    return SnrEstimate(power_to_db(signal_power / noise_power), power_to_db(noise_power), method)
