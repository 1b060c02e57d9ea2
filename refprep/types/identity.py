"""Who speaks, and whether a clip may be joined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from refprep.types.arrays import Vector
from refprep.types.audio import SampleFormat
from refprep.types.span import Span


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
        scale: Of the scores: ``cosine``, or ``as-norm``, standard deviations above the strangers most alike.
        min_pairwise_score: Lowest score with another clip of the target voice; None for a single clip.
        mean_pairwise_score: Mean score with its clips: what grouping goes by; None likewise.
        centroid_score: Score with the mean of the other clips (leave-one-out); None for a single clip.
        min_window_score: Lowest score of a window of this clip with that mean; None without windows.
        worst_window: Where that window is.
        control_scores: Score with each control speaker.
    """

    clip_id: str
    model: str
    scale: str
    min_pairwise_score: float | None
    mean_pairwise_score: float | None
    centroid_score: float | None
    min_window_score: float | None
    worst_window: Span | None
    control_scores: Mapping[str, float] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """What to call a score in a message."""
        return "cosine" if self.scale == "cosine" else "score"

    @property
    def judge(self) -> str:
        """Who scored it, for messages."""
        return self.model if self.scale == "cosine" else f"{self.model}, {self.scale}"

    @property
    def margin(self) -> float | None:
        """Centroid score less the nearest control's; None without either."""
        if self.centroid_score is None or not self.control_scores:
            return None
        return self.centroid_score - max(self.control_scores.values())


@dataclass(frozen=True, slots=True)
class IdentityCase:
    """One clip's identity and what it is held against.

    Attributes:
        identity: Of the clip.
        is_target: It belongs to the group of the target voice.
        threshold: Lowest score of one voice, for this encoder and scale.
        window_threshold: Lowest score of a window with the target's mean direction; None where nobody measured it.
        min_margin: Least distance between the score with its own voice and with a control.
    """

    identity: Identity
    is_target: bool
    threshold: float
    window_threshold: float | None
    min_margin: float


@dataclass(frozen=True, slots=True)
class ClipVoices:
    """One clip's windows, parted into the two groups that are least alike.

    Attributes:
        model: Name of the encoder.
        cosine: Between the mean directions of the groups; None where they cannot be parted.
        run: Most windows in a row of the group that has fewer in a row.
        span: Where that group's longest run lies; None likewise.
        threshold: Lowest cosine of one voice for this encoder and run; None where nobody measured it.
    """

    model: str
    cosine: float | None
    run: int
    span: Span | None
    threshold: float | None


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
