from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refprep.dsp.silence import longest_inner_pause, pauses, refine_edges, split_at_quiet
from refprep.types import Span

RATE_HZ = 16_000


def scene(*parts: tuple[float, float]):
    """(seconds, level in dBFS) -> noise of these levels, one behind the other."""
    rng = np.random.default_rng(0)
    pieces = [rng.standard_normal(round(s * RATE_HZ)) * 10 ** (db / 20) for s, db in parts]
    return np.concatenate(pieces).astype(np.float32)


def test_a_soft_final_consonant_survives_in_a_quiet_recording():
    """An absolute trim at -40 dBFS eats it: speech at -35 dBFS ends in 150 ms at -60 dBFS."""
    samples = scene((0.5, -90), (1.0, -35), (0.15, -60), (0.5, -90))
    (edged,) = refine_edges(samples, RATE_HZ, [Span(0.5, 1.5)], speech_level_dbfs=-35, noise_level_dbfs=-90)
    assert edged.start_s == pytest.approx(0.5, abs=0.011)
    assert edged.end_s == pytest.approx(1.65, abs=0.011)


def test_a_padded_edge_moves_inward():
    samples = scene((0.5, -90), (1.0, -20), (0.5, -90))
    (edged,) = refine_edges(samples, RATE_HZ, [Span(0.44, 1.56)], speech_level_dbfs=-20, noise_level_dbfs=-90)
    assert edged.start_s == pytest.approx(0.5, abs=0.011)
    assert edged.end_s == pytest.approx(1.5, abs=0.011)


def test_room_tone_is_no_speech():
    samples = scene((1.0, -50), (1.0, -20), (1.0, -50))
    (edged,) = refine_edges(samples, RATE_HZ, [Span(0.98, 2.02)], speech_level_dbfs=-20, noise_level_dbfs=-50)
    assert edged.start_s == pytest.approx(1.0, abs=0.011)
    assert edged.end_s == pytest.approx(2.0, abs=0.011)


def test_a_stop_after_its_closure_belongs_to_the_word():
    samples = scene((0.5, -90), (1.0, -20), (0.02, -90), (0.05, -45), (0.5, -90))
    (edged,) = refine_edges(samples, RATE_HZ, [Span(0.5, 1.5)], speech_level_dbfs=-20, noise_level_dbfs=-90)
    assert edged.end_s == pytest.approx(1.57, abs=0.011)


def test_without_levels_nothing_moves():
    spans = (Span(0.1, 0.2),)
    silent = np.zeros(8000, np.float32)
    assert (
        refine_edges(silent, RATE_HZ, spans, speech_level_dbfs=-math.inf, noise_level_dbfs=-math.inf) == spans
    )


@st.composite
def disjoint_spans(draw):
    edges = sorted(draw(st.lists(st.integers(0, 300), max_size=12, unique=True)))
    return tuple(Span(a / 100, b / 100) for a, b in zip(edges[::2], edges[1::2], strict=False))


@given(spans=disjoint_spans(), seed=st.integers(0, 50))
def test_refined_spans_stay_sorted_disjoint_and_inside(spans, seed):
    rng = np.random.default_rng(seed)
    levels = np.repeat(rng.choice([1e-4, 1e-2, 0.1], 60), RATE_HZ // 20)
    samples = (rng.standard_normal(levels.size) * levels).astype(np.float32)
    edged = refine_edges(samples, RATE_HZ, spans, speech_level_dbfs=-20, noise_level_dbfs=-70)
    assert len(edged) == len(spans)
    edges = [0.0, *(t for s in edged for t in (s.start_s, s.end_s)), 3.0]
    assert edges == sorted(edges)


@given(spans=disjoint_spans())
def test_speech_and_pauses_make_the_whole(spans):
    total_s = sum(s.duration_s for s in spans) + sum(p.duration_s for p in pauses(spans, 3.0))
    assert total_s == pytest.approx(3.0)


def test_longest_inner_pause():
    assert longest_inner_pause([]) is None
    assert longest_inner_pause([Span(1, 2)]) is None
    assert longest_inner_pause([Span(0, 1), Span(1.5, 2), Span(4, 5)]) == Span(2, 4)


@given(st.lists(st.tuples(st.integers(2, 40), st.integers(9, 40)), min_size=1, max_size=6))
def test_quiet_that_voice_activity_passes_over_cuts_a_span(parts):
    """Sound and quiet in steps of 10 ms: one span over everything is cut into the stretches of sound again."""
    sound, at = [], 20
    for loud, quiet in parts:
        sound.append(Span(at / 100, (at + loud) / 100))
        at += loud + quiet
    samples = np.zeros(at * RATE_HZ // 100, dtype=np.float32)
    for span in sound:
        samples[round(span.start_s * RATE_HZ) : round(span.end_s * RATE_HZ)] = 0.1
    levels = {"speech_level_dbfs": -20.0, "noise_level_dbfs": -math.inf}
    whole = Span(sound[0].start_s, sound[-1].end_s)
    found = split_at_quiet(samples, RATE_HZ, [whole], min_quiet_s=0.085, **levels)
    assert [s.start_s for s in found] == pytest.approx([s.start_s for s in sound])
    assert [s.end_s for s in found] == pytest.approx([s.end_s for s in sound])
    assert split_at_quiet(samples, RATE_HZ, [whole], min_quiet_s=10.0, **levels) == (whole,)
    silence = {"speech_level_dbfs": -math.inf, "noise_level_dbfs": -math.inf}
    assert split_at_quiet(samples, RATE_HZ, [whole], min_quiet_s=0.085, **silence) == (whole,)
