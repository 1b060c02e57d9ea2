"""Thirds of the speech, the place of a cut, and what is left after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes import make_clip, noise_clip
from hypothesis import given
from hypothesis import strategies as st
from score_values import HEAD_LEAK, SCORE, TAIL_LEAK

from refprep.errors import MachineError, UsageError
from refprep.pipeline.decode import decode_file
from refprep.scoring.cut import find_cut
from refprep.scoring.trim import trim_leaks, write_trimmed
from refprep.scoring.windows import split_speech
from refprep.types import Span


@given(
    lengths=st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(0.1, 5.0)), min_size=1, max_size=8),
    count=st.integers(1, 3),
)
def test_parts_share_the_speech_equally(lengths, count):
    speech, at_s = [], 0.0
    for pause_s, long_s in lengths:
        speech.append(Span(at_s + pause_s, at_s + pause_s + long_s))
        at_s += pause_s + long_s
    parts = split_speech(speech, count)
    total_s = sum(s.duration_s for s in speech)
    assert len(parts) == count
    for part in parts:
        assert sum(s.duration_s for s in part) == pytest.approx(total_s / count, abs=1e-6)
    flat = [s for part in parts for s in part]
    assert flat == sorted(flat)


def test_a_cut_lies_in_the_middle_of_the_pause():
    clip = noise_clip(2.0)
    edged = (Span(0.2, 0.7), Span(0.9, 1.8))
    assert find_cut(clip, edged, Span(0.5, 1.2), near_s=0.72) == pytest.approx(0.8)


def test_a_blip_in_a_pause_does_not_part_it():
    clip = noise_clip(2.0)
    edged = (Span(0.0, 1.27), Span(1.45, 1.46), Span(1.55, 2.0))
    assert find_cut(clip, edged, Span(1.33, 1.7), near_s=1.456) == pytest.approx(1.41)


def test_without_a_pause_it_is_the_quietest_moment():
    samples = noise_clip(2.0).samples.copy()
    samples[round(0.95 * 16_000) : round(0.99 * 16_000)] *= 0.01
    clip = make_clip(samples)
    assert find_cut(clip, (Span(0.0, 2.0),), Span(0.7, 1.2), near_s=0.9) == pytest.approx(0.97, abs=0.02)


@given(cut_s=st.floats(0.05, 1.9))
def test_what_stays_is_untouched_and_begins_at_a_crossing(cut_s):
    clip = noise_clip(2.0)
    trimmed = trim_leaks(clip, replace(SCORE, leaks=(replace(HEAD_LEAK, cut_s=cut_s),)))
    start = clip.num_samples - trimmed.num_samples
    assert np.array_equal(trimmed.samples, clip.samples[start:])
    assert abs(start / 16_000 - cut_s) <= 0.0052
    assert np.signbit(clip.samples[start]) != np.signbit(clip.samples[start - 1])
    assert trimmed.id != clip.id


def test_both_edges_are_cut():
    clip = noise_clip(3.4)
    trimmed = trim_leaks(clip, replace(SCORE, leaks=(HEAD_LEAK, TAIL_LEAK)))
    assert trimmed.duration_s == pytest.approx(2.4 - 0.71, abs=0.011)


def test_without_a_leak_it_is_the_clip():
    clip = noise_clip(1.0)
    assert trim_leaks(clip, SCORE) is clip


def test_nothing_left_is_an_error():
    leaks = (replace(HEAD_LEAK, cut_s=1.0), replace(TAIL_LEAK, cut_s=0.5))
    with pytest.raises(UsageError, match="nothing but words of the reference"):
        trim_leaks(noise_clip(2.0), replace(SCORE, leaks=leaks))


def test_a_trimmed_file_holds_the_samples(tmp_path: Path):
    clip = noise_clip(2.0)
    path = tmp_path / "new" / "out.wav"
    write_trimmed(trim_leaks(clip, replace(SCORE, leaks=(HEAD_LEAK,))), path)
    written = decode_file(path)
    assert np.array_equal(written.samples, clip.samples[-written.num_samples :])
    assert [p.name for p in path.parent.iterdir()] == ["out.wav"]


def test_a_disk_that_refuses_is_one_error(tmp_path: Path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(MachineError, match="cannot be written"):
        write_trimmed(noise_clip(0.1), tmp_path / "file" / "out.wav")
