"""How many frames go through the codec at once: one, so that audio starts, then more, as the listener's buffer allows.

A chunk costs a pass over the codec's weights, however short it is; a long one costs waiting. What a listener can wait is
their slack: audio they were given, less the time since it started playing. A chunk grows rung by rung, and one that is
still filling leaves early when the slack runs out. Who cannot keep up with the playback at all gains nothing by that.

    who listens           device  chunks
    somebody, now         CPU     1, 4, 12, 12, ...     fewer than 12 frames cost a third more each
    somebody, now         other   1, 2, 4, 8, 12, ...
    one of many           other   1, 4, 8, 16, 25, ...  by the slack
    nobody before the end CPU     12, 12, ...
    nobody before the end other   25, 25, ...           12, where a guard listens to the audio

Chunks by count alone are the same in every run, and so is their audio, to the bit. Chunks by the slack follow the clock:
the audio then differs by at most one step of 16-bit PCM. So they are for engines whose rows run together, which differ anyhow.
"""

from __future__ import annotations

from dataclasses import dataclass

from refprep.units import FRAME_RATE_HZ

MANY_STREAMS = 8
"""From so many streams on, longer chunks: the device is busy, and a step serves them all."""

_FRAME_S = 1.0 / FRAME_RATE_HZ
_RESERVE_S = 0.02  # for the codec and the way to the listener
_LEAST_OF_MANY = 4


@dataclass(frozen=True, slots=True)
class ChunkRamp:
    """Frames in the successive chunks of a stream.

    Attributes:
        rungs: In the first, second, ... chunk; the last number stays.
        busy_rungs: The same where many streams run; empty: no difference.
        follows_slack: Whether a chunk leaves early for a listener whose buffer runs out.
    """

    rungs: tuple[int, ...]
    busy_rungs: tuple[int, ...] = ()
    follows_slack: bool = False

    def __post_init__(self) -> None:
        if not self.rungs or min((*self.rungs, *self.busy_rungs)) < 1:
            raise ValueError("a chunk has one frame or more")

    def due_frames(
        self,
        chunk: int,
        pending: int,
        *,
        slack_s: float | None = None,
        frame_s: float = 0.0,
        num_streams: int = 1,
    ) -> int:
        """Frames of the next chunk, if it is time; 0 waits for more.

        Args:
            chunk: Its number, from 0.
            pending: Frames that wait for it.
            slack_s: Of the listener, negative when they already wait; None before the first audio.
            frame_s: Wall time that the stream takes for a frame.
            num_streams: That run now, this one included.
        """
        is_busy = bool(self.busy_rungs) and num_streams >= MANY_STREAMS
        rungs = self.busy_rungs if is_busy else self.rungs
        full = rungs[min(chunk, len(rungs) - 1)]
        if pending >= full:
            return full
        if not self.follows_slack or slack_s is None or frame_s >= _FRAME_S:
            return 0
        is_late = slack_s < 2 * frame_s + _RESERVE_S
        return pending if is_late and pending >= (_LEAST_OF_MANY if is_busy else 1) else 0


@dataclass(slots=True)
class PlaybackClock:
    """A listener who plays what they get at once, and never stops.

    Attributes:
        started_s: When the first audio came; None before.
        audio_s: Given so far.
    """

    started_s: float | None = None
    audio_s: float = 0.0

    def give(self, audio_s: float, now_s: float) -> None:
        """More audio reaches them."""
        if self.started_s is None:
            self.started_s = now_s
        self.audio_s += audio_s

    def slack_s(self, now_s: float) -> float | None:
        """Audio that they have not heard yet; negative: they have waited so long. None before the first audio."""
        return None if self.started_s is None else self.audio_s - (now_s - self.started_s)


CPU_RAMP = ChunkRamp((1, 4, 12))
DEVICE_RAMP = ChunkRamp((1, 2, 4, 8, 12))
SHARED_RAMP = ChunkRamp((1, 2, 4, 8, 12), busy_rungs=(1, 4, 8, 16, 25), follows_slack=True)
OFFLINE_CPU_RAMP = ChunkRamp((12,))
OFFLINE_DEVICE_RAMP = ChunkRamp((25,))
GUARDED_RAMP = ChunkRamp((12,))
"""A guard hears the audio a second late at most; two would let a runaway of silence or noise go on for that."""


def live_ramp(device: str, *, rows_together: bool) -> ChunkRamp:
    """For a listener on a type of device; see the table."""
    if device == "cpu":
        return CPU_RAMP
    return SHARED_RAMP if rows_together else DEVICE_RAMP


def offline_ramp(device: str, *, is_guarded: bool) -> ChunkRamp:
    """For audio that nobody hears before its end."""
    if device == "cpu":
        return OFFLINE_CPU_RAMP
    return GUARDED_RAMP if is_guarded else OFFLINE_DEVICE_RAMP
