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


@dataclass(frozen=True, slots=True)
class JoinedSilence:
    """What lies between clips or after them, in samples of the reference, half-open, and the policy that put it there."""

    policy: str
    start_sample: int
    end_sample: int


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
        silences: One after every clip.
        room_tone_sample: Where in ``samples`` the pause begins that room tone is a copy of; None without room tone.
        nested: Numbers of clips after which a shorter reference ends, rising.
    """

    samples: Samples
    sample_rate_hz: int
    sample_format: SampleFormat
    clips: tuple[JoinedClip, ...]
    gap_policy: str
    tail_policy: str
    text: str
    language: str
    silences: tuple[JoinedSilence, ...] = ()
    room_tone_sample: int | None = None
    nested: tuple[int, ...] = ()

    @property
    def duration_s(self) -> float:
        """Length in seconds, gaps and tail included."""
        return int(self.samples.shape[0]) / self.sample_rate_hz

    def nested_samples(self, number: int) -> int:
        """Length in samples of a nested reference, its tail included."""
        return self.silences[self.nested[number] - 1].end_sample
