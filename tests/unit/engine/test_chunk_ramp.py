"""Chunks start with one frame, grow to their steady size, and leave early only for a listener who would wait."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.engine.chunk_ramp import (
    CPU_RAMP,
    DEVICE_RAMP,
    GUARDED_RAMP,
    MANY_STREAMS,
    SHARED_RAMP,
    ChunkRamp,
    PlaybackClock,
    live_ramp,
    offline_ramp,
)

RAMPS = st.sampled_from((CPU_RAMP, DEVICE_RAMP, SHARED_RAMP))


def chunks(ramp, frames, **now):
    """Sizes of the chunks of a stream whose frames come one by one."""
    sizes, pending = [], 0
    for _ in range(frames):
        pending += 1
        due = ramp.due_frames(len(sizes), pending, **now)
        if due:
            sizes.append(due)
            pending -= due
    return sizes


def test_a_listener_gets_the_first_frame_at_once_and_then_longer_chunks():
    assert chunks(CPU_RAMP, 50) == [1, 4, 12, 12, 12]
    assert chunks(DEVICE_RAMP, 40) == [1, 2, 4, 8, 12, 12]
    assert chunks(SHARED_RAMP, 40) == [1, 2, 4, 8, 12, 12]
    assert chunks(SHARED_RAMP, 80, num_streams=MANY_STREAMS) == [1, 4, 8, 16, 25, 25]


def test_nobody_waits_for_offline_audio_but_a_guard():
    assert chunks(offline_ramp("cpu", is_guarded=False), 25) == [12, 12]
    assert chunks(offline_ramp("cuda", is_guarded=False), 60) == [25, 25]
    assert offline_ramp("cuda", is_guarded=True) is GUARDED_RAMP


def test_chunks_follow_the_clock_only_where_audio_may_differ():
    assert live_ramp("cuda", rows_together=True).follows_slack
    for device, together in (("cpu", True), ("cpu", False), ("cuda", False)):
        assert not live_ramp(device, rows_together=together).follows_slack


@given(RAMPS, st.integers(0, 9), st.integers(0, 60), st.integers(1, 40), st.floats(-9, 9), st.floats(0, 0.2))
def test_a_chunk_is_never_more_than_there_is_and_never_beyond_its_rung(
    ramp, chunk, pending, many, slack_s, pace
):
    due = ramp.due_frames(chunk, pending, slack_s=slack_s, frame_s=pace, num_streams=many)
    rungs = ramp.busy_rungs if ramp.busy_rungs and many >= MANY_STREAMS else ramp.rungs
    full = rungs[min(chunk, len(rungs) - 1)]
    assert 0 <= due <= min(pending, full)
    assert due == full or pending < full


@given(st.integers(1, 9), st.integers(1, 60), st.floats(-2, 2), st.floats(0.0, 2.0), st.floats(0, 0.079))
def test_more_slack_never_makes_a_chunk_leave_earlier(chunk, pending, slack_s, more_s, frame_s):
    tight = SHARED_RAMP.due_frames(chunk, pending, slack_s=slack_s, frame_s=frame_s)
    easy = SHARED_RAMP.due_frames(chunk, pending, slack_s=slack_s + more_s, frame_s=frame_s)
    assert easy <= tight


def test_a_thin_buffer_is_fed_early_and_a_hopeless_one_is_not():
    late = {"slack_s": -0.1, "frame_s": 0.01}
    assert SHARED_RAMP.due_frames(4, 3, **late) == 3
    assert SHARED_RAMP.due_frames(4, 3, slack_s=1.0, frame_s=0.01) == 0
    assert SHARED_RAMP.due_frames(4, 3, slack_s=-0.1, frame_s=0.09) == 0, "slower than the playback"
    assert SHARED_RAMP.due_frames(4, 3, **late, num_streams=MANY_STREAMS) == 0
    assert SHARED_RAMP.due_frames(4, 4, **late, num_streams=MANY_STREAMS) == 4
    assert DEVICE_RAMP.due_frames(4, 3, **late) == 0


def test_slack_is_what_was_given_less_the_time_since():
    clock = PlaybackClock()
    assert clock.slack_s(5.0) is None
    clock.give(0.08, 5.0)
    clock.give(0.16, 5.1)
    assert clock.slack_s(5.1) == pytest.approx(0.14)
    assert clock.slack_s(6.0) == pytest.approx(-0.76)


@pytest.mark.parametrize("rungs", [(), (0,), (1, -2)])
def test_a_chunk_of_no_frames_is_none(rungs):
    with pytest.raises(ValueError, match="one frame"):
        ChunkRamp(rungs)
