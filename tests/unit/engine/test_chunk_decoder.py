"""Chunks of many rows: who shares a pass, whose samples are whose, and rows that come and go."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint

from refprep.engine.chunk_decoder import Chunk, ChunkDecoder
from refprep.engine.codec import load_codec_decoder
from refprep.engine.side_stream import SideStream
from refprep.types import CloneMode, VoicePrompt

pytestmark = pytest.mark.usefixtures("one_torch_thread")

CODES = np.random.default_rng(3).integers(0, 2048, (6, 24, 16)).astype(np.int32)


@cache
def decoder():
    return load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")


def whole(number):
    return decoder().decode(torch.from_numpy(CODES[number].copy())).numpy()


def counted(monkeypatch):
    """Batch sizes of the passes from here on."""
    passes, step = [], decoder().step

    def counting(codes, *args, **more):
        passes.append(codes.shape[0])
        return step(codes, *args, **more)

    monkeypatch.setattr(decoder(), "step", counting)
    return passes


@pytest.mark.parametrize(
    ("counts", "together", "passes"),
    [
        ([1, 1, 1], False, [1, 1, 1]),
        ([1, 1, 1, 1, 1, 1], True, [6]),
        ([4, 1, 3, 1], True, [2, 2]),  # 3 is padded to 4, 1 is not
        ([8, 8, 12], True, [1, 1, 1]),  # more frames a pass leave the caches
    ],
)
def test_chunks_share_a_pass_where_that_pays(counts, together, passes, monkeypatch):
    chunks = ChunkDecoder(decoder(), rows_together=together)
    rows = [chunks.admit(None) for _ in counts]
    seen = counted(monkeypatch)
    due = [Chunk(row, CODES[n, :count]) for n, (row, count) in enumerate(zip(rows, counts, strict=True))]
    decoded = [d.samples() for d in chunks.decode(due)]
    assert seen == passes
    for number, (samples, count) in enumerate(zip(decoded, counts, strict=True)):
        assert len(samples) == 1920 * count
        assert np.abs(samples - whole(number)[: len(samples)]).max() * 32767 < 1


def test_rows_move_into_a_larger_arena_with_their_state():
    chunks = ChunkDecoder(decoder())
    first = chunks.admit(None)
    assert chunks.num_rows == 1
    (start,) = chunks.decode([Chunk(first, CODES[0, :10])])
    others = [chunks.admit(None) for _ in range(4)]
    assert chunks.num_rows == 8
    assert len({first, *others}) == 5
    (rest,) = chunks.decode([Chunk(first, CODES[0, 10:])])
    joined = np.concatenate((start.samples(), rest.samples()))
    assert np.abs(joined - whole(0)).max() * 32767 < 1


def test_a_row_that_is_given_again_remembers_nothing():
    chunks = ChunkDecoder(decoder())
    row = chunks.admit(None)
    (fresh,) = chunks.decode([Chunk(row, CODES[0, :4])])
    chunks.release(row)
    assert chunks.admit(None) == row
    (again,) = chunks.decode([Chunk(row, CODES[0, :4])])
    assert np.array_equal(fresh.samples(), again.samples())


def test_a_stream_starts_behind_the_reference_in_context_and_fresh_otherwise():
    vector = np.zeros(24, np.float32)
    in_context = VoicePrompt(CloneMode.ICL, vector, "Words.", CODES[1, :9])
    by_embedding = VoicePrompt(CloneMode.X_VECTOR, vector, "Words.", CODES[1, :9])
    chunks = ChunkDecoder(decoder())
    chunks.prepare(in_context)
    assert len(chunks.voices) == 1
    heard = []
    for voice in (in_context, by_embedding):
        (decoded,) = chunks.decode([Chunk(chunks.admit(voice), CODES[1, 9:])])
        heard.append(decoded.samples())
    assert len(chunks.voices) == 1
    assert np.abs(heard[0] - whole(1)[9 * 1920 :]).max() * 32767 < 1
    fresh = decoder().decode(torch.from_numpy(CODES[1, 9:].copy()), chunk_frames=15).numpy()
    assert np.array_equal(heard[1], fresh)


def test_what_a_listener_keeps_holds_nobody_elses_audio():
    chunks = ChunkDecoder(decoder(), rows_together=True)
    due = [Chunk(chunks.admit(None), CODES[n, :1]) for n in range(3)]
    for decoded in chunks.decode(due):
        samples = decoded.samples()
        assert samples.base is None or samples.base.nbytes == samples.nbytes
        assert not samples.flags.writeable


def test_on_a_cpu_a_side_stream_is_nothing():
    side = SideStream(torch.device("cpu"))
    numbers = np.arange(3)
    with side.entered():
        fetched = side.fetch(side.upload(numbers))
    assert fetched.is_ready()
    assert fetched.wait().tolist() == [0, 1, 2]
