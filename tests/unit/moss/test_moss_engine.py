from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from moss_kit import RecordingEngine, loaded

from refprep.errors import BusyError, TextInputError, UsageError
from refprep.moss.engine import MossEngine
from refprep.moss.request import MOSS_GREEDY, MossRequest, MossSampling
from refprep.moss.sampling import Uniforms
from refprep.types import StopReason

pytestmark = pytest.mark.usefixtures("one_torch_thread")

KINDS = ("delay", "local-1.5")
# The tiny Local stops soon: greedily it goes on longest, so tests of length push it that way.
HOT = MossSampling(text_temperature=1.2, text_top_k=0, audio_temperature=1.3, audio_top_k=0, audio_top_p=0.9)


def codes(name, frames, seed=0):
    books = loaded(name).config.n_vq
    return np.random.default_rng(seed).integers(0, 1024, (frames, books)).astype(np.int32)


def eight_requests(name):
    ref = codes(name, 9)
    penalty = dataclasses.replace(HOT, audio_repetition_penalty=1.3)
    return [
        MossRequest("Hi.", seed=1, max_frames=20),
        MossRequest("A longer text, with 12 numbers.", reference=ref, seed=2, max_frames=21),
        MossRequest("Guten Tag", language="German", seed=3, max_frames=15, sampling=HOT),
        MossRequest(
            "Hello world", prefix=codes(name, 40, 1), prefix_text="Words.", seed=2**64 - 1, max_frames=9
        ),
        MossRequest("Hello world", reference=ref, sampling=MOSS_GREEDY, max_frames=12),
        MossRequest("一二三", reference=codes(name, 30, 2), seed=6, max_frames=6, sampling=penalty),
        MossRequest("The quick brown fox " * 4, seed=7, max_frames=25, instruction="slowly"),
        MossRequest("Hi.", seed=1, max_frames=20),
    ]


def same(one, other):
    return (
        np.array_equal(one.codes, other.codes)
        and one.stop is other.stop
        and np.array_equal(one.eos_ranks, other.eos_ranks)
        and np.array_equal(one.context, other.context)
        and one.segment_frames == other.segment_frames
        and one.cut_frames == other.cut_frames
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_request_gives_the_same_codes_alone_and_in_any_company(name):
    requests = eight_requests(name)
    alone = [MossEngine(loaded(name), max_batch=1).generate([r])[0] for r in requests]
    assert same(alone[0], alone[-1])
    assert sum(r.num_frames for r in alone) > 10
    for batch in (3, 8):
        together = MossEngine(loaded(name), max_batch=batch).generate(requests)
        assert all(same(a, b) for a, b in zip(alone, together, strict=True))
    turned = MossEngine(loaded(name), max_batch=4).generate(requests[::-1])
    assert all(same(a, b) for a, b in zip(alone, turned[::-1], strict=True))


@pytest.mark.parametrize("name", KINDS)
def test_rows_together_give_the_same_codes_in_float32_here(name):
    """Not promised to the bit; in these tiny models no choice is that near."""
    requests = eight_requests(name)
    alone = MossEngine(loaded(name), max_batch=1).generate(requests)
    together = MossEngine(loaded(name), max_batch=3, rows_together=True).generate(requests)
    assert [len(r.codes) for r in alone] == [len(r.codes) for r in together]
    assert np.mean([np.array_equal(a.codes, b.codes) for a, b in zip(alone, together, strict=True)]) > 0.8


@pytest.mark.parametrize("name", KINDS)
def test_another_seed_gives_other_codes(name):
    ask = [MossRequest("Hello world", seed=s, max_frames=30, sampling=HOT) for s in range(8)]
    results = MossEngine(loaded(name)).generate(ask)
    assert len({r.codes.tobytes() for r in results}) > 4


@pytest.mark.parametrize("name", KINDS)
def test_streams_give_what_generate_gives(name):
    for request in eight_requests(name)[:5]:
        (whole,) = MossEngine(loaded(name)).generate([request])
        heard = []
        *frames, result = MossEngine(loaded(name)).stream(request, on_context=heard.append)
        assert same(whole, result)
        assert len(frames) == whole.num_frames
        assert all(np.array_equal(f, c) for f, c in zip(frames, whole.codes, strict=True))
        if request.prefix is not None and frames:
            assert np.array_equal(np.stack(heard[0]), whole.context)
            assert len(whole.context) == 40


def test_a_frame_of_delay_leaves_as_soon_as_its_last_code_is_written():
    engine = RecordingEngine(loaded("delay"), max_batch=1)
    ticket = engine.add(MossRequest("Hi.", sampling=MOSS_GREEDY))
    while not engine.frames(ticket):
        engine.step()
    rows = np.stack(engine.rows[ticket])
    start = int((rows[:, 0] == 483).nonzero()[0][0])
    assert len(rows) == start + 1 + 32
    while engine.take(ticket) is None:
        before = len(engine.frames(ticket))
        engine.step()
        assert len(engine.frames(ticket)) - before <= 1


def test_local_gives_a_frame_a_step():
    engine = MossEngine(loaded("local-1.5"), max_batch=1)
    ticket = engine.add(MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=5))
    for step in range(5):
        engine.step()
        assert len(engine.frames(ticket)) == step + 1


@pytest.mark.parametrize("name", KINDS)
def test_the_budget_counts_new_frames(name):
    for frames in (1, 2, 5):
        ask = MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=frames)
        (result,) = MossEngine(loaded(name)).generate([ask])
        assert (result.num_frames, result.stop) == (frames, StopReason.MAX_FRAMES)
        assert sum(result.segment_frames) == frames


def test_a_budget_that_is_met_exactly_is_no_cut():
    (whole,) = MossEngine(loaded("delay")).generate([MossRequest("Hi.", sampling=MOSS_GREEDY)])
    exact = MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=whole.num_frames)
    (result,) = MossEngine(loaded("delay")).generate([exact])
    assert result.stop is StopReason.EOS
    assert np.array_equal(result.codes, whole.codes)
    less = dataclasses.replace(exact, max_frames=whole.num_frames - 1)
    (result,) = MossEngine(loaded("delay")).generate([less])
    assert result.stop is StopReason.MAX_FRAMES
    assert np.array_equal(result.codes, whole.codes[:-1])


@pytest.mark.parametrize("rows", [1, 5, 33, 34, 40])
def test_a_cut_run_reports_what_is_lost(rows):
    ask = MossRequest("Hi.", sampling=MOSS_GREEDY, max_rows=rows)
    (whole,) = MossEngine(loaded("delay")).generate([MossRequest("Hi.", sampling=MOSS_GREEDY)])
    (result,) = MossEngine(loaded("delay")).generate([ask])
    assert result.stop is StopReason.MAX_FRAMES
    assert result.num_frames == max(0, rows - 1 - 31)
    assert np.array_equal(result.codes, whole.codes[: result.num_frames])
    assert result.cut_frames == min(rows - 1, whole.num_frames) - result.num_frames


@pytest.mark.parametrize("name", KINDS)
def test_a_watch_stops_a_request_and_no_other(name):
    ask = MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=6)
    seen = []

    def watch(frame, odds):
        seen.append((frame, odds))
        return StopReason.REPEATING if len(seen) == 3 else None

    first, second = MossEngine(loaded(name)).generate([ask, ask], [watch, None])
    assert (first.stop, first.num_frames) == (StopReason.REPEATING, 3)
    assert np.array_equal(first.codes, second.codes[:3])
    assert [odds for _, odds in seen] == first.eos_ranks.tolist()
    assert second.num_frames == 6


@pytest.mark.parametrize("name", KINDS)
def test_cancelled_requests_keep_their_frames(name):
    engine = MossEngine(loaded(name), max_batch=1)
    ask = MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=8)
    running, waiting = engine.add(ask), engine.add(ask)
    while len(engine.frames(running)) < 2:
        engine.step()
    engine.cancel(running)
    engine.cancel(waiting)
    assert engine.is_idle
    result = engine.take(running)
    assert (result.stop, result.num_frames) == (StopReason.CANCELLED, 2)
    assert engine.take(waiting).codes.shape == (0, loaded(name).config.n_vq)
    assert engine.take(running) is None


def test_closing_a_stream_cancels_it():
    engine = MossEngine(loaded("local-1.5"))
    stream = engine.stream(MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=8))
    next(stream)
    stream.close()
    assert engine.is_idle


def test_queue_and_deadline():
    now = [0.0]
    engine = MossEngine(loaded("local-1.5"), max_batch=1, max_waiting=1, clock=lambda: now[0])
    ask = MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=8)
    late = engine.add(ask, deadline_s=1.0)
    engine.step()
    engine.add(ask)
    with pytest.raises(BusyError):
        engine.add(ask)
    now[0] = 2.0
    engine.step()
    assert engine.take(late).stop is StopReason.CANCELLED


def test_a_bad_request_leaves_nothing_behind():
    engine = MossEngine(loaded("delay"))
    with pytest.raises(UsageError):
        engine.generate([MossRequest("Hi."), MossRequest("Hi.", reference=np.zeros((3, 4), np.int32))])
    assert engine.is_idle
    with pytest.raises(TextInputError, match="positions"):
        engine.add(MossRequest("Hi.", max_frames=41_000))


def test_odds_are_low_where_the_end_was_drawn():
    (result,) = MossEngine(loaded("delay")).generate([MossRequest("Hi.", sampling=MOSS_GREEDY)])
    assert len(result.eos_ranks) == result.num_frames
    assert result.eos_ranks[-1] == 0
    assert result.eos_ranks[0] > 0


def test_random_numbers_depend_on_seed_frame_and_codebook_alone():
    one, other = Uniforms(5, 32), Uniforms(5, 12)
    rows = np.array([0, 3, 700])
    assert np.array_equal(one.at(rows, np.array([0, 11, 4])), other.at(rows, np.array([0, 11, 4])))
    table = Uniforms(5, 32).at(*np.meshgrid(np.arange(300), np.arange(33), indexing="ij"))
    assert len(np.unique(table)) > 0.99 * table.size
    assert not np.array_equal(
        table, Uniforms(6, 32).at(*np.meshgrid(np.arange(300), np.arange(33), indexing="ij"))
    )
