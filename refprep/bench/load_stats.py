"""What became of requests under load, as figures: pure functions of what a client saw and when.

playable   the first samples are in the client's hands
audible    the first sample above the energy gate is played, by a client that plays what it has at once, with no buffer
underrun   that client has played everything and waits
complete   1920 samples for every frame, and the end that was to be expected
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refprep.types import Samples, StopReason
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME

OK, LEFT = "ok", "left"
"""Status of a request that was served, and of one whose client left; any other status is an error's kind."""

AUDIBLE_DBFS = -50.0
"""RMS of 10 ms from which audio counts as heard: some 25 dB below quiet speech, above the noise of a decoder at rest."""

_INAUDIBLE_S = 0.5 / CODE_RATE_HZ  # of a gap: what rounding makes of none
_GATE_SAMPLES = CODE_RATE_HZ // 100
_GATE_POWER = 10.0 ** (AUDIBLE_DBFS / 10.0)

Arrival = tuple[float, int]
"""When a chunk arrived, and its samples."""


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One request, as its client saw it; times in seconds on one clock.

    Attributes:
        name: Of the request: sentence and repeat.
        dispatched_s: When it was due to be sent: a client that is held up still counts from here.
        ended_s: When the last samples were there, or the request had failed.
        status: ``OK``, ``LEFT`` or the kind of the error.
        chunks: That arrived, in order.
        audible_sample: First sample above the gate; None without one.
        frames: That the talker wrote.
        stop: Why it ended; None where it never ran.
        budget_frames: That it was allowed.
    """

    name: str
    dispatched_s: float
    ended_s: float
    status: str
    chunks: tuple[Arrival, ...] = ()
    audible_sample: int | None = None
    frames: int = 0
    stop: StopReason | None = None
    budget_frames: int = 0

    @property
    def num_samples(self) -> int:
        """That arrived."""
        return sum(count for _, count in self.chunks)

    @property
    def audio_s(self) -> float:
        """That arrived."""
        return self.num_samples / CODE_RATE_HZ

    @property
    def playable_ms(self) -> float | None:
        """From the dispatch to the first samples; None without any."""
        return 1e3 * (self.chunks[0][0] - self.dispatched_s) if self.chunks else None

    @property
    def audible_ms(self) -> float | None:
        """From the dispatch to the first audible sample, as played; None without one."""
        if self.audible_sample is None:
            return None
        return 1e3 * (played_at(self.chunks, self.audible_sample) - self.dispatched_s)

    @property
    def rtf(self) -> float:
        """From the dispatch to the end, over the audio; infinite without audio."""
        return (self.ended_s - self.dispatched_s) / self.audio_s if self.num_samples else math.inf

    def is_complete(self, expected: StopReason) -> bool:
        """Whether all of it came.

        Args:
            expected: EOS, or the budget where the end is never chosen.
        """
        is_whole = self.num_samples == SAMPLES_PER_FRAME * self.frames
        ended = self.stop is expected and (
            expected is not StopReason.MAX_FRAMES or self.frames == self.budget_frames
        )
        return self.status == OK and is_whole and ended


class AudibleGate:
    """Finds the first audible sample of a stream, chunk by chunk.

    Attributes:
        at_sample: Where the first 10 ms above the gate begin; None so far.
    """

    def __init__(self) -> None:
        self.at_sample: int | None = None
        self._heard = 0
        self._rest: Samples = np.zeros(0, np.float32)

    def feed(self, samples: Samples) -> None:
        """Hear the next samples: (T,) float32."""
        if self.at_sample is not None:
            return
        joined = np.concatenate([self._rest, samples])
        count = len(joined) // _GATE_SAMPLES
        windows = joined[: count * _GATE_SAMPLES].reshape(count, _GATE_SAMPLES).astype(np.float64)
        loud = np.flatnonzero(np.mean(windows**2, axis=1) >= _GATE_POWER)
        if loud.size:
            self.at_sample = self._heard + int(loud[0]) * _GATE_SAMPLES
        self._heard += count * _GATE_SAMPLES
        self._rest = joined[count * _GATE_SAMPLES :]


def played_at(chunks: Sequence[Arrival], sample: int) -> float:
    """When a client without a buffer plays a sample: it starts at once, and goes on as soon as it can."""
    ends_s = -math.inf
    for at_s, count in chunks:
        starts_s = max(at_s, ends_s)
        if sample < count:
            return starts_s + sample / CODE_RATE_HZ
        sample -= count
        ends_s = starts_s + count / CODE_RATE_HZ
    raise IndexError("the sample never arrived")


def underruns(chunks: Sequence[Arrival]) -> tuple[int, float]:
    """How often, and for how many seconds in all, a client without a buffer had nothing to play between two chunks."""
    gaps, waited_s, ends_s = 0, 0.0, math.inf
    for at_s, count in chunks:
        if at_s - ends_s > _INAUDIBLE_S:
            gaps += 1
            waited_s += at_s - ends_s
        ends_s = (at_s if math.isinf(ends_s) else max(at_s, ends_s)) + count / CODE_RATE_HZ
    return gaps, waited_s


def percentiles(values: Sequence[float], ranks: Sequence[int] = (50, 95, 99)) -> dict[str, float | None]:
    """``p50`` and so on, between two values by their distance; None where there are no values."""
    if not values:
        return {f"p{rank}": None for rank in ranks}
    found = np.percentile(np.asarray(values, np.float64), ranks)
    return {f"p{rank}": round(float(value), 4) for rank, value in zip(ranks, found, strict=True)}


def summarise_load(
    rows: Sequence[RequestRow], *, expected: StopReason, step_s: Sequence[float] = ()
) -> dict[str, Any]:
    """Figures of one measured window; times to audio and RTF are those of requests that were served.

    Args:
        rows: Every request of the window.
        expected: How a request ends here; see ``RequestRow.is_complete``.
        step_s: Wall time of every step of the engine in the window.
    """
    served = [row for row in rows if row.status == OK]
    wall_s = max(row.ended_s for row in rows) - min(row.dispatched_s for row in rows) if rows else 0.0
    gaps = [underruns(row.chunks) for row in served]
    rtfs = [row.rtf for row in served if row.num_samples]
    return {
        "requests": len(rows),
        "served": len(served),
        "left": sum(row.status == LEFT for row in rows),
        "errors": dict(sorted(Counter(r.status for r in rows if r.status not in (OK, LEFT)).items())),
        "ttfa_ms": percentiles([ms for row in served if (ms := row.playable_ms) is not None]),
        "audible_ms": percentiles([ms for row in served if (ms := row.audible_ms) is not None]),
        "audible_dbfs": AUDIBLE_DBFS,
        "rtf": {
            "mean": round(statistics.fmean(rtfs), 4) if rtfs else None,
            "p95": percentiles(rtfs, (95,))["p95"],
        },
        "audio_s": round(sum(row.audio_s for row in served), 3),
        "wall_s": round(wall_s, 4),
        "audio_s_per_s": round(sum(row.audio_s for row in served) / wall_s, 4) if wall_s else None,
        "underruns": sum(count for count, _ in gaps),
        "underrun_requests": sum(count > 0 for count, _ in gaps),
        "underrun_s": round(sum(seconds for _, seconds in gaps), 4),
        "complete": sum(row.is_complete(expected) for row in served),
        "incomplete": sum(not row.is_complete(expected) for row in served),
        "lost_samples": sum(SAMPLES_PER_FRAME * row.frames - row.num_samples for row in rows),
        "runaway": sum(row.stop is StopReason.MAX_FRAMES for row in served)
        if expected is StopReason.EOS
        else None,
        "wer": None,
        "sim_ref": None,
        "sim_c1": None,
        "ms_per_frame": {
            "step": percentiles([1e3 * s for s in step_s], (50,))["p50"],
            # they share a step, and on a GPU a launch: nothing in it says whose time it was
            "talker": None,
            "predictor": None,
            "codec": None,
            "host": None,
        },
    }


def row_document(row: RequestRow) -> dict[str, Any]:
    """A request for the side file: what the client saw, times from its dispatch."""
    return {
        "name": row.name,
        "status": row.status,
        "dispatched_s": row.dispatched_s,
        "playable_ms": row.playable_ms,
        "audible_ms": row.audible_ms,
        "end_ms": 1e3 * (row.ended_s - row.dispatched_s),
        "frames": row.frames,
        "samples": row.num_samples,
        "stop": row.stop.value if row.stop else None,
        "chunks": [[round(1e3 * (at_s - row.dispatched_s), 3), count] for at_s, count in row.chunks],
    }


def sample_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """A request in short, for the result itself."""
    names = ("name", "status", "playable_ms", "audible_ms", "end_ms", "frames")
    return {name: round(v, 3) if isinstance(v, float) else v for name in names for v in (document.get(name),)}
