"""Figures of requests under load, against what a second player that counts sample by sample finds."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.bench.load_stats import (
    AUDIBLE_DBFS,
    LEFT,
    OK,
    AudibleGate,
    RequestRow,
    percentiles,
    played_at,
    row_document,
    sample_of,
    summarise_load,
    underruns,
)
from refprep.types import StopReason
from refprep.units import CODE_RATE_HZ, SAMPLES_PER_FRAME

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)
# Arrivals on the grid of samples, so that a player can count them: (samples since the last arrival, samples).
grids = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), min_size=1, max_size=12)


def arrivals(grid):
    at, chunks = 0, []
    for gap, count in grid:
        at += gap
        chunks.append((at, count))
    return chunks, tuple((at / CODE_RATE_HZ, count) for at, count in chunks)


def player(chunks):
    """Tick by tick: when each sample is played, and in which ticks there was nothing to play though more came."""
    waiting, played, silent, at = list(chunks), [], [], chunks[0][0]
    ready, total = 0, sum(count for _, count in chunks)
    while len(played) < total:
        while waiting and waiting[0][0] <= at:
            ready += waiting.pop(0)[1]
        if ready:
            played.append(at)
            ready -= 1
        else:
            silent.append(at)
        at += 1
    return played, silent


@given(grids)
def test_a_client_without_a_buffer_plays_and_waits_as_a_player_does(grid):
    ticks, chunks = arrivals(grid)
    played, silent = player(ticks)
    for sample, at in enumerate(played):
        assert played_at(chunks, sample) * CODE_RATE_HZ == pytest.approx(at)
    gaps, waited_s = underruns(chunks)
    starts = [at for at in silent if at - 1 not in silent]
    assert gaps == len(starts)
    assert waited_s * CODE_RATE_HZ == pytest.approx(len(silent), abs=1e-6)


def test_audio_that_never_came_is_never_played():
    with pytest.raises(IndexError):
        played_at(((0.0, 10),), 10)
    assert underruns(()) == (0, 0.0)


@given(values, st.integers(0, 100), st.integers(0, 100))
def test_percentiles_lie_between_the_values_and_rise(found, one, other):
    low, high = sorted((one, other))
    ranks = percentiles(found, (0, low, high, 100))
    assert ranks["p0"] <= ranks[f"p{low}"] <= ranks[f"p{high}"] <= ranks["p100"]
    assert ranks["p0"] == pytest.approx(min(found), abs=1e-3)
    assert ranks["p100"] == pytest.approx(max(found), abs=1e-3)
    assert percentiles(found, (50,))["p50"] == pytest.approx(statistics.median(found), abs=1e-3)


def test_percentiles_of_nothing():
    assert percentiles([]) == {"p50": None, "p95": None, "p99": None}


@given(st.integers(0, 2000), st.lists(st.integers(1, 700), min_size=1, max_size=8))
def test_the_gate_finds_the_first_audible_window_however_audio_is_cut(silence, cuts):
    loud = 2.2 * 10 ** (AUDIBLE_DBFS / 20)
    audio = np.concatenate([np.zeros(silence), np.full(800, loud)]).astype(np.float32)
    gate = AudibleGate()
    at = 0
    while at < len(audio):
        gate.feed(audio[at : at + cuts[at % len(cuts)]])
        at += cuts[at % len(cuts)]
    # 50 of 240 samples at 2.2 times the amplitude have the power of the gate
    assert gate.at_sample == next(n for n in range(0, silence + 241, 240) if silence - n <= 190)


def test_the_gate_stays_shut_for_what_nobody_hears():
    gate = AudibleGate()
    gate.feed(np.full(4800, 0.5 * 10 ** (AUDIBLE_DBFS / 20), np.float32))
    assert gate.at_sample is None


def row(name="a", *, at=0.0, first=0.1, end=1.0, frames=10, status=OK, stop=StopReason.MAX_FRAMES, **other):
    chunks = ((at + first, SAMPLES_PER_FRAME * frames),) if frames else ()
    given = {"chunks": chunks, "audible_sample": 0, "frames": frames, "stop": stop, "budget_frames": frames}
    return RequestRow(name, at, at + end, status, **(given | other))


def test_a_window_in_figures():
    rows = [row(at=0.0), row("b", at=0.5, first=0.3, end=1.5), row("c", at=1.0, status=LEFT, frames=2)]
    rows.append(row("d", at=0.1, end=0.0, frames=0, stop=None, status="BusyError"))
    found = summarise_load(rows, expected=StopReason.MAX_FRAMES, step_s=[0.01, 0.03, 0.02])
    assert (found["requests"], found["served"], found["left"]) == (4, 2, 1)
    assert found["errors"] == {"BusyError": 1}
    assert found["ttfa_ms"]["p50"] == pytest.approx(200)
    assert found["audible_ms"]["p50"] == pytest.approx(200)
    assert found["wall_s"] == 2.0
    assert found["audio_s_per_s"] == pytest.approx(1.6 / 2.0)
    assert found["rtf"]["mean"] == pytest.approx((1.0 / 0.8 + 1.5 / 0.8) / 2, abs=1e-4)
    assert (found["complete"], found["incomplete"], found["lost_samples"]) == (2, 0, 0)
    assert found["ms_per_frame"]["step"] == pytest.approx(20)
    assert found["runaway"] is None


def test_nothing_at_all_in_figures():
    found = summarise_load([], expected=StopReason.EOS)
    assert (found["requests"], found["audio_s_per_s"], found["rtf"]["mean"]) == (0, None, None)


@pytest.mark.parametrize(
    ("changed", "is_complete"),
    [
        ({}, True),
        ({"chunks": ((0.1, SAMPLES_PER_FRAME * 9),)}, False),  # a frame's audio is lost
        ({"stop": StopReason.CANCELLED}, False),
        ({"budget_frames": 11}, False),  # it stopped short of what it had to write
        ({"status": LEFT}, False),
        ({"stop": StopReason.EOS}, False),
    ],
)
def test_complete_is_all_samples_and_the_expected_end(changed, is_complete):
    assert row(**changed).is_complete(StopReason.MAX_FRAMES) is is_complete


def test_with_real_weights_the_budget_is_a_runaway_and_eos_the_end():
    rows = [row(stop=StopReason.EOS, budget_frames=750), row("b")]
    found = summarise_load(rows, expected=StopReason.EOS)
    assert (found["complete"], found["incomplete"], found["runaway"]) == (1, 1, 1)


def test_times_of_what_never_sounded_are_not_known():
    silent = row(frames=0)
    assert (silent.playable_ms, row(audible_sample=None).audible_ms) == (None, None)
    assert math.isinf(silent.rtf)


def test_leading_silence_counts_towards_the_audible_time():
    late = row(audible_sample=CODE_RATE_HZ // 4)
    assert late.audible_ms == pytest.approx(350)


def test_documents_of_a_request():
    document = row_document(row())
    assert document["chunks"] == [[100.0, 19200]]
    assert document["end_ms"] == pytest.approx(1000)
    assert sample_of(document) == {
        "name": "a", "status": "ok", "playable_ms": 100.0, "audible_ms": 100.0, "end_ms": 1000.0, "frames": 10,
    }  # fmt: skip
