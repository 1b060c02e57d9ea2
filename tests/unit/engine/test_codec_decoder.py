"""The stateful decoder: any way of cutting a stream gives the same sound."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.codec import load_codec_decoder
from refprep.errors import BackendError

FRAMES = 30
CODES = torch.randint(0, 2048, (4, FRAMES, 16), generator=torch.Generator().manual_seed(1))


@cache
def decoder():
    return load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")


@cache
def whole(row=0):
    return decoder().decode(CODES[row], chunk_frames=FRAMES)


def pushed(codes, partition, state=None):
    state = state or decoder().fresh(codes.shape[0])
    parts = [decoder().step(part, state) for part in torch.split(codes, partition, dim=1)]
    return torch.cat(parts, dim=1)


def steps_apart(one, other):
    """Largest difference in steps of 16-bit PCM."""
    assert one.shape == other.shape
    return int(((one * 32767).round() - (other * 32767).round()).abs().max())


@st.composite
def partitions(draw, total=FRAMES):
    cuts = sorted(draw(st.sets(st.integers(1, total - 1))))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


@settings(max_examples=25, deadline=None)
@given(partitions())
def test_any_partition_sounds_like_the_whole_and_repeats_bit_for_bit(partition):
    samples = pushed(CODES[:1], partition)
    assert steps_apart(samples[0], whole()) <= 1
    assert torch.equal(samples, pushed(CODES[:1], partition))


@settings(max_examples=10, deadline=None)
@given(partitions(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_rows_of_a_batch_are_the_streams_alone(partition, rows):
    samples = pushed(CODES[rows], partition)
    for row, own in zip(rows, samples, strict=True):
        assert steps_apart(own, whole(row)) <= 1


@pytest.mark.parametrize("frames", [0, 1, 2, 15, 16, 17])
def test_a_frame_is_1920_samples(frames):
    samples = decoder().decode(CODES[0, :frames])
    assert samples.shape == (frames * 1920,)
    assert samples.dtype is torch.float32
    assert float(samples.abs().max() if frames else 0.0) <= 1.0


def test_no_new_frames_change_nothing():
    state = decoder().fresh(2)
    assert decoder().step(CODES[:2, :0], state).shape == (2, 0)
    assert state.frames.tolist() == [0, 0]


def test_a_snapshot_goes_on_where_it_was_taken():
    state = decoder().fresh()
    decoder().step(CODES[:1, :11], state)
    snapshot = state.clone()
    first = decoder().step(CODES[:1, 11:], state)
    decoder().step(CODES[1:2], state)  # the original goes elsewhere; the snapshot must not notice
    assert torch.equal(first, decoder().step(CODES[:1, 11:], snapshot.clone()))
    assert steps_apart(first[0], whole()[11 * 1920 :]) <= 1


def test_streams_of_different_ages_step_together():
    """Row 0 is 11 frames old, row 1 starts afresh: a request joins a running batch."""
    old = decoder().fresh()
    decoder().step(CODES[:1, :11], old)
    batch = decoder().fresh(2)
    batch.put([0], old)
    assert batch.frames.tolist() == [11, 0]
    together = decoder().step(torch.stack((CODES[0, 11:17], CODES[1, :6])), batch)
    assert steps_apart(together[0], whole()[11 * 1920 : 17 * 1920]) <= 1
    assert steps_apart(together[1], whole(1)[: 6 * 1920]) <= 1


def test_rows_are_taken_out_and_repeated():
    batch = decoder().fresh(3)
    decoder().step(CODES[:3, :9], batch)
    taken = batch.take(torch.tensor([2, 0, 2]))
    assert taken.batch == 3
    assert taken.nbytes == batch.nbytes
    on = decoder().step(CODES[[2, 0, 2], 9:], taken)
    for row, own in zip((2, 0, 2), on, strict=True):
        assert steps_apart(own, whole(row)[9 * 1920 :]) <= 1
    assert batch.frames.tolist() == [9, 9, 9]


def test_decode_goes_on_from_a_state():
    state = decoder().fresh()
    decoder().decode(CODES[0, :8], state=state)
    assert steps_apart(decoder().decode(CODES[0, 8:], state=state), whole()[8 * 1920 :]) <= 1


def test_long_streams_forget_what_is_outside_the_window():
    """After window x layers + reach frames, the start of the stream is inaudible: the memory holds no more."""
    one, other = CODES[:1].clone(), CODES[:1].clone()
    other[0, 0] = (other[0, 0] + 1) % 2048
    first, second = decoder().decode(one[0]), decoder().decode(other[0])
    assert steps_apart(first[:1920], second[:1920]) > 1
    assert steps_apart(first[-1920:], second[-1920:]) <= 1


@pytest.mark.parametrize(
    ("codes", "what"),
    [
        (torch.zeros(3, 8, dtype=torch.int64), "not 16 codebooks"),
        (torch.zeros(3, 16), "float32"),
        (torch.full((3, 16), 2150), "2150"),
        (torch.full((3, 16), -1), "-1"),
        (torch.zeros(1, 3, 16, dtype=torch.int64), "shape"),
    ],
)
def test_codes_of_another_codec_are_refused(codes, what):
    with pytest.raises(BackendError, match=what):
        decoder().decode(codes)


def test_int16_and_int32_codes_are_codes():
    for dtype in (torch.int16, torch.int32):
        assert torch.equal(decoder().decode(CODES[0, :3].to(dtype)), decoder().decode(CODES[0, :3]))


def test_autocast_around_it_changes_nothing():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        samples = decoder().decode(CODES[0], chunk_frames=FRAMES)
    assert torch.equal(samples, whole())


def test_a_decoder_in_bfloat16_keeps_its_state_in_bfloat16():
    low = load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu", torch.bfloat16)
    state = low.fresh()
    assert state.memory.dtype is torch.bfloat16
    samples = low.step(CODES[:1], state)
    assert samples.dtype is torch.float32
    assert samples.shape == (1, FRAMES * 1920)


def test_the_hash_is_of_the_decoder_alone():
    own = decoder().weights_sha256
    assert len(own) == 64
    assert own == load_codec_decoder(tiny_checkpoint("base-1.7b") / "speech_tokenizer", "cpu").weights_sha256
