"""The text channel of Delay as a state machine, and the frames that its rows complete.

    outside audio   any text id but pad and the slots; im_end only after ``n_vq`` + 1 steps
    audio_start     the next row is audio
    inside audio    a generation slot, or the first delay slot (not at the first step of an answer)
    delay slots     n_vq in all, the first one drawn; codebook 0 is still written beside it
    audio_end       forced; outside again
    im_end          the end

Row g of a stretch of audio carries codebook k of frame g - k. So a stretch of G generation slots has G + 1 frames, and
frame t is whole with row t + n_vq - 1.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from refprep.moss.config import DelayIds
from refprep.moss.pattern import Codes, frame_at


class TextMask(enum.IntEnum):
    """Which text ids a row may have; an index into a table of masks."""

    OUTSIDE_EARLY = 0  # im_end is not among them
    OUTSIDE = 1
    INSIDE_FIRST = 2  # a generation slot alone
    INSIDE = 3


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What the next row is, as far as it is known before it is drawn.

    Attributes:
        mask: Of its text.
        forced: Its text, where nothing is drawn.
        books: Codebooks that are written, half-open; empty outside audio.
        first_frame: Frame of codebook 0, counted over all stretches and the prefix; codebook k's is k before it.
        step: Rows of the answer before it.
    """

    mask: TextMask
    forced: int | None
    books: tuple[int, int]
    first_frame: int
    step: int


@dataclass(slots=True)
class _Stretch:
    """Audio between a start and its end.

    Attributes:
        rows: Codes of its rows, the prompt's among them.
        frames: In all, once the first delay slot was written.
        delay_rows: Delay slots so far.
        given: Frames that were completed.
    """

    rows: list[npt.NDArray[np.int32]] = field(default_factory=list)
    frames: int | None = None
    delay_rows: int = 0
    given: int = 0

    @property
    def begun(self) -> int:
        """Frames whose first code is written."""
        return len(self.rows) if self.frames is None else self.frames


class DelayState:
    """One answer.

    Attributes:
        has_ended: im_end was written.
        steps: Rows of the answer so far.
    """

    def __init__(self, ids: DelayIds, n_vq: int, prefix: npt.NDArray[np.int32] | None = None) -> None:
        """Begin an answer; ``prefix`` is the (frames, n_vq) end of a prompt that stands inside audio."""
        self._ids, self._n_vq = ids, n_vq
        self._stretches: list[_Stretch] = []
        self._is_inside = prefix is not None
        if prefix is not None:
            self._stretches.append(_Stretch(rows=list(prefix)))
        self.has_ended = False
        self.steps = 0

    @property
    def frames_begun(self) -> int:
        """Frames of all stretches, the prefix's among them, whose first code is written."""
        return sum(stretch.begun for stretch in self._stretches)

    @property
    def frames_given(self) -> int:
        """Frames that ``write`` gave back."""
        return sum(stretch.given for stretch in self._stretches)

    @property
    def stretch_frames(self) -> tuple[int, ...]:
        """Completed frames of each stretch, the prefix's among them."""
        return tuple(stretch.given for stretch in self._stretches)

    def plan(self) -> RowPlan:
        """What the next row is."""
        assert not self.has_ended
        if not self._is_inside:
            mask = TextMask.OUTSIDE_EARLY if self.steps <= self._n_vq else TextMask.OUTSIDE
            return RowPlan(mask, None, (0, 0), self.frames_begun, self.steps)
        here = self._stretches[-1]
        mask = TextMask.INSIDE if self.steps else TextMask.INSIDE_FIRST
        first = self.frames_begun - here.begun + len(here.rows)
        if here.delay_rows == self._n_vq:
            return RowPlan(mask, self._ids.audio_end_token_id, (0, 0), first, self.steps)
        forced = self._ids.audio_assistant_delay_slot_token_id if here.delay_rows else None
        books = (here.delay_rows, min(len(here.rows) + 1, self._n_vq))
        return RowPlan(mask, forced, books, first, self.steps)

    def write(self, text: int, codes: npt.NDArray[np.int32]) -> list[Codes]:
        """Take the row that was planned; give the frames that it completes, the prefix's among them."""
        self.steps += 1
        if not self._is_inside:
            if text == self._ids.audio_start_token_id:
                self._is_inside = True
                self._stretches.append(_Stretch())
            self.has_ended = text == self._ids.im_end_token_id
            return []
        here = self._stretches[-1]
        if text == self._ids.audio_end_token_id:
            self._is_inside = False
            return []
        here.rows.append(codes)
        if text == self._ids.audio_assistant_delay_slot_token_id:
            here.delay_rows += 1
            if here.frames is None:
                here.frames = len(here.rows)
        return self._completed(here)

    def completed_prefix(self) -> list[Codes]:
        """Frames that the prompt's rows complete by themselves; call it once, at the start."""
        return self._completed(self._stretches[-1]) if self._stretches else []

    def _completed(self, here: _Stretch) -> list[Codes]:
        whole = max(0, len(here.rows) - self._n_vq + 1)
        fresh = [frame_at(here.rows, t) for t in range(here.given, min(whole, here.begun))]
        here.given += len(fresh)
        return fresh
