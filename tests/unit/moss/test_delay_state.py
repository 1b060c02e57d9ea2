from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.moss.config import DelayIds
from refprep.moss.delay_state import DelayState, TextMask
from refprep.moss.delay_writer import text_masks
from refprep.moss.pattern import delayed, undelayed

IDS = DelayIds(0, 1, 2, 3, 4, 5, 6, 7)
PAD, START, IM_END, AUDIO_START, AUDIO_END, GEN, DELAY = 0, 1, 2, 3, 4, 6, 7
VOCAB, BOOKS = 12, 5
MASKS = text_masks(IDS, VOCAB)


def walk(data, state, steps):
    """Write rows that the machine allows; every code is a new number. Gives frames and (text, plan) of each row."""
    frames, rows, number = list(state.completed_prefix()), [], 1000
    while not state.has_ended and len(rows) < steps:
        plan = state.plan()
        allowed = (~MASKS[plan.mask]).nonzero()[:, 0].tolist()
        text = plan.forced if plan.forced is not None else data.draw(st.sampled_from(allowed))
        codes = np.full(BOOKS, -1, np.int32)
        if plan.forced is not None or text in (GEN, DELAY):
            for book in range(*plan.books):
                codes[book], number = number, number + 1
        rows.append((text, plan, codes))
        frames += state.write(text, codes)
    return frames, rows


@settings(max_examples=60)
@given(st.data(), st.integers(1, 80))
def test_frames_are_whole_in_order_and_one_more_than_generation_slots(data, steps):
    state = DelayState(IDS, BOOKS)
    frames, rows = walk(data, state, steps)
    assert all((frame >= 0).all() for frame in frames)
    assert [int(f[0]) for f in frames] == sorted(int(f[0]) for f in frames)
    stretches, here = [], None
    for text, _, codes in rows:
        if here is not None and text in (GEN, DELAY):
            here.append((text, codes))
        elif text == AUDIO_START and here is None:
            here = []
        if text == AUDIO_END:
            stretches.append(here)
            here = None
    for stretch in stretches:
        slots = sum(text == GEN for text, _ in stretch)
        assert [text for text, _ in stretch] == [GEN] * slots + [DELAY] * BOOKS
        block = np.stack([codes for _, codes in stretch])
        whole = undelayed(block)
        assert len(whole) == slots + 1
        assert np.array_equal(block, delayed(whole, -1))
        given_frames, frames = frames[: slots + 1], frames[slots + 1 :]
        assert np.array_equal(np.stack(given_frames), whole)
    if here:
        assert len(frames) <= max(0, len(here) - BOOKS + 1)


@settings(max_examples=60)
@given(st.data(), st.integers(1, 12), st.integers(0, 40))
def test_a_prefix_keeps_what_its_rows_hold_and_the_rest_is_written_anew(data, length, steps):
    prefix = np.arange(length * BOOKS, dtype=np.int32).reshape(length, BOOKS)
    state = DelayState(IDS, BOOKS, delayed(prefix, -1)[:length])
    frames, rows = walk(data, state, steps)
    assert not rows or rows[0][0] == GEN, "a delay slot cannot be the first row"
    for t, frame in enumerate(frames[:length]):
        kept = min(BOOKS, length - t)
        assert np.array_equal(frame[:kept], prefix[t, :kept])
        assert (frame[kept:] >= 1000).all()
    for frame in frames[length:]:
        assert (frame >= 1000).all()


@settings(max_examples=60)
@given(st.data(), st.integers(1, 80))
def test_every_counter_is_used_once(data, steps):
    """Frame and codebook name a random number: no two draws may share one."""
    _, rows = walk(data, DelayState(IDS, BOOKS), steps)
    used = [(plan.first_frame - k, k) for text, plan, codes in rows for k in range(BOOKS) if codes[k] >= 0]
    assert len(used) == len(set(used))
    assert all(frame >= 0 for frame, _ in used)


def test_the_end_waits_for_as_many_steps_as_a_frame_needs():
    state = DelayState(IDS, BOOKS)
    for _ in range(BOOKS + 1):
        assert state.plan().mask is TextMask.OUTSIDE_EARLY
        state.write(9, np.full(BOOKS, -1, np.int32))
    assert state.plan().mask is TextMask.OUTSIDE
    assert MASKS[TextMask.OUTSIDE_EARLY, IM_END]
    assert not MASKS[TextMask.OUTSIDE, IM_END]


def test_masks():
    outside = {PAD, AUDIO_END, GEN, DELAY}
    assert set(MASKS[TextMask.OUTSIDE].nonzero()[:, 0].tolist()) == outside
    assert (~MASKS[TextMask.INSIDE]).nonzero()[:, 0].tolist() == [GEN, DELAY]
    assert (~MASKS[TextMask.INSIDE_FIRST]).nonzero()[:, 0].tolist() == [GEN]
    assert MASKS.dtype is torch.bool
