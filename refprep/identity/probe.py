"""A generated test signal: what an encoder makes of it tells which weights it has and how it prepares audio.

Buzzing vowels of a gliding pitch at 24 kHz, quieter than speech is, with a pause, a hum and an offset: resampling, level,
pauses and low frequencies are all handled on the way to a vector, and a slip in any of them turns it.
"""

from __future__ import annotations

import hashlib

import numpy as np

from refprep.protocols import SpeakerEncoder
from refprep.types import AudioSource, Clip, Downmix, SampleFormat, Span, Vector, freeze

_RATE_HZ = 24_000
_DURATION_S = 4.0
SPEECH = (Span(0.25, 1.85), Span(2.3, 3.8))
"""Where the signal buzzes."""
_FORMANTS_HZ = (
    (700.0, 1220.0, 2600.0),
    (300.0, 2300.0, 3000.0),
    (450.0, 800.0, 2400.0),
    (600.0, 1700.0, 2500.0),
)
_BANDWIDTH_HZ = 120.0


def probe_clip() -> Clip:
    """The signal: the same samples on every machine, to the last bit of float32 but one."""
    time_s = np.arange(round(_DURATION_S * _RATE_HZ)) / _RATE_HZ
    pitch_hz = 130.0 + 35.0 * np.sin(2 * np.pi * 0.9 * time_s) + 12.0 * np.sin(2 * np.pi * 2.3 * time_s)
    phase = 2 * np.pi * np.cumsum(pitch_hz) / _RATE_HZ
    vowel = np.minimum((time_s / _DURATION_S * 8).astype(int) % len(_FORMANTS_HZ), len(_FORMANTS_HZ) - 1)
    formants_hz = np.asarray(_FORMANTS_HZ)[vowel]
    sound = np.zeros_like(time_s)
    for harmonic in range(1, 61):
        at_hz = harmonic * pitch_hz
        gain = sum(
            1.0 / (1.0 + ((at_hz - formants_hz[:, k]) / _BANDWIDTH_HZ) ** 2) / (k + 1) for k in range(3)
        )
        sound += np.where(at_hz < 7600.0, gain, 0.0) / np.sqrt(harmonic) * np.sin(harmonic * phase)
    envelope = np.zeros_like(time_s)
    for span in SPEECH:
        inside = (time_s >= span.start_s) & (time_s < span.end_s)
        envelope[inside] = np.sin(np.pi * (time_s[inside] - span.start_s) / span.duration_s) ** 0.5
    samples = 0.012 * envelope * sound + 0.002 * np.sin(2 * np.pi * 27.0 * time_s) + 0.004
    frozen = freeze(samples.astype(np.float32))
    return Clip(
        id=hashlib.sha256(frozen.tobytes()).hexdigest(),
        source=AudioSource(
            path="test signal",
            file_sha256="",
            container="",
            codec="",
            sample_format=SampleFormat.FLOAT,
            num_channels=1,
            declared_duration_s=None,
            decoded_duration_s=_DURATION_S,
            downmix=Downmix.NONE,
            channel_peaks=(float(np.max(np.abs(frozen))),),
        ),
        samples=frozen,
        sample_rate_hz=_RATE_HZ,
    )


def probe(encoder: SpeakerEncoder) -> Vector:
    """What the encoder makes of the test signal: (D,) float32, unit norm."""
    return encoder.embed(probe_clip(), SPEECH).vector
