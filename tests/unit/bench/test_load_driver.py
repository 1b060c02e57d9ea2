"""Clients in front of an engine: of a stand-in on a virtual clock, and of the real one with a tiny checkpoint."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.bench.load import LoadDriver, Planned, poisson_arrivals
from refprep.bench.load_stats import LEFT, OK, summarise_load
from refprep.engine.codec import load_codec_decoder
from refprep.engine.model import load_checkpoint
from refprep.engine.speech import SpeechEngine
from refprep.errors import BusyError, DeviceError
from refprep.types import CloneMode, GeneratedCodes, SpeechRequest, StopReason, VoicePrompt
from refprep.units import SAMPLES_PER_FRAME

STEP_S = 0.01


class VirtualStream:
    def __init__(self, engine, request):
        self.engine, self.request = engine, request
        self.frames = 0
        self.ready = []
        self.generated = None

    @property
    def is_done(self):
        return self.generated is not None

    def take(self):
        ready, self.ready = self.ready, []
        return ready

    def cancel(self):
        if not self.is_done:
            self.end(StopReason.CANCELLED)

    def end(self, stop):
        codes = np.zeros((self.frames, 16), np.int32)
        self.generated = GeneratedCodes(codes, np.zeros(self.frames, np.int32), stop, 0, None, 0.0)
        self.engine.streams.remove(self)


class VirtualEngine:
    """A frame a step, a step a hundredth of a second, so many at once; the clock is its own."""

    def __init__(self, slots=2, most=None, fails_at=None):
        self.now_s, self.slots, self.most, self.fails_at = 5.0, slots, most, fails_at
        self.streams, self.most_open = [], 0

    def open(self, request):
        if self.most is not None and len(self.streams) >= self.most:
            raise BusyError("full", where="queue", fix="wait")
        self.streams.append(VirtualStream(self, request))
        self.most_open = max(self.most_open, len(self.streams))
        return self.streams[-1]

    def step(self):
        self.now_s += STEP_S
        if self.fails_at is not None and self.now_s >= self.fails_at:
            self.fails_at = None
            raise DeviceError("no memory", where="virtual", fix="none")
        for stream in self.streams[: self.slots]:
            stream.frames += 1
            stream.ready.append(np.ones(SAMPLES_PER_FRAME, np.float32))
            if stream.frames == stream.request.max_frames:
                stream.end(StopReason.MAX_FRAMES)

    def clock(self):
        return self.now_s

    def wait(self, seconds):
        assert seconds >= 0
        self.now_s += seconds


def planned(frames, **options):
    return [Planned(f"r{n}", SpeechRequest("x", max_frames=f), **options) for n, f in enumerate(frames)]


def driver(engine, **options):
    return LoadDriver(engine, clock=engine.clock, wait=engine.wait, **options)


def figures(run):
    return summarise_load(run.rows, expected=StopReason.MAX_FRAMES, step_s=run.step_s)


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=20),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_a_closed_loop_keeps_so_many_clients_and_serves_each_request_once(frames, concurrency, slots):
    engine = VirtualEngine(slots)
    run = driver(engine).closed_loop(planned(frames), concurrency=concurrency)
    assert engine.most_open == min(concurrency, len(frames))
    assert sorted(row.name for row in run.rows) == sorted(f"r{n}" for n in range(len(frames)))
    found = figures(run)
    assert (found["complete"], found["lost_samples"], engine.streams) == (len(frames), 0, [])
    assert found["audio_s"] == pytest.approx(0.08 * sum(frames), abs=1e-3)
    if min(concurrency, slots) == 1:
        assert found["wall_s"] == pytest.approx(STEP_S * sum(frames), abs=1e-4)


def test_one_client_s_times_are_those_of_the_clock():
    (row,) = driver(VirtualEngine()).closed_loop(planned([3]), concurrency=1).rows
    assert row.playable_ms == pytest.approx(10)
    assert row.audible_ms == pytest.approx(10)
    assert row.ended_s - row.dispatched_s == pytest.approx(0.03)
    assert [count for _, count in row.chunks] == [SAMPLES_PER_FRAME] * 3


@given(st.lists(st.floats(0, 0.3), min_size=1, max_size=15), st.integers(1, 4))
def test_an_open_loop_counts_from_when_a_request_was_due(offsets, slots):
    engine, offsets = VirtualEngine(slots), sorted(offsets)
    run = driver(engine).open_loop(planned([4] * len(offsets)), offsets)
    for row in run.rows:
        assert row.dispatched_s == pytest.approx(5.0 + offsets[int(row.name[1:])])
        assert row.status == OK
        assert row.playable_ms > 0
    assert len(run.rows) == len(offsets)


def test_an_open_loop_does_not_wait_for_the_engine():
    """Ten at once in front of one slot: the last waits for nine, and its times say so."""
    run = driver(VirtualEngine(slots=1)).open_loop(planned([5] * 10), [0.0] * 10)
    assert max(row.playable_ms for row in run.rows) == pytest.approx(10 * (9 * 5 + 1))


def test_a_full_queue_is_an_error_by_name_and_the_client_goes_on():
    run = driver(VirtualEngine(slots=1, most=2)).open_loop(planned([5] * 6), [0.0] * 6)
    assert Counter(row.status for row in run.rows) == {OK: 2, "BusyError": 4}
    found = figures(run)
    assert (found["errors"], found["served"], found["complete"]) == ({"BusyError": 4}, 2, 2)


def test_a_client_that_leaves_is_no_error():
    run = driver(VirtualEngine()).closed_loop(planned([9, 9], leaves_after=2), concurrency=2)
    assert [(row.status, row.frames, len(row.chunks)) for row in run.rows] == [(LEFT, 2, 2)] * 2
    found = figures(run)
    assert (found["left"], found["errors"], found["lost_samples"]) == (2, {}, 0)


def test_an_engine_that_fails_ends_who_was_in_it():
    engine = VirtualEngine(fails_at=5.02)
    run = driver(engine).closed_loop(planned([4] * 5), concurrency=2)
    assert Counter(row.status for row in run.rows) == {OK: 3, "DeviceError": 2}
    assert engine.streams == []


def test_audio_is_kept_on_demand_and_a_driver_starts_anew():
    engine = VirtualEngine()
    one = driver(engine, keeps_audio=True)
    run = one.closed_loop(planned([3]), concurrency=1)
    assert run.audio["r0"].shape == (3 * SAMPLES_PER_FRAME,)
    again = one.closed_loop(planned([2]), concurrency=1)
    assert (len(again.rows), len(again.step_s)) == (1, 2)
    assert again.audio["r0"].shape == (2 * SAMPLES_PER_FRAME,)


@given(st.integers(0, 50), st.sampled_from([1.0, 4.0, 20.0]), st.integers(0, 9))
def test_arrivals_ascend_and_repeat_with_their_seed(count, per_s, seed):
    found = poisson_arrivals(count, per_s=per_s, seed=seed)
    assert found == sorted(found) == poisson_arrivals(count, per_s=per_s, seed=seed)
    assert len(found) == count


def test_arrivals_come_at_their_rate():
    found = poisson_arrivals(4000, per_s=5.0, seed=1)
    gaps = np.diff([0.0, *found])
    assert np.mean(gaps) == pytest.approx(0.2, rel=0.05)
    assert np.std(gaps) == pytest.approx(0.2, rel=0.1)  # as large as the mean: no clockwork


# ---------------------------------------------------------------- the real engine


@cache
def parts():
    folder = tiny_checkpoint("base-0.6b")
    checkpoint = load_checkpoint(folder, device=torch.device("cpu"), dtype=torch.float32)
    return checkpoint, load_codec_decoder(folder, "cpu")


def speech_engine(**options):
    given = {"max_batch": 2, "rows_together": True, "never_ends": True}
    return SpeechEngine(*parts(), **(given | options))


def spoken(count, frames=7, **options):
    width = parts()[0].config.talker_config.hidden_size
    voice = VoicePrompt(CloneMode.X_VECTOR, np.ones(width, np.float32))
    return [
        Planned(f"r{n}", SpeechRequest("Good evening.", voice=voice, seed=n, max_frames=frames), **options)
        for n in range(count)
    ]


@pytest.mark.usefixtures("one_torch_thread")
class TestRealEngine:
    def test_a_closed_loop_gets_all_of_its_audio(self):
        run = LoadDriver(speech_engine(), keeps_audio=True).closed_loop(spoken(5), concurrency=2)
        found = figures(run)
        assert (found["served"], found["complete"], found["lost_samples"]) == (5, 5, 0)
        assert all(samples.shape == (7 * SAMPLES_PER_FRAME,) for samples in run.audio.values())
        assert all(row.chunks[0][1] == SAMPLES_PER_FRAME for row in run.rows)  # a frame is enough to begin

    def test_an_open_loop_gets_all_of_its_audio(self):
        run = LoadDriver(speech_engine()).open_loop(
            spoken(4, frames=5), poisson_arrivals(4, per_s=200, seed=3)
        )
        assert figures(run)["complete"] == 4

    def test_a_full_queue_refuses_and_the_rest_is_whole(self):
        engine = speech_engine(max_batch=1, max_waiting=1)
        run = LoadDriver(engine).open_loop(spoken(6, frames=4), [0.0] * 6)
        found = figures(run)
        assert set(found["errors"]) == {"BusyError"}
        assert found["served"] == found["complete"] == 6 - found["errors"]["BusyError"]
        assert engine.is_idle

    @settings(max_examples=4, deadline=None)
    @given(st.lists(st.booleans(), min_size=3, max_size=5))
    def test_clients_that_leave_lose_nothing_they_were_owed(self, leaves):
        asked = [spoken(1, frames=9, leaves_after=1 if leave else None)[0] for leave in leaves]
        engine = speech_engine()
        run = LoadDriver(engine).closed_loop(asked, concurrency=3)
        found = figures(run)
        assert (found["left"], found["complete"]) == (sum(leaves), len(leaves) - sum(leaves))
        assert (found["lost_samples"], found["errors"], engine.is_idle) == (0, {}, True)
