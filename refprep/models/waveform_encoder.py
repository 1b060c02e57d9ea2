"""Encoders that take a waveform of any length: the whole clip at once, and its windows in batches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from refprep.models.windows import gather_speech, make_voiceprint, window_ranges
from refprep.precision import exact_fp32
from refprep.types import Clip, Samples, Span, Voiceprint
from refprep.units import seconds_to_samples

ENCODER_SAMPLE_RATE_HZ = 16_000
_MARGIN_S = 0.1  # keeps pauses up to 0.2 s whole: these networks were trained on speech with its pauses
_LONGEST_S = 60.0
_BATCH_WINDOWS = 16


class WaveformEncoder(ABC):
    """What the SpeechBrain and the WavLM adapter share.

    The margin around the speech and the windows follow GE2E's measurement (``refprep.models.ge2e``): windows near 1.6 s
    see a short intruder first. These networks could not be measured where this was written, as no package carries
    their weights; 2.0 s every 1.0 s leaves them a little more to go by. ``refprep calibrate`` and ``refprep bench`` do
    it where the weights are.

    Attributes:
        name: Of the model.
        dim: Length of its vectors.
        default_threshold: None: not measured.
        window_threshold: None: not measured.
    """

    default_threshold: float | None = None
    window_threshold: float | None = None
    window_s = 2.0
    window_hop_s = 1.0

    def __init__(self, *, name: str, dim: int, device: str) -> None:
        self.name = name
        self.dim = dim
        self._device = device

    @abstractmethod
    def forward(self, waves: torch.Tensor) -> torch.Tensor:
        """(N, T) float32 at 16 kHz on the device -> (N, dim) float32, any norm."""

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """Embed the clip as a whole and in windows (see ``refprep.protocols.SpeakerEncoder``).

        More than a minute of speech is embedded in equal parts of at most a minute, and their directions averaged: a
        transformer's memory grows with the square of the length.

        Raises:
            AudioDecodeError: The clip holds too little speech to embed.
            DeviceError: The device ran out of memory.
        """
        track = gather_speech(clip, speech, sample_rate_hz=ENCODER_SAMPLE_RATE_HZ, margin_s=_MARGIN_S)
        ranges = window_ranges(
            track.num_samples,
            seconds_to_samples(self.window_s, ENCODER_SAMPLE_RATE_HZ),
            seconds_to_samples(self.window_hop_s, ENCODER_SAMPLE_RATE_HZ),
        )
        num_parts = -(-track.num_samples // seconds_to_samples(_LONGEST_S, ENCODER_SAMPLE_RATE_HZ))
        parts = [self.embed_waves([part])[0] for part in np.array_split(track.samples, num_parts)]
        if len(parts) > 1:
            parts = [part / np.linalg.norm(part) for part in parts]
        return make_voiceprint(
            clip,
            track,
            model=self.name,
            vector=np.mean(parts, axis=0),
            window_vectors=self.embed_waves([track.samples[start:stop] for start, stop in ranges]),
            ranges=ranges,
        )

    def embed_waves(self, waves: Sequence[Samples]) -> npt.NDArray[np.float32]:
        """Embed waveforms as they are.

        Args:
            waves: N of (T,) float32 at 16 kHz, all of one length.

        Returns:
            (N, dim) float32, the network's own norms.
        """
        vectors: list[npt.NDArray[np.float32]] = []
        with exact_fp32(self._device, where=self.name):
            for start in range(0, len(waves), _BATCH_WINDOWS):
                batch = torch.from_numpy(np.stack(waves[start : start + _BATCH_WINDOWS])).to(self._device)
                vectors.append(self.forward(batch).float().cpu().numpy())
        return np.concatenate(vectors)
