"""Alignment of clips longer than the model's window: every word once, in order, on the clip's clock."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from fakes import FakeAsr, make_clip, noise_clip, spoken
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.pipeline.align import align_text, cut_clip
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.transcribe import MAX_INTERVAL_S, plan_intervals
from refprep.text.words import join_words, split_words
from refprep.types import Alignment, Origin, Span, Transcript, Word

RATE_HZ = 1000
WORDS = "the quick brown fox jumps over lazy dogs while rain falls softly upon old stone walls".split()


def ramp_clip(duration_s: float):
    """Every sample says where it is: value * 2**20 is its index."""
    return make_clip((np.arange(round(duration_s * RATE_HZ)) / 2**20).astype(np.float32), RATE_HZ)


@dataclass
class ClockAligner:
    """Puts word k at 0.1 k seconds of the piece, and remembers where in the whole the piece began."""

    name: str = "clock"
    pieces: list[tuple[float, float, str]] = field(default_factory=list)
    asked: list[tuple[float, str]] = field(default_factory=list)
    asked_first: list[tuple[float, str]] = field(default_factory=list)

    def align(self, clip, text, *, language):
        start_s = float(clip.samples[0]) * 2**20 / RATE_HZ
        self.pieces.append((start_s, clip.duration_s, text))
        return Alignment(
            tuple(Word(w, Span(0.1 * k, 0.1 * k + 0.05), 0.9) for k, w in enumerate(split_words(text))),
            self.name,
        )

    def end_probability(self, clip, text, *, language):
        self.asked.append((float(clip.samples[0]) * 2**20 / RATE_HZ, text))
        return 0.25

    def start_share(self, clip, text, *, language):
        self.asked_first.append((float(clip.samples[0]) * 2**20 / RATE_HZ, text))
        return 0.125


def script(num_words: int, step_s: float):
    """Words at an even pace with a pause after every one, and the speech they make."""
    said = [(WORDS[k % len(WORDS)], k * step_s, k * step_s + 0.6 * step_s) for k in range(num_words)]
    return said, tuple(Span(a, b) for _, a, b in said)


def heard_of(said) -> Transcript:
    words = spoken(said)
    return Transcript(join_words(w.text for w in words), "en", 1.0, words, Origin.ASR, "fake")


def test_a_short_clip_is_aligned_at_once():
    aligner, (said, speech) = ClockAligner(), script(20, 1.5)
    clip = ramp_clip(30.0)
    align_text(clip, "one two", speech, aligner, heard=heard_of(said), language="en")
    assert aligner.pieces == [(0.0, 30.0, "one two")]


def test_no_words_need_no_aligner():
    aligner, (said, speech) = ClockAligner(), script(30, 2.0)
    for text in ("", "  ", "..."):
        found = align_text(ramp_clip(60.0), text, speech, aligner, heard=heard_of(said), language="en")
        assert found == Alignment((), "clock")
    assert aligner.pieces == []


def test_windows_are_those_of_the_transcription_and_times_are_the_clips():
    aligner, (said, speech) = ClockAligner(), script(45, 2.0)
    clip = ramp_clip(90.0)
    text = join_words(w for w, _, _ in said)
    found = align_text(clip, text, speech, aligner, heard=heard_of(said), language="en")
    intervals = plan_intervals(90.0, speech)
    assert len(intervals) > 2
    assert [p[0] for p in aligner.pieces] == pytest.approx([i.start_s for i in intervals], abs=1e-3)
    assert [p[1] for p in aligner.pieces] == pytest.approx([i.duration_s for i in intervals], abs=2e-3)
    assert [w.text for w in found.words] == split_words(text)
    at = 0
    for interval, (_, _, part) in zip(intervals, aligner.pieces, strict=True):
        for k, _ in enumerate(split_words(part)):
            assert found.words[at].span.start_s == pytest.approx(interval.start_s + 0.1 * k)
            assert found.words[at].span.duration_s == pytest.approx(0.05)
            # The written word went to the window in which its partner is heard.
            assert interval.start_s <= said[at][1] < interval.end_s
            at += 1


def test_the_fake_that_hears_places_every_word_where_it_is_said():
    said, speech = script(30, 2.0)
    clip = noise_clip(60.0, sample_rate_hz=RATE_HZ)
    pieces = [(i, cut_clip(clip, i)) for i in plan_intervals(60.0, speech)]
    asr = FakeAsr(
        {
            p.id: [(w, a - i.start_s, b - i.start_s) for w, a, b in said if i.start_s <= a < i.end_s]
            for i, p in pieces
        }
    )
    text = join_words(w for w, _, _ in said)
    found = align_text(clip, text, speech, asr, heard=heard_of(said), language="en")
    for word, (wanted, start_s, end_s) in zip(found.words, said, strict=True):
        assert word.text == wanted
        assert word.span.start_s == pytest.approx(start_s)
        assert word.span.end_s == pytest.approx(end_s)


@settings(max_examples=40, deadline=None)
@given(
    text=st.lists(st.sampled_from(WORDS), max_size=50),
    num_heard=st.integers(17, 40),
    step=st.integers(8, 24),
)
def test_whatever_is_written_comes_back_once_and_in_order(text, num_heard, step):
    said, speech = script(num_heard, step / 8)
    clip = ramp_clip(max(31.0, num_heard * step / 8))
    aligner = ClockAligner()
    found = align_text(clip, join_words(text), speech, aligner, heard=heard_of(said), language="en")
    assert [w.text for w in found.words] == text
    assert all(length_s <= MAX_INTERVAL_S + 2e-3 for _, length_s, _ in aligner.pieces)
    assert [p[0] for p in aligner.pieces] == sorted(p[0] for p in aligner.pieces)
    assert all(p[2] for p in aligner.pieces)  # a window without written words is not asked about


@settings(deadline=None)
@given(
    num_samples=st.integers(2, 5000), cut=st.floats(0.0, 1.0), rate_hz=st.sampled_from([8000, 16_000, 44_100])
)
def test_two_cuts_of_a_clip_hold_its_samples(num_samples, cut, rate_hz):
    rng = np.random.default_rng(num_samples)
    clip = make_clip(rng.standard_normal(num_samples).astype(np.float32), rate_hz)
    at_s = cut * clip.duration_s
    left, right = cut_clip(clip, Span(0.0, at_s)), cut_clip(clip, Span(at_s, clip.duration_s))
    assert np.concatenate([left.samples, right.samples]).tobytes() == clip.samples.tobytes()
    assert left.num_samples == round(at_s * rate_hz)


def test_a_cut_clip_is_named_by_its_samples_and_read_only():
    clip = ramp_clip(3.0)
    piece = cut_clip(clip, Span(1.0, 2.5))
    assert piece.samples.tolist() == clip.samples[1000:2500].tolist()
    assert piece.id == pcm_sha256(clip.samples[1000:2500], RATE_HZ)
    assert piece.source == clip.source
    assert not piece.samples.flags.writeable


@pytest.mark.parametrize("num_words", [12, 60])
@pytest.mark.parametrize("missing", [0, 1])
def test_the_end_is_asked_about_where_words_are_heard_behind_the_text(num_words, missing):
    """In the window where the text ends, with the words of that window."""
    (said, speech), aligner = script(num_words, 1.5), ClockAligner()
    text = join_words([w for w, _, _ in said][: num_words - missing])
    aligned = align_text(
        ramp_clip(num_words * 1.5), text, speech, aligner, heard=heard_of(said), language="en"
    )
    assert aligned.end_probability == (0.25 if missing else None)
    assert aligner.asked == ([(aligner.pieces[-1][0], aligner.pieces[-1][2])] if missing else [])


@pytest.mark.parametrize("num_words", [12, 60])
@pytest.mark.parametrize("missing", [0, 1])
def test_the_start_is_asked_about_where_words_are_heard_before_the_text(num_words, missing):
    (said, speech), aligner = script(num_words, 1.5), ClockAligner()
    text = join_words([w for w, _, _ in said][missing:])
    aligned = align_text(
        ramp_clip(num_words * 1.5), text, speech, aligner, heard=heard_of(said), language="en"
    )
    assert aligned.start_share == (0.125 if missing else None)
    assert aligner.asked_first == ([(aligner.pieces[0][0], aligner.pieces[0][2])] if missing else [])
