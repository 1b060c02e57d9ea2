"""Complete clips, joined."""

from __future__ import annotations

from dataclasses import dataclass

from refprep.types.arrays import Samples
from refprep.types.audio import SampleFormat


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
