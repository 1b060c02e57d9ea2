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
