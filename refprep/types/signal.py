"""Measurements of the signal."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from refprep.types.span import Span


class SnrMethod(enum.StrEnum):
    """Where the noise level was read."""

    PAUSES = "pauses"  # between and around the speech: a measurement
    QUIET_FRAMES = (
        "quiet-frames"  # within the speech, where pauses are digital silence or too short: an estimate
    )
    NONE = "none"  # nowhere


@dataclass(frozen=True, slots=True)
class ClipEdge:
    """How a clip begins, or how it ends.

    Attributes:
        level_db: Of its outermost samples, against the speech: the lower one of 10 ms and 30 ms.
        above_noise_db: The same against the clip's noise; inf where it has none.
        silence_s: From the edge to the nearest voice activity.
        word: What is heard there; empty where nobody listened.
        word_probability: Of that word; None likewise.
    """

    level_db: float
    above_noise_db: float
    silence_s: float
    word: str = ""
    word_probability: float | None = None


@dataclass(frozen=True, slots=True)
class ClipEdges:
    """Both ends of a clip in which somebody speaks."""

    start: ClipEdge
    end: ClipEdge
    duration_s: float


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
