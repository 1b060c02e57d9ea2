"""Time."""

from __future__ import annotations

from dataclasses import dataclass


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
