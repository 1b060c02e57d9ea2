"""How clips begin and end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from fakes import make_clip, spoken
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.linter.rules.rp401 import is_cut
from refprep.pipeline.clip_ends import measure_edges
from refprep.pipeline.quality import measure_quality
from refprep.types import Clip, ClipEdges, Span, Transcript

RATE_HZ = 16_000


def hummed(*, fade_s: float = 0.0, before_s: float = 0.0, after_s: float = 0.0) -> Clip:
    """Two hums of 0.8 s with a pause of 0.4 s between them and faint noise throughout; fades at both ends."""
    time_s = np.arange(2 * RATE_HZ) / RATE_HZ
    hum = 0.2 * np.sin(2 * np.pi * 210.0 * time_s)
    hum[(time_s > 0.8) & (time_s < 1.2)] = 0.0
    if fade_s:
        hum *= np.minimum(1.0, np.minimum(time_s, 2.0 - time_s) / fade_s) ** 2
    samples = np.concatenate([np.zeros(round(before_s * RATE_HZ)), hum, np.zeros(round(after_s * RATE_HZ))])
    noise = np.random.default_rng(0).normal(0.0, 1e-4, samples.size)
    return make_clip((samples + noise).astype(np.float32), RATE_HZ)


def hums(start_s: float = 0.0) -> list[Span]:
    """Where they are."""
    return [Span(start_s, start_s + 0.8), Span(start_s + 1.2, start_s + 2.0)]


def edges_of(clip: Clip, speech: Sequence[Span], heard: Transcript | None = None) -> ClipEdges:
    found = measure_edges(clip, speech, measure_quality(clip, speech, text=None, language=""), heard=heard)
    assert found is not None
    return found


def test_a_hum_that_is_cut_off_is_cut_at_both_ends():
    found = edges_of(hummed(), hums())
    assert found.duration_s == 2.0
    for edge in (found.start, found.end):
        assert edge.level_db == pytest.approx(0.0, abs=1.0)
        assert is_cut(edge)


def test_an_edge_of_its_own_is_no_cut():
    faded = edges_of(hummed(fade_s=0.1), hums())
    assert not is_cut(faded.start)
    assert not is_cut(faded.end)
    padded = edges_of(hummed(before_s=0.3, after_s=0.3), hums(0.3))
    assert (padded.start.silence_s, padded.end.silence_s) == pytest.approx((0.3, 0.3))
    assert not is_cut(padded.start)
    assert not is_cut(padded.end)


def test_each_end_is_measured_for_itself():
    found = edges_of(hummed(before_s=0.3), hums(0.3))
    assert not is_cut(found.start)
    assert is_cut(found.end)


def test_noise_that_is_as_loud_as_the_edge_hides_a_cut():
    clip = hummed()
    noise = np.random.default_rng(1).normal(0.0, 0.1, clip.samples.size).astype(np.float32)
    assert not is_cut(edges_of(make_clip(clip.samples + noise, RATE_HZ), hums()).end)


def test_the_word_at_the_edge_is_named():
    heard = Transcript("It was", "en", words=spoken([("It", 0.1, 0.5), ("was", 1.6, 1.95)], 0.4))
    found = edges_of(hummed(), hums(), heard)
    assert (found.start.word, found.end.word) == ("It", "was")
    assert found.end.word_probability == 0.4
    late = Transcript("It", "en", words=spoken([("It", 0.8, 1.2)]))
    found = edges_of(hummed(), hums(), late)
    assert (found.start.word, found.end.word, found.end.word_probability) == ("", "", None)


def test_without_speech_there_are_no_edges():
    clip = hummed()
    assert measure_edges(clip, [], measure_quality(clip, [], text=None, language="")) is None


def test_digital_silence_at_an_edge_is_no_level():
    samples = np.concatenate([hummed().samples, np.zeros(1600, np.float32)])
    found = edges_of(make_clip(samples, RATE_HZ), hums())
    assert found.end.level_db == -math.inf
    assert not is_cut(found.end)


@settings(deadline=None)
@given(st.floats(-20.0, 10.0))
def test_gain_changes_nothing(gain_db):
    clip = hummed(fade_s=0.05)
    louder = make_clip((clip.samples * np.float32(10 ** (gain_db / 20))).astype(np.float32), RATE_HZ)
    one, other = (edges_of(c, hums()) for c in (clip, louder))
    assert one.end.level_db == pytest.approx(other.end.level_db, abs=0.01)
    assert one.start.level_db == pytest.approx(other.start.level_db, abs=0.01)
