"""Streams at different points step together: padding is cut, and leaves no trace."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from refprep.engine.codec import CodecDecoder, load_codec_decoder
from refprep.engine.codec.config import read_codec_config
from refprep.engine.codec.decoder import DecoderNetwork
from refprep.engine.codec.prepared import prepare
from refprep.engine.loader import open_weights

pytestmark = pytest.mark.usefixtures("one_torch_thread")

STREAMS, FRAMES = 4, 24
CODES = torch.randint(0, 2048, (STREAMS, FRAMES, 16), generator=torch.Generator().manual_seed(5))


@cache
def decoder():
    return load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")


@cache
def whole(row):
    return decoder().decode(CODES[row], chunk_frames=FRAMES)


def steps_apart(one, other):
    assert one.shape == other.shape
    return int(((one * 32767).round() - (other * 32767).round()).abs().max()) if len(one) else 0


def tensors(state):
    return (*state.histories, state.memory, state.frames)


def same_bits(one, other):
    return all(torch.equal(a, b) for a, b in zip(tensors(one), tensors(other), strict=True))


def is_near(one, other):
    return all(torch.allclose(a, b, atol=1e-4) for a, b in zip(tensors(one), tensors(other), strict=True))


@st.composite
def ragged_steps(draw):
    """For each step the new frames of every stream, until all have theirs."""
    left, steps = [FRAMES] * STREAMS, []
    while any(left):
        counts = [draw(st.integers(0, min(n, 9))) for n in left]
        if not any(counts):
            counts = [min(n, 1) for n in left]
        left = [n - c for n, c in zip(left, counts, strict=True)]
        steps.append(counts)
    return steps


def padded(at, counts, rows):
    """Codes of the chunks, padded with other streams' codes: padding of zeros could hide a leak."""
    codes = torch.randint(0, 2048, (len(rows), max(counts), 16))
    for line, row in enumerate(rows):
        codes[line, : counts[line]] = CODES[row, at[row] : at[row] + counts[line]]
    return codes


@settings(max_examples=15, deadline=None)
@given(ragged_steps(), st.booleans())
def test_any_lengths_sound_like_the_whole(steps, by_rows):
    """All streams in every step, or only those with new frames, named in any order."""
    state = decoder().fresh(STREAMS)
    at, parts = [0] * STREAMS, [[] for _ in range(STREAMS)]
    for number, counts in enumerate(steps):
        rows = [r for r in range(STREAMS) if counts[r]] if by_rows else list(range(STREAMS))
        rows = rows[::-1] if by_rows and number % 2 else rows
        own = [counts[r] for r in rows]
        chosen = torch.tensor(rows) if by_rows else None
        samples = decoder().step(padded(at, own, rows), state, torch.tensor(own), rows=chosen)
        for line, row in enumerate(rows):
            assert not samples[line, own[line] * 1920 :].any()
            parts[row].append(samples[line, : own[line] * 1920])
            at[row] += own[line]
    assert state.frames.tolist() == at == [FRAMES] * STREAMS
    for row in range(STREAMS):
        assert steps_apart(torch.cat(parts[row]), whole(row)) <= 1


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 7), min_size=3, max_size=3).filter(any), st.booleans())
def test_a_state_has_seen_the_new_frames_and_nothing_else(counts, by_rows):
    state = decoder().fresh(STREAMS)
    decoder().step(CODES[:, :5], state)
    rows, at = [2, 0, 3], [5] * STREAMS
    before = [state.take([r]) for r in range(STREAMS)]
    chosen = torch.tensor(rows)
    stepped = state if by_rows else state.take(rows)
    decoder().step(padded(at, counts, rows), stepped, torch.tensor(counts), rows=chosen if by_rows else None)
    assert same_bits(state.take([1]), before[1])
    for line, row in enumerate(rows):
        own = stepped.take([row if by_rows else line])
        if counts[line] == 0:
            assert same_bits(own, before[row])
            continue
        alone = before[row].clone()
        decoder().step(CODES[row : row + 1, 5 : 5 + counts[line]], alone)
        assert is_near(own, alone)


def test_what_the_padding_holds_changes_no_bit():
    runs = []
    for filler in (0, 2047):
        state = decoder().fresh(2)
        codes = torch.full((2, 6, 16), filler)
        codes[0], codes[1, :2] = CODES[0, :6], CODES[1, :2]
        samples = decoder().step(codes, state, torch.tensor([6, 2]))
        runs.append((samples, state))
    assert torch.equal(runs[0][0], runs[1][0])
    assert same_bits(runs[0][1], runs[1][1])


def test_a_view_of_a_row_is_the_stream_alone_to_the_bit():
    arena, alone = decoder().fresh(3), decoder().fresh()
    for part in torch.split(CODES[:1], [1, 4, 12, 7], dim=1):
        assert torch.equal(decoder().step(part, arena.view(1)), decoder().step(part, alone))
    assert same_bits(arena.take([1]), alone)
    assert same_bits(arena.take([0, 2]), decoder().fresh(2))


def test_a_row_takes_over_a_snapshot():
    snapshot, arena = decoder().fresh(), decoder().fresh(3)
    decoder().step(CODES[:1, :9], snapshot)
    arena.view(2).copy_(snapshot)
    assert same_bits(arena.take([2]), snapshot)
    decoder().step(CODES[:1, 9:], arena.view(2))
    assert snapshot.frames.tolist() == [9]


class Unseen(TorchDispatchMode):
    """Refuses looks from the host, copies between kinds of devices and tensors made of the host's numbers."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = str(func)
        assert not any(n in name for n in ("local_scalar", "nonzero", "unique", "lift_fresh")), name
        out = func(*args, **(kwargs or {}))
        flat = torch.utils._pytree.tree_leaves((args, kwargs or {}, out))
        assert {t.device.type for t in flat if isinstance(t, torch.Tensor)} <= {"cuda"}, name
        return out


@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("is_ragged", [False, True])
def test_a_ragged_step_stays_on_the_device(by_rows, is_ragged):
    folder = tiny_checkpoint("base-0.6b")
    config, weights = read_codec_config(folder), open_weights(folder / "speech_tokenizer")
    with FakeTensorMode(), torch.inference_mode():
        with torch.device("cuda"):
            network = DecoderNetwork(config.decoder_config).eval().requires_grad_(False)
        prepare(network)
        fake = CodecDecoder(network, config.decoder_config, weights, torch.device("cuda"))
        state = fake.fresh(5 if by_rows else 2)
        codes, numbers = (torch.zeros(s, dtype=torch.int64, device="cuda") for s in ((2, 4, 16), (2,)))
        with Unseen():
            samples = fake.step(
                codes, state, numbers if is_ragged else None, rows=numbers if by_rows else None
            )
        assert samples.shape == (2, 4 * 1920)
        assert samples.device.type == "cuda"


def test_a_look_would_be_refused():
    with FakeTensorMode(), Unseen(), pytest.raises(AssertionError, match="local_scalar"):
        torch.zeros(2, device="cuda").sum().item()
    with FakeTensorMode(), Unseen(), pytest.raises(AssertionError):
        torch.zeros(2, device="cuda").cpu()
