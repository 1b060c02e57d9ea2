"""Speech of a long recording, found window by window."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from fakes import noise_clip
from hypothesis import given, settings
from hypothesis import strategies as st
from spans_kit import disjoint_spans, is_sorted_and_disjoint

from refprep.pipeline import speech as speech_module
from refprep.pipeline.recording import Recording, as_recording
from refprep.pipeline.speech import find_speech
from refprep.types import Span

RATE_HZ = 1000
SPEECH = disjoint_spans(min_spans=1, max_spans=60, max_length=60, max_gap=60, min_gap=1)


@dataclass
class Witness:
    """Hears true speech; ``blur_s`` moves what it hears at the edges of its window, as a network does."""

    truth: list[Span]
    blur_s: float = 0.0
    name: str = "witness"
    windows: list[Span] = field(default_factory=list)

    def speech_spans(self, clip):
        start_s = float(clip.samples[0]) / RATE_HZ if clip.num_samples else 0.0
        window = Span(start_s, start_s + clip.duration_s)
        self.windows.append(window)
        heard = [
            Span(max(s.start_s, window.start_s + self.blur_s), min(s.end_s, window.end_s - self.blur_s))
            for s in self.truth
            if min(s.end_s, window.end_s - self.blur_s) > max(s.start_s, window.start_s + self.blur_s)
        ]
        return tuple(Span(s.start_s - start_s, s.end_s - start_s) for s in heard)


def numbered(duration_s: float) -> Recording:
    """Every sample is its own number, so that a window knows where it is."""
    num_samples = round(duration_s * RATE_HZ)
    source = noise_clip(0.1).source
    return Recording(source, RATE_HZ, num_samples, lambda a, b: np.arange(a, b).astype(np.float32))


@settings(max_examples=100, deadline=None)
@given(SPEECH, st.sampled_from([(60, 12), (20, 8), (45, 20)]), st.sampled_from([0.0, 1.5]))
def test_windows_find_what_the_whole_would(speech, sizes, blur_s):
    """Wherever windows end: the first two seconds of one and the last of its neighbour do not count."""
    duration_s = speech[-1].end_s + 2.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(speech_module, "WINDOW_S", sizes[0])
        patch.setattr(speech_module, "OVERLAP_S", sizes[1])
        witness = Witness(speech, blur_s)
        found = find_speech(numbered(duration_s), witness)
    expected = [Span(max(s.start_s, blur_s), s.end_s) for s in speech if s.end_s > blur_s]
    assert is_sorted_and_disjoint(found)
    assert [s.start_s for s in found] == pytest.approx([s.start_s for s in expected])
    assert [s.end_s for s in found] == pytest.approx([s.end_s for s in expected])
    assert max(w.duration_s for w in witness.windows) <= sizes[0]


def test_a_minute_is_heard_as_one():
    clip = noise_clip(60.0)
    witness = Witness([])
    find_speech(as_recording(clip), witness)
    assert len(witness.windows) == 1


def test_where_it_is_is_told():
    told: list[float] = []
    find_speech(numbered(130.0), Witness([Span(1.0, 2.0)]), on_time=told.append)
    assert told == [60.0, 108.0, 130.0]
