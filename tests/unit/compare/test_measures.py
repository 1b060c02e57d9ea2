"""What is measured of an output: against the references of all conditions, whoever spoke."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from score_values import HEAD_LEAK, SCORE, WINDOW

from refprep.compare.measures import plain_values, scored_values
from refprep.pipeline.samples import clip_of
from refprep.scoring import ScoredOutput
from refprep.types import StopReason

CLIP = clip_of(np.zeros(24_000, np.float32), 24_000, path="out.wav")


def test_similarity_is_the_mean_of_the_windows_with_its_controls():
    windows = (WINDOW, replace(WINDOW, name="late", score=3.1, control_score=None))
    found = scored_values(ScoredOutput(replace(SCORE, windows=windows), ()), CLIP, ())
    assert found["similarity:ge2e"] == pytest.approx(3.6)
    assert found["control:ge2e"] == pytest.approx(1.2)
    assert found["margin:ge2e"] == pytest.approx(2.9)
    assert found["late_less_early:ge2e"] == pytest.approx(-1.0)
    assert (found["error_rate"], found["leaks"], found["passed"]) == (0.0, 0.0, 1.0)


def test_encoders_are_never_mixed():
    other = replace(WINDOW, encoder="ecapa", score=0.5)
    found = scored_values(ScoredOutput(replace(SCORE, windows=(WINDOW, other)), ()), CLIP, ())
    assert (found["similarity:ge2e"], found["similarity:ecapa"]) == (4.1, 0.5)


def test_what_nobody_measured_is_no_number():
    bare = replace(SCORE, text=None, windows=(), leaks=(HEAD_LEAK,))
    found = scored_values(ScoredOutput(bare, ()), CLIP, ())
    assert found["error_rate"] is None
    assert found["leaks"] == 1.0
    assert not [name for name in found if name.startswith("similarity")]


def test_an_end_is_one_and_anything_else_is_none():
    assert plain_values(2.0, StopReason.EOS)["ended"] == 1.0
    assert plain_values(2.0, StopReason.MAX_FRAMES)["ended"] == 0.0
