"""The state after a reference is made once, by its content, and the oldest go when the budget is full."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint

from refprep.engine.codec import load_codec_decoder
from refprep.engine.voice_states import VoiceStates

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@cache
def decoder():
    return load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")


def codes(seed, frames=11):
    return np.random.default_rng(seed).integers(0, 2048, (frames, 16)).astype(np.int32)


def test_it_is_the_state_that_decoding_leaves():
    state, plain = VoiceStates(decoder()).after(codes(0)), decoder().fresh()
    decoder().decode(torch.from_numpy(codes(0)), state=plain)
    assert torch.equal(state.memory, plain.memory)
    assert all(torch.equal(a, b) for a, b in zip(state.histories, plain.histories, strict=True))


def test_the_same_codes_are_decoded_once():
    states = VoiceStates(decoder())
    first = states.after(codes(0))
    assert states.after(codes(0).copy()) is first
    assert states.after(codes(1)) is not first
    assert len(states) == 2
    assert states.nbytes == 2 * first.nbytes


def test_the_one_that_was_not_used_for_longest_goes():
    size = decoder().fresh().nbytes
    states = VoiceStates(decoder(), max_nbytes=2 * size + size // 2)
    kept, lost = states.after(codes(0)), states.after(codes(1))
    states.after(codes(0))
    states.after(codes(2))
    assert (len(states), states.nbytes) == (2, 2 * size)
    assert states.after(codes(0)) is kept
    assert states.after(codes(1)) is not lost


def test_a_state_beyond_the_budget_is_made_and_not_kept():
    states = VoiceStates(decoder(), max_nbytes=1)
    assert states.after(codes(0)).frames.tolist() == [11]
    assert (len(states), states.nbytes) == (0, 0)
