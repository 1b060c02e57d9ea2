"""A synthesis that will not end, seen early: one code over and over, or a tail that is no speech.

    seen                                              stops after
    frames repeat (6 of their first 8 codes)          2.5 s, or 1.5 s past the expected duration
    codebook 0 repeats one code, the others move on   6.4 s, or 5.6 s past the expected duration
    codebook 0 goes round in a cycle of 2 to 8 codes  4.8 s, or 2.4 s past the expected duration
    EOS among the three likeliest, never drawn        2.0 s past the expected duration; not in MOSS-TTS, whose end is
                                                      a choice of two that is drawn anew at every frame
    the audio is silent, or steady as hum and noise   4.0 s, or 3.0 s past the expected duration

What is steady: over the window the level of 50 ms pieces varies by less than 1.5 dB (speech: 6 dB and more), or its
spectrum is flat as noise. What is silent: nothing in the window comes within 35 dB of the loudest piece so far. The
budget (``guard.budget``) ends whatever none of these sees.

A single codebook says little: through a codec of random weights, whose codebook 0 knows some ten sounds, real speech
repeats one code for up to 4.9 s (61 frames, over the labelled clips of the speech pack), and never more than 10 frames.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refprep.dsp.levels import rms_dbfs
from refprep.guard.budget import FrameBudget
from refprep.types import Samples, StopReason
from refprep.units import FRAME_RATE_HZ

STILL_FRAMES, STILL_PAST_FRAMES = 31, 19
STILL_CODES, STILL_OF = 6, 8
REPEAT_FRAMES, REPEAT_PAST_FRAMES = 80, 70
CYCLE_FRAMES, CYCLE_PAST_FRAMES, LONGEST_CYCLE = 60, 30, 8
EOS_NEAR_RANK, EOS_NEAR_FRAMES = 2, 25
DEAD_S, DEAD_PAST_S = 4.0, 3.0
PIECE_S = 0.05
STEADY_DB = 1.5
SILENT_BELOW_DB = 35.0
NOISE_FLATNESS = 0.4
_FLOOR_DB = -90.0


@dataclass(frozen=True, slots=True)
class RunawaySigns:
    """What a guard saw, for the evidence.

    Attributes:
        frames: Watched.
        longest_repeat_frames: One code of codebook 0 in a row.
        lowest_eos_rank: Of all frames; None before the first, and where the talker has no EOS among its codes.
        reason: Why it stopped the synthesis; None where it did not.
        why: The sign in words; empty where there was none.
    """

    frames: int
    longest_repeat_frames: int
    lowest_eos_rank: int | None
    reason: StopReason | None
    why: str


class RunawayGuard:
    """Watches one synthesis: ``on_frame`` sees its codes, ``on_audio`` what they decode to.

    Attributes:
        budget: Of the text.
    """

    def __init__(self, budget: FrameBudget, *, sample_rate_hz: int = 24_000) -> None:
        self.budget = budget
        self._piece_samples = round(PIECE_S * sample_rate_hz)
        self._first_codes: deque[int] = deque(maxlen=CYCLE_FRAMES)
        self._frames = 0
        self._last: npt.NDArray[np.int32] | None = None
        self._still = 1
        self._repeat = 0
        self._longest_repeat = 0
        self._eos_near = 0
        self._lowest_rank: int | None = None
        self._rest: Samples = np.zeros(0, np.float32)
        self._levels_db: list[float] = []
        self._flatness: list[float] = []
        self._reason: StopReason | None = None
        self._why = ""

    @property
    def signs(self) -> RunawaySigns:
        """What was seen so far."""
        return RunawaySigns(self._frames, self._longest_repeat, self._lowest_rank, self._reason, self._why)

    def on_frame(self, frame: npt.NDArray[np.int32], eos_rank: int | None) -> StopReason | None:
        """Take a frame; a reason stops the synthesis.

        Args:
            frame: (codebooks,) codes, codebook 0 first.
            eos_rank: How many ids were likelier than EOS; None of a talker without EOS among its codes (MOSS-TTS): the rule
                about EOS is off.
        """
        code = int(frame[0])
        self._repeat = self._repeat + 1 if self._first_codes and self._first_codes[-1] == code else 1
        self._longest_repeat = max(self._longest_repeat, self._repeat)
        same = 0 if self._last is None else int(np.sum(frame[:STILL_OF] == self._last[:STILL_OF]))
        self._still = self._still + 1 if same >= STILL_CODES else 1
        self._last = frame.copy()
        self._first_codes.append(code)
        self._frames += 1
        is_past = self._frames / FRAME_RATE_HZ > self.budget.expected_s
        if eos_rank is not None:
            self._lowest_rank = eos_rank if self._lowest_rank is None else min(eos_rank, self._lowest_rank)
            self._eos_near = self._eos_near + 1 if is_past and eos_rank <= EOS_NEAR_RANK else 0
        if self._still >= (STILL_PAST_FRAMES if is_past else STILL_FRAMES):
            self._stop(StopReason.REPEATING, f"the same frame stood {self._still} times")
        elif self._repeat >= (REPEAT_PAST_FRAMES if is_past else REPEAT_FRAMES):
            self._stop(StopReason.REPEATING, f"code {code} of codebook 0 stood for {self._repeat} frames")
        elif (period := self._cycle(CYCLE_PAST_FRAMES if is_past else CYCLE_FRAMES)) is not None:
            self._stop(StopReason.REPEATING, f"codebook 0 went round in a cycle of {period} codes")
        elif self._eos_near >= EOS_NEAR_FRAMES:
            self._stop(StopReason.REPEATING, f"EOS was near for {self._eos_near} frames and never drawn")
        return self._reason

    def on_audio(self, samples: Samples) -> StopReason | None:
        """Take decoded samples, in order; a reason stops the synthesis."""
        joined = np.concatenate((self._rest, samples))
        whole = len(joined) // self._piece_samples
        pieces = joined[: whole * self._piece_samples].reshape(whole, self._piece_samples)
        self._rest = joined[whole * self._piece_samples :]
        self._levels_db += [_level_db(piece) for piece in pieces]
        self._flatness += [_flatness(piece) for piece in pieces]
        is_past = len(self._levels_db) * PIECE_S > self.budget.expected_s
        num_pieces = round((DEAD_PAST_S if is_past else DEAD_S) / PIECE_S)
        if len(self._levels_db) >= num_pieces:
            self._judge(np.array(self._levels_db[-num_pieces:]), np.array(self._flatness[-num_pieces:]))
        return self._reason

    def _judge(self, levels_db: npt.NDArray[np.float64], flatness: npt.NDArray[np.float64]) -> None:
        span_s = len(levels_db) * PIECE_S
        loudest = max(self._levels_db)
        if levels_db.max() < max(loudest - SILENT_BELOW_DB, _FLOOR_DB + 1):
            self._stop(StopReason.NOT_SPEECH, f"the last {span_s:.1f} s are silent")
        elif levels_db.std() < STEADY_DB:
            self._stop(
                StopReason.NOT_SPEECH, f"the last {span_s:.1f} s are steady: hum, noise or one long sound"
            )
        elif np.quantile(flatness, 0.1) > NOISE_FLATNESS:
            self._stop(StopReason.NOT_SPEECH, f"the last {span_s:.1f} s are noise")

    def _cycle(self, length: int) -> int | None:
        """Length of the cycle that the last frames go round in; a single repeated code is not one."""
        if len(self._first_codes) < length:
            return None
        codes = np.array(self._first_codes)[-length:]
        if (codes == codes[0]).all():
            return None
        for period in range(2, LONGEST_CYCLE + 1):
            if np.array_equal(codes[period:], codes[:-period]):
                return period
        return None

    def _stop(self, reason: StopReason, why: str) -> None:
        if self._reason is None:
            self._reason, self._why = reason, why


def _level_db(piece: Samples) -> float:
    return max(rms_dbfs(piece), _FLOOR_DB)


def _flatness(piece: Samples) -> float:
    """Spectral flatness, geometric over arithmetic mean of the power spectrum: 0 for a tone, near 0.56 for white noise.

    Digital silence has none; it counts as 0.
    """
    if _level_db(piece) <= _FLOOR_DB:
        return 0.0
    power = np.abs(np.fft.rfft(piece * np.hanning(len(piece)))) ** 2 + 1e-12
    return float(np.exp(np.mean(np.log(power))) / np.mean(power))
