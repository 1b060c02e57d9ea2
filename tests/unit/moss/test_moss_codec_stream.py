"""A stream of any chunks is the whole, beyond the window too; streams share a batch and leave each other alone."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from moss_codec_kit import tiny_codec
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from refprep.errors import BackendError
from refprep.moss.codec import CodecState, OutputDecoder, read_codec_config
from refprep.moss.codec.network import CodecNetwork

pytestmark = pytest.mark.usefixtures("one_torch_thread")

STREAMS, FRAMES = 3, 40
CODES = torch.randint(0, 1024, (STREAMS, 320, 32), generator=torch.Generator().manual_seed(5))


@cache
def decoder(context_s=1.0):
    """With a window of one second, 12 frames: short streams go far beyond it."""
    return OutputDecoder(tiny_codec(context_s))


@cache
def whole(row, frames=FRAMES, context_s=1.0):
    """In one pass, without a state."""
    with torch.inference_mode():
        return decoder(context_s).network.decode(CODES[row : row + 1, :frames])[0]


def is_equal(one, other):
    assert one.shape == other.shape
    steps = ((one * 32767).round() - (other * 32767).round()).abs()
    return float((one - other).abs().max()) <= 1e-5 and int(steps.max()) <= 1


@st.composite
def partitions(draw, frames=FRAMES, largest=FRAMES):
    sizes = []
    while sum(sizes) < frames:
        sizes.append(min(draw(st.integers(1, largest)), frames - sum(sizes)))
    return sizes


@settings(max_examples=20, deadline=None)
@given(partitions(), st.integers(1, FRAMES))
def test_any_partition_is_the_whole(sizes, capacity):
    """Chunks that are larger than the state's are decoded in pieces."""
    state = decoder().fresh(chunk_frames=capacity)
    parts = [decoder().step(part, state)[0] for part in torch.split(CODES[:1, :FRAMES], sizes, dim=1)]
    assert state.frames.tolist() == [FRAMES]
    assert is_equal(torch.cat(parts), whole(0))


@settings(max_examples=4, deadline=None)
@given(partitions(frames=320, largest=90), st.sampled_from([5, 16, 90]))
def test_any_partition_of_25_s_is_the_whole_with_the_real_window(sizes, capacity):
    state = decoder(10.0).fresh(chunk_frames=capacity)
    parts = [decoder(10.0).step(part, state)[0] for part in torch.split(CODES[:1], sizes, dim=1)]
    assert is_equal(torch.cat(parts), whole(0, 320, 10.0))


@pytest.mark.parametrize("chunk_frames", [None, 1, 3, 400])
def test_decode_is_the_whole(chunk_frames):
    samples = decoder().decode(CODES[0, :FRAMES], chunk_frames=chunk_frames)
    assert is_equal(samples, whole(0))


def test_decode_goes_on_from_a_state():
    state = decoder().fresh(chunk_frames=4)
    first = decoder().decode(CODES[0, :17], state=state)
    rest = decoder().decode(CODES[0, 17:FRAMES], state=state)
    assert is_equal(torch.cat((first, rest)), whole(0))


@st.composite
def ragged_steps(draw):
    left, steps = [FRAMES] * STREAMS, []
    while any(left):
        counts = [draw(st.integers(0, min(n, 9))) for n in left]
        if not any(counts):
            counts = [min(n, 1) for n in left]
        left = [n - c for n, c in zip(left, counts, strict=True)]
        steps.append(counts)
    return steps


def padded(at, counts, rows):
    """Codes of the chunks, padded with others: padding of zeros could hide a leak."""
    codes = torch.randint(0, 1024, (len(rows), max(counts), 32))
    for line, row in enumerate(rows):
        codes[line, : counts[line]] = CODES[row, at[row] : at[row] + counts[line]]
    return codes


@settings(max_examples=12, deadline=None)
@given(ragged_steps(), st.booleans(), st.sampled_from([2, 9]))
def test_streams_at_different_points_step_together(steps, by_rows, capacity):
    state = decoder().fresh(STREAMS, chunk_frames=capacity)
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
    assert state.frames.tolist() == [FRAMES] * STREAMS
    for row in range(STREAMS):
        assert is_equal(torch.cat(parts[row]), whole(row))


def test_a_snapshot_is_left_alone_and_starts_many():
    start = decoder().fresh(chunk_frames=4)
    decoder().step(CODES[:1, :15], start)
    kept = start.clone()
    arena = decoder().fresh(3, chunk_frames=4)
    arena.put([2, 0], kept.take([0, 0]))
    arena.view(1).copy_(kept)
    ends = decoder().step(CODES[:1, 15:30].expand(3, -1, -1), arena)
    for row in range(3):
        assert is_equal(ends[row], whole(0)[15 * 1920 : 30 * 1920])
    assert kept.frames.tolist() == [15]
    assert all(torch.equal(a, b) for a, b in zip(kept.rings, start.rings, strict=True))
    assert arena.take([1]).batch == 1


def test_states_of_other_sizes_do_not_mix():
    small, large = decoder().fresh(chunk_frames=2), decoder().fresh(2, chunk_frames=2)
    with pytest.raises(ValueError, match="does not fit"):
        large.copy_(small)
    with pytest.raises(ValueError, match="does not fit"):
        large.put([0], decoder().fresh(chunk_frames=3))
    with pytest.raises(ValueError, match="2 streams"):
        decoder().step(CODES[:1, :2], large)
    with pytest.raises(ValueError, match="1 or more"):
        decoder().fresh(chunk_frames=0)


def test_a_state_has_the_size_of_its_windows():
    state = OutputDecoder(tiny_codec()).fresh(chunk_frames=1)
    assert [r.shape[3] for r in state.rings] == [125, 251, 503, 1007]
    assert state.nbytes == sum(r.nbytes for r in state.rings) + 8


def test_every_segment_is_decoded():
    sizes = [5, 0, 1, 7]
    segments = [CODES[0, 10 * i : 10 * i + n] for i, n in enumerate(sizes)]
    found = decoder().decode_segments(segments)
    assert [len(s) for s in found] == [n * 1920 for n in sizes]
    assert is_equal(found[3], decoder().decode(CODES[0, 30:37]))
    assert decoder().decode_segments([]) == ()


@pytest.mark.parametrize("books", [1, 5, 31, 32])
def test_any_prefix_of_codebooks_decodes(books):
    samples = decoder().decode(CODES[0, :3, :books])
    assert samples.shape == (3 * 1920,)
    assert torch.equal(samples, whole(0, 3)) == (books == 32) or is_equal(samples, whole(0, 3))


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64, torch.uint8])
def test_any_integers_decode(dtype):
    codes = CODES[0, :3] % 128
    assert is_equal(decoder().decode(codes.to(dtype)), decoder().decode(codes))


@pytest.mark.parametrize(
    ("codes", "what"),
    [
        (torch.zeros(3, 32), "type float32"),
        (torch.zeros(3, 32, dtype=torch.bool), "type bool"),
        (torch.zeros(3, 33, dtype=torch.int64), "shape"),
        (torch.zeros(3, 0, dtype=torch.int64), "shape"),
        (torch.zeros(32, dtype=torch.int64), "shape"),
        (torch.zeros(1, 3, 32, dtype=torch.int64), "shape"),
        (torch.full((3, 32), 1024), "codes from 1024"),  # the pad code
        (torch.full((3, 32), -1), "codes from -1"),
    ],
)
def test_codes_of_another_codec_are_refused(codes, what):
    with pytest.raises(BackendError, match=what):
        decoder().decode(codes)
    with pytest.raises(BackendError):
        decoder().decode_segments([CODES[0, :2], codes])


class Unseen(TorchDispatchMode):
    """Refuses looks from the host and copies between kinds of devices."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = str(func)
        assert not any(n in name for n in ("local_scalar", "nonzero", "unique")), name
        out = func(*args, **(kwargs or {}))
        flat = torch.utils._pytree.tree_leaves((args, kwargs or {}, out))
        assert {t.device.type for t in flat if isinstance(t, torch.Tensor)} <= {"cuda"}, name
        return out


@pytest.mark.parametrize("by_rows", [False, True])
def test_a_step_stays_on_the_device(by_rows):
    config = read_codec_config(tiny_codec())
    with FakeTensorMode(), torch.inference_mode(), torch.device("cuda"):
        network = CodecNetwork(config, decoder=True, encoder=False).eval().requires_grad_(False)
        network.quantizer.prepare()
        rings = tuple(
            torch.zeros(s.config.num_layers, 2, 5, s.window + s.per_frame, s.config.num_heads, s.head_dim)
            for s in network.decoder_stacks
        )
        batch = 2 if by_rows else 5
        state = CodecState(rings, torch.zeros(5, dtype=torch.int64), 2)
        codes, rows = torch.zeros(batch, 1, 32, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
        with Unseen():
            samples = network.step(codes, state, rows if by_rows else None)
        assert samples.shape == (batch, 1920)
        assert samples.device.type == "cuda"
