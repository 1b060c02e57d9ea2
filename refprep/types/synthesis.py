"""What is asked of a synthesizer and what it gives back."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from refprep.types.arrays import Samples
from refprep.types.codes import CacheKey


class CloneMode(enum.StrEnum):
    """How a recorded voice is given to the talker."""

    ICL = "icl"  # Qwen3-TTS, in context: the reference's text and codes stand before the answer
    X_VECTOR = "x-vector"  # Qwen3-TTS: the speaker embedding alone
    CLONE = "clone"  # MOSS-TTS: the reference's codes in the user's turn, its words unused
    CONTINUATION = "continuation"  # MOSS-TTS: the answer goes on from the reference's codes and words
    BOTH = "both"  # MOSS-TTS Delay: the two at once


class StopReason(enum.StrEnum):
    """Why a synthesis ended. Only EOS is a success."""

    EOS = "eos"  # the talker said that it was done
    MAX_FRAMES = "max-frames"  # the budget was used up
    REPEATING = "repeating"  # one code of codebook 0, over and over: an attractor
    NOT_SPEECH = "not-speech"  # the decoded tail is silence, hum or noise
    CANCELLED = "cancelled"  # the caller asked for it


@dataclass(frozen=True, slots=True, eq=False)
class VoicePrompt:
    """A recorded voice, as the talker takes it: text and codes, never a path.

    Attributes:
        mode: Which of them it is given.
        speaker_embedding: (D,) float32, not normalised; D is the talker's hidden size. None in MOSS-TTS, which has none.
        text: Words of the reference; needed in context and to go on from it.
        codes: (frames, codebooks) int32, codebook 0 first; needed everywhere but by the embedding alone.
        key: What the codes were made of; MOSS-TTS takes none without, and nobody speaks with codes of a rounded encoder.
    """

    mode: CloneMode
    speaker_embedding: npt.NDArray[np.float32] | None = None
    text: str | None = None
    codes: npt.NDArray[np.int32] | None = None
    key: CacheKey | None = None

    def __post_init__(self) -> None:
        if self.mode is CloneMode.ICL and (not self.text or self.codes is None):
            raise ValueError("in-context cloning needs the reference's text and codes")
        if self.mode in (CloneMode.ICL, CloneMode.X_VECTOR) and self.speaker_embedding is None:
            raise ValueError(f"{self.mode} needs the reference's speaker embedding")
        if self.mode is not CloneMode.X_VECTOR and self.codes is None:
            raise ValueError(f"{self.mode} needs the reference's codes")
        if self.mode in (CloneMode.CONTINUATION, CloneMode.BOTH) and not self.text:
            raise ValueError(f"{self.mode} needs the reference's text")

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


@dataclass(frozen=True, slots=True)
class MossSampling:
    """How MOSS-TTS chooses ids; the defaults are those of the publisher for Delay.

    Attributes:
        text_temperature: Of the text channel (Local: of continue or stop); 0 takes the likeliest.
        text_top_k: 0 keeps all.
        text_top_p: In (0, 1].
        audio_temperature: Of the codes; 0 takes the likeliest.
        audio_top_k: As above.
        audio_top_p: As above.
        audio_repetition_penalty: Above 0; 1 is off. Delay counts every code of prompt and answer, codebook 0 by itself
            and all others together; Local counts what the answer wrote to the same codebook.
    """

    text_temperature: float = 1.5
    text_top_k: int = 50
    text_top_p: float = 1.0
    audio_temperature: float = 1.7
    audio_top_k: int = 25
    audio_top_p: float = 0.8
    audio_repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        for name in ("text_temperature", "audio_temperature"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be 0 or more")
        for name in ("text_top_p", "audio_top_p"):
            if not 0 < getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in (0, 1]")
        for name in ("text_top_k", "audio_top_k"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be 0 or more")
        if not self.audio_repetition_penalty > 0:
            raise ValueError("audio_repetition_penalty must be above 0")


Sampling: TypeAlias = SamplingParams | MossSampling

GREEDY = SamplingParams(do_sample=False, subtalker_do_sample=False)
"""The likeliest code everywhere; the repetition penalty stays."""


@dataclass(frozen=True, slots=True)
class SpeechRequest:
    """One text to speak.

    Attributes:
        text: What to say.
        voice: A recorded voice; Base checkpoints and MOSS-TTS.
        speaker: A built-in speaker's name; CustomVoice checkpoints.
        instruct: How to say it (CustomVoice 1.7B, MOSS-TTS), or the voice's description (VoiceDesign).
        language: English name or None for automatic; a language, not an accent.
        whole_text: The whole text stands before the first frame, instead of one token a frame; None leaves it to the
            kind of checkpoint: Base streams, the others do not.
        sampling: How codes are chosen, by the kind of backend.
        seed: 0 to 2^64 - 1; the same request with the same seed gives the same codes.
        max_frames: The budget; a request that uses it up did not finish.
        tokens: Wanted length in frames, a hint that MOSS-TTS takes; one that is too small cuts words.
    """

    text: str
    voice: VoicePrompt | None = None
    speaker: str | None = None
    instruct: str | None = None
    language: str | None = None
    whole_text: bool | None = None
    sampling: Sampling = SamplingParams()
    seed: int = 0
    max_frames: int = 750
    tokens: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**64:
            raise ValueError("seed must be 0 to 2^64 - 1")
        if self.max_frames < 1:
            raise ValueError("max_frames must be 1 or more")
        if self.tokens is not None and self.tokens < 1:
            raise ValueError("tokens must be 1 or more")


@dataclass(frozen=True, slots=True, eq=False)
class GeneratedCodes:
    """What the talker wrote for one request.

    Attributes:
        codes: (frames, codebooks) int32, the frame that said EOS left out.
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
