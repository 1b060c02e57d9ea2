"""What is asked of a synthesizer and what it gives back."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.types.arrays import Samples


class CloneMode(enum.StrEnum):
    """How a recorded voice is given to the talker."""

    ICL = "icl"  # in context: the reference's text and codes stand before the answer
    X_VECTOR = "x-vector"  # the speaker embedding alone


class StopReason(enum.StrEnum):
    """Why a synthesis ended. Only EOS is a success."""

    EOS = "eos"  # the talker said that it was done
    MAX_FRAMES = "max-frames"  # the budget was used up
    REPEATING = "repeating"  # one code of codebook 0, over and over: an attractor
    NOT_SPEECH = "not-speech"  # the decoded tail is silence, hum or noise
    CANCELLED = "cancelled"  # the caller asked for it


@dataclass(frozen=True, slots=True, eq=False)
class VoicePrompt:
    """A recorded voice, as the talker takes it.

    Attributes:
        mode: In context, or by its embedding alone.
        speaker_embedding: (D,) float32, not normalised; D is the talker's hidden size.
        text: Words of the reference; needed in context.
        codes: (frames, 16) int32, codebook 0 first; needed in context.
    """

    mode: CloneMode
    speaker_embedding: npt.NDArray[np.float32]
    text: str | None = None
    codes: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        if self.mode is CloneMode.ICL and (not self.text or self.codes is None):
            raise ValueError("in-context cloning needs the reference's text and codes")

    @property
    def num_frames(self) -> int:
        """Frames of reference that stand before the answer."""
        return 0 if self.codes is None or self.mode is CloneMode.X_VECTOR else int(self.codes.shape[0])


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How codes are chosen; ``subtalker`` is the code predictor.

    Attributes:
        do_sample: Draw codebook 0; the likeliest code otherwise.
        temperature: Above 0; logits are divided by it.
        top_k: 0 keeps all codes.
        top_p: In (0, 1]; 1 keeps all codes.
        repetition_penalty: Above 0; of codes of codebook 0 written before in the same request.
        subtalker_do_sample: As above, for codebooks 1 to 15.
        subtalker_temperature: As above.
        subtalker_top_k: As above.
        subtalker_top_p: As above.
    """

    do_sample: bool = True
    temperature: float = 0.9
    top_k: int = 50
    top_p: float = 1.0
    repetition_penalty: float = 1.05
    subtalker_do_sample: bool = True
    subtalker_temperature: float = 0.9
    subtalker_top_k: int = 50
    subtalker_top_p: float = 1.0

    def __post_init__(self) -> None:
        for name in ("temperature", "subtalker_temperature", "repetition_penalty"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0; greedy decoding is do_sample=False")
        for name in ("top_p", "subtalker_top_p"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in (0, 1]")
        for name in ("top_k", "subtalker_top_k"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more")


GREEDY = SamplingParams(do_sample=False, subtalker_do_sample=False)
"""The likeliest code everywhere; the repetition penalty stays."""


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """One text to speak.

    Attributes:
        text: What to say.
        voice: A recorded voice; Base checkpoints.
        speaker: A built-in speaker's name; CustomVoice checkpoints.
        instruct: How to say it (CustomVoice 1.7B), or the voice's description (VoiceDesign).
        language: English name or None for automatic.
        whole_text: The whole text stands before the first frame, instead of one token a frame; None leaves it to the
            kind of checkpoint: Base streams, the others do not.
        sampling: How codes are chosen.
        seed: 0 to 2^64 - 1; the same request with the same seed gives the same codes.
        max_frames: The budget; a request that uses it up did not finish.
    """

    text: str
    voice: VoicePrompt | None = None
    speaker: str | None = None
    instruct: str | None = None
    language: str | None = None
    whole_text: bool | None = None
    sampling: SamplingParams = SamplingParams()
    seed: int = 0
    max_frames: int = 750

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**64:
            raise ValueError("seed must be 0 to 2^64 - 1")
        if self.max_frames < 1:
            raise ValueError("max_frames must be 1 or more")


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedCodes:
    """What the talker wrote for one request.

    Attributes:
        codes: (frames, 16) int32, the frame that said EOS left out.
        eos_ranks: (frames,) int32: how many ids were likelier than EOS when each frame was chosen; 0 is next.
        stop: Why it ended.
        seed: Of the draws.
        first_frame_s: Wall time from the start to the first frame; None where there is none.
        wall_s: Wall time.
    """

    codes: npt.NDArray[np.int32]
    eos_ranks: npt.NDArray[np.int32]
    stop: StopReason
    seed: int
    first_frame_s: float | None
    wall_s: float

    @property
    def num_frames(self) -> int:
        """Frames of 80 ms."""
        return int(self.codes.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class SynthesisResult:
    """Audio, and how it came to be.

    Attributes:
        samples: (frames * 1920,) float32.
        sample_rate_hz: Of ``samples``.
        text: That was asked for.
        generated: The codes, the stop reason, the seed.
        first_audio_s: Wall time from the start to the first samples; None where there are none.
        wall_s: Wall time, decoding included.
    """

    samples: Samples
    sample_rate_hz: int
    text: str
    generated: GeneratedCodes
    first_audio_s: float | None
    wall_s: float

    @property
    def num_samples(self) -> int:
        """Length of the audio."""
        return int(self.samples.shape[0])

    @property
    def duration_s(self) -> float:
        """Length of the audio."""
        return self.num_samples / self.sample_rate_hz

    @property
    def rtf(self) -> float:
        """Wall time over audio time, smaller is better; infinite without audio."""
        return self.wall_s / self.duration_s if self.duration_s else float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class StreamEnd:
    """How audio came to be that was given away as it was made; the samples are whoever's took them.

    Attributes:
        num_samples: Given away: 1920 for every frame.
        sample_rate_hz: Of them.
        text: That was asked for.
        generated: The codes, the stop reason, the seed.
        first_audio_s: Wall time from the start to the first samples; None where there are none.
        wall_s: Wall time, decoding included.
    """

    num_samples: int
    sample_rate_hz: int
    text: str
    generated: GeneratedCodes
    first_audio_s: float | None
    wall_s: float

    @property
    def duration_s(self) -> float:
        """Length of the audio."""
        return self.num_samples / self.sample_rate_hz

    @property
    def rtf(self) -> float:
        """Wall time over audio time, smaller is better; infinite without audio."""
        return self.wall_s / self.duration_s if self.duration_s else float("inf")
