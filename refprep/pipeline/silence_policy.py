"""What lies between two clips and after the last one: a policy with a name, stated in voice.json, never silent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refprep.errors import UsageError

_POLICY = re.compile(r"(zeros|room-tone)(?:-([0-9]+)ms)?")
_MAX_MS = 2000
DEFAULT_GAP_MS, DEFAULT_TAIL_MS = 120, 160


@dataclass(frozen=True, slots=True)
class SilencePolicy:
    """A named stretch such as ``zeros-120ms`` (digital silence) or ``room-tone-120ms`` (a pause of the clips, copied).

    Attributes:
        kind: ``zeros`` or ``room-tone``.
        duration_ms: Its length.
    """

    kind: str
    duration_ms: int

    @property
    def name(self) -> str:
        """As written into voice.json."""
        return f"{self.kind}-{self.duration_ms}ms"

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.duration_ms / 1000

    def num_samples(self, sample_rate_hz: int) -> int:
        """Length in samples: nearest, halves to even. Counted from the milliseconds, which are exact."""
        return round(self.duration_ms * sample_rate_hz / 1000)

    @classmethod
    def parse(cls, name: str, *, option: str, default_ms: int = DEFAULT_GAP_MS) -> SilencePolicy:
        """Read a policy's name; ``zeros`` and ``room-tone`` alone have the default length.

        Raises:
            UsageError: Not a policy, or longer than two seconds.
        """
        match = _POLICY.fullmatch(name)
        duration_ms = int(match.group(2) or default_ms) if match is not None else _MAX_MS + 1
        if match is None or duration_ms > _MAX_MS:
            raise UsageError(
                f"{name!r} is no policy",
                where=option,
                fix=f"Write zeros-120ms (digital silence) or room-tone-120ms (a pause of the clips), 0 to {_MAX_MS} ms.",
            )
        return cls(match.group(1), duration_ms)
