"""The nouns that flow through refprep.

Every noun is frozen. Arrays are read-only, and a noun that holds one compares by identity (``eq=False``):
the generated ``==`` would raise on an array. Integers are stored, seconds derived.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Samples: TypeAlias = npt.NDArray[np.float32]
"""(T,) float32 mono, full scale at 1.0; decoders that overshoot may exceed it."""

Vector: TypeAlias = npt.NDArray[np.float32]
"""(D,) float32 of unit norm."""


def freeze(array: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The same float32 data, contiguous and read-only."""
    frozen = np.ascontiguousarray(array, dtype=np.float32)
    if frozen is array and array.flags.writeable:
        frozen = array.view()
    frozen.flags.writeable = False
    return frozen


# --------------------------------------------------------------------------- time


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open stretch of time, seconds from the clip's start."""

    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        if not self.end_s >= self.start_s:
            raise ValueError(f"span ends before it starts: {self.start_s} > {self.end_s}")

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.end_s - self.start_s

    def overlap_s(self, other: Span) -> float:
        """Seconds that both spans cover."""
        return max(0.0, min(self.end_s, other.end_s) - max(self.start_s, other.start_s))


# --------------------------------------------------------------------------- audio


class SampleFormat(enum.StrEnum):
    """The narrowest stored format that holds every decoded sample exactly."""

    PCM_16 = "PCM_16"
    PCM_24 = "PCM_24"
    FLOAT = "FLOAT"


class Downmix(enum.StrEnum):
    """How a file's channels became one."""

    NONE = "none"  # one channel in the file
    IDENTICAL = "identical"  # all channels equal, sample for sample: the first is kept
    LIVE_CHANNEL = "live-channel"  # the others are silent: the one with signal is kept
    INVERTED = "inverted"  # one is the negative of the other: the first is kept, a mean would cancel
    MEAN = "mean"  # arithmetic mean


@dataclass(frozen=True, slots=True)
class AudioSource:
    """What a file turned out to be when it was decoded.

    Attributes:
        path: As the caller gave it.
        file_sha256: Of the bytes on disk.
        container: Found by content: ``wav``, ``flac``, ``mp3``, ``ogg``, ``mp4``, ``webm``, ...
        codec: ``pcm_s16le``, ``flac``, ``mp3``, ``vorbis``, ``opus``, ``aac``, ...
        sample_format: Narrowest format that holds every sample.
        num_channels: In the file, before the downmix.
        declared_duration_s: What the header claims; None where it claims nothing.
        decoded_duration_s: What came out.
        downmix: How the channels became one.
        channel_peaks: Largest absolute sample of every channel, full scale at 1.0.
        extension_lies: The name's extension belongs to another container.
        is_narrowed: The file's samples (32-bit integer, 64-bit float) do not all fit float32.
        channel_correlation: Lowest correlation of the first channel with another, -1 to 1; None for one channel.
    """

    path: str
    file_sha256: str
    container: str
    codec: str
    sample_format: SampleFormat
    num_channels: int
    declared_duration_s: float | None
    decoded_duration_s: float
    downmix: Downmix
    channel_peaks: tuple[float, ...]
    extension_lies: bool = False
    is_narrowed: bool = False
    channel_correlation: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """Decoded mono audio at the file's own rate.

    Attributes:
        id: SHA-256 of the canonical PCM (``refprep.pipeline.decode.pcm_sha256``).
        source: What the file was.
        samples: (T,) float32, read-only.
        sample_rate_hz: Of ``samples``.
    """

    id: str
    source: AudioSource
    samples: Samples
    sample_rate_hz: int

    @property
    def num_samples(self) -> int:
        """Length in samples."""
        return int(self.samples.shape[0])

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.num_samples / self.sample_rate_hz


# --------------------------------------------------------------------------- text


class Origin(enum.StrEnum):
    """Who wrote a transcript."""

    USER = "user"
    ASR = "asr"


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its place in the audio.

    Attributes:
        text: As written, punctuation included, no surrounding space.
        span: Where it is spoken.
        probability: Mean probability the model gives its tokens, 0-1.
    """

    text: str
    span: Span
    probability: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """A text and, if it was heard, its words.

    Attributes:
        text: NFC.
        language: BCP 47 (``en``, ``es-AR``); empty when unknown.
        language_probability: 0-1; 1.0 when the caller named the language.
        words: Empty for a text a user wrote.
        origin: User or recogniser.
        model: Name of the recogniser; empty for a user's text.
    """

    text: str
    language: str
    language_probability: float = 1.0
    words: tuple[Word, ...] = ()
    origin: Origin = Origin.USER
    model: str = ""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A given text forced onto audio.

    Attributes:
        words: One for every written word, in order, also for those nobody says (short and improbable).
        aligner: Name of the model.
    """

    words: tuple[Word, ...]
    aligner: str

    @property
    def mean_probability(self) -> float:
        """Mean over the words; 0.0 without any."""
        return sum(w.probability for w in self.words) / len(self.words) if self.words else 0.0


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the speech the words account for.

    Attributes:
        speech: Voice activity: sorted, disjoint.
        uncovered: Stretches of it that no word covers: sorted, disjoint.
        unspoken: Indices of words that have no place in the audio.
    """

    speech: tuple[Span, ...]
    uncovered: tuple[Span, ...]
    unspoken: tuple[int, ...]
    head_gap_s: float
    tail_gap_s: float

    @property
    def speech_s(self) -> float:
        """Seconds of speech."""
        return sum(s.duration_s for s in self.speech)

    @property
    def ratio(self) -> float:
        """Covered part of the speech, 0-1; 1.0 when there is none."""
        total_s = self.speech_s
        if total_s <= 0.0:
            return 1.0
        return max(0.0, 1.0 - sum(s.duration_s for s in self.uncovered) / total_s)


class FaultKind(enum.StrEnum):
    """What is wrong between a text and its audio."""

    TAIL = "tail"
    HEAD = "head"
    GAP = "gap"
    UNSPOKEN = "unspoken"
    OTHER_WORD = "other-word"
    WRONG_TEXT = "wrong-text"


class Verdict(enum.StrEnum):
    """Does the text say what the audio says?"""

    PASS = "pass"  # a verdict, not a password
    FAIL = "fail"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class TextFault:
    """One place where text and audio part.

    Attributes:
        kind: What is wrong.
        span: Where in the audio.
        words: Words that are spoken and not written, or written and not spoken.
        word_range: Half-open range of written words concerned; empty range where words are missing.
        evidence: Numbers of the three witnesses, by name.
        instead: What is spoken in the place of the written words; empty where nothing is.
    """

    kind: FaultKind
    span: Span
    words: str
    word_range: tuple[int, int]
    evidence: Mapping[str, float | str]
    instead: str = ""


@dataclass(frozen=True, slots=True)
class TextCheck:
    """Text against audio: the three witnesses, and what they say together.

    Attributes:
        given: The text under test.
        heard: Free transcription of the audio.
        alignment: The given text forced onto the audio.
        coverage: Voice activity against the aligned words.
        error_rate: Given against heard text: WER, or CER for scripts without spaces.
        verdict: Pass, fail, or undecided.
        reason: Why undecided; empty otherwise.
        faults: In the order of time; empty unless the verdict is FAIL.
        suggested_text: What the text should be; the given text when nothing is wrong.
    """

    given: Transcript
    heard: Transcript
    alignment: Alignment
    coverage: Coverage
    error_rate: float
    verdict: Verdict
    reason: str
    faults: tuple[TextFault, ...]
    suggested_text: str


# --------------------------------------------------------------------------- signal


class SnrMethod(enum.StrEnum):
    """Where the noise level was read."""

    PAUSES = "pauses"  # between and around the speech: a measurement
    QUIET_FRAMES = (
        "quiet-frames"  # within the speech, where pauses are digital silence or too short: an estimate
    )
    NONE = "none"  # nowhere


@dataclass(frozen=True, slots=True)
class QualityReport:
    """Measurements of the signal.

    Attributes:
        loudness_lufs: Integrated loudness, ITU-R BS.1770-4; -inf for silence.
        speech_level_dbfs: RMS of the active speech (over the voice-activity spans).
        true_peak_dbtp: Four times oversampled peak.
        clipped_ratio: Samples in flat tops at full scale, 0-1.
        snr_db: Level of speech over level of the noise (``snr_method`` says how); None where no noise can be read.
        bandwidth_hz: Highest frequency that still carries speech energy.
        dc_offset: Mean sample.
        leading_silence_s: Before the first speech.
        trailing_silence_s: After the last speech.
        longest_inner_silence_s: Longest pause between two stretches of speech.
        longest_inner_silence: Where that pause is; None without one.
        tail_level_dbfs: RMS of the last 50 ms.
        pace_per_s: Syllables (characters for zh, ja and ko) per second of speech, estimated; None without text.
        duration_s: Of the clip.
        speech_s: Seconds of speech, the edges as measured.
        noise_level_dbfs: RMS of the noise; -inf where none was found.
        snr_method: Where the noise was read.
        is_pace_in_characters: ``pace_per_s`` counts characters.
    """

    loudness_lufs: float
    speech_level_dbfs: float
    true_peak_dbtp: float
    clipped_ratio: float
    snr_db: float | None
    bandwidth_hz: float
    sample_rate_hz: int
    dc_offset: float
    leading_silence_s: float
    trailing_silence_s: float
    longest_inner_silence_s: float
    longest_inner_silence: Span | None
    tail_level_dbfs: float
    pace_per_s: float | None
    duration_s: float = 0.0
    speech_s: float = 0.0
    noise_level_dbfs: float = -math.inf
    snr_method: SnrMethod = SnrMethod.NONE
    is_pace_in_characters: bool = False


# --------------------------------------------------------------------------- identity


@dataclass(frozen=True, slots=True, eq=False)
class Voiceprint:
    """Speaker embeddings of one clip.

    Attributes:
        clip_id: Of the clip.
        model: Name of the encoder; cosines across two models mean nothing.
        vector: (D,) float32, unit norm, of the whole clip.
        window_vectors: (N, D) float32, unit norm, one for every window.
        windows: The N windows.
        speech_s: Seconds of speech the vector rests on.
    """

    clip_id: str
    model: str
    vector: Vector
    window_vectors: npt.NDArray[np.float32]
    windows: tuple[Span, ...]
    speech_s: float


@dataclass(frozen=True, slots=True)
class Identity:
    """How one clip's speaker relates to the target voice.

    Attributes:
        clip_id: Of the clip.
        model: Name of the encoder.
        min_pairwise_cosine: Lowest cosine to another clip of the target voice; None for a single clip.
        mean_pairwise_cosine: Mean cosine to its clips: what grouping goes by; None likewise.
        centroid_cosine: Cosine to the mean of the other clips (leave-one-out); None for a single clip.
        min_window_cosine: Lowest cosine of a window of this clip to that mean; None without windows.
        worst_window: Where that window is.
        control_cosines: Highest cosine to each control speaker.
    """

    clip_id: str
    model: str
    min_pairwise_cosine: float | None
    mean_pairwise_cosine: float | None
    centroid_cosine: float | None
    min_window_cosine: float | None
    worst_window: Span | None
    control_cosines: Mapping[str, float] = field(default_factory=dict)

    @property
    def margin(self) -> float | None:
        """Centroid cosine less the nearest control's; None without either."""
        if self.centroid_cosine is None or not self.control_cosines:
            return None
        return self.centroid_cosine - max(self.control_cosines.values())


@dataclass(frozen=True, slots=True)
class IdentityCase:
    """One clip's identity and what it is held against.

    Attributes:
        identity: Of the clip.
        is_target: It belongs to the group of the target voice.
        threshold: Lowest cosine of one voice, for this encoder.
        window_threshold: Lowest cosine of a window to the target's mean direction; None where the encoder has none.
    """

    identity: Identity
    is_target: bool
    threshold: float
    window_threshold: float | None


@dataclass(frozen=True, slots=True)
class Admission:
    """What a clip is, beside what the reference asks of it.

    Attributes:
        speech_s: Seconds of speech in it.
        min_clip_s: Least speech a clip must hold.
        sample_rate_hz, sample_format: Of the clip.
        reference_rate_hz, reference_format: Of the reference.
        duplicate_of: Path of an earlier clip with the same samples; empty when there is none.
    """

    speech_s: float
    min_clip_s: float
    sample_rate_hz: int
    reference_rate_hz: int
    sample_format: SampleFormat
    reference_format: SampleFormat
    duplicate_of: str


# --------------------------------------------------------------------------- the reference


@dataclass(frozen=True, slots=True, eq=False)
class JoinedClip:
    """Where a clip lies in a reference, in samples of the reference, half-open."""

    clip_id: str
    path: str
    start_sample: int
    end_sample: int
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Complete clips, joined.

    Attributes:
        samples: (T,) float32, read-only.
        sample_rate_hz: Of ``samples``.
        sample_format: Stored format that holds every sample exactly.
        clips: In the order of time.
        gap_policy: Name of what lies between two clips, such as ``zeros-120ms``.
        tail_policy: Name of what follows the last clip.
        text: The clips' texts, joined.
        language: BCP 47.
    """

    samples: Samples
    sample_rate_hz: int
    sample_format: SampleFormat
    clips: tuple[JoinedClip, ...]
    gap_policy: str
    tail_policy: str
    text: str
    language: str

    @property
    def duration_s(self) -> float:
        """Length in seconds, gaps and tail included."""
        return int(self.samples.shape[0]) / self.sample_rate_hz
