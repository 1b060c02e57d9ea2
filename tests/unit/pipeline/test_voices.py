"""Windows of a clip, parted into two voices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.pipeline.voices import measure_voices
from refprep.types import ClipVoices, Span, Voiceprint, freeze


def print_of(who: str, *, apart: float = 0.0, model: str = "ge2e", seed: int = 0) -> Voiceprint:
    """A voiceprint whose windows are of the people named, one letter a window; ``apart`` is their cosine."""
    rng = np.random.default_rng(seed)
    axes = {"a": np.array([1.0, 0.0]), "b": np.array([apart, np.sqrt(1.0 - apart**2)])}
    rows = np.zeros((len(who), 32))
    for k, letter in enumerate(who):
        rows[k, :2] = axes[letter]
        rows[k, 2:] = rng.normal(0.0, 0.03, 30)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return Voiceprint(
        clip_id="id",
        model=model,
        vector=freeze(rows.mean(axis=0).astype(np.float32)),
        window_vectors=freeze(rows.astype(np.float32)),
        windows=tuple(Span(k * 0.8, k * 0.8 + 1.6) for k in range(len(who))),
        speech_s=0.8 * len(who) + 0.8,
    )


@pytest.mark.parametrize(
    ("who", "run", "span"),
    [
        ("aaaabb", 2, Span(3.2, 5.6)), ("bbaaaa", 2, Span(0.0, 2.4)), ("aaabbbaaa", 3, Span(2.4, 5.6)),
        ("abbbabbaaaa", 3, Span(0.8, 4.0)),
    ],
)  # fmt: skip
def test_the_lesser_voice_is_found_where_it_speaks(who, run, span):
    found = measure_voices(print_of(who, apart=0.3))
    assert found.cosine == pytest.approx(0.3, abs=0.06)
    assert (found.run, found.model) == (run, "ge2e")
    assert found.span is not None
    assert (found.span.start_s, found.span.end_s) == pytest.approx((span.start_s, span.end_s))
    assert found.threshold is not None
    assert found.cosine < found.threshold


def test_one_voice_is_one():
    found = measure_voices(print_of("a" * 8))
    assert found.cosine is None or (found.threshold is not None and found.cosine > found.threshold)


@pytest.mark.parametrize("who", ["", "a", "ab", "aab", "aaabaaa", "baaaaaa"])
def test_a_window_alone_is_no_voice(who):
    if not who:
        empty = Voiceprint(
            "id", "ge2e", freeze(np.ones(2, np.float32)), np.zeros((0, 2), np.float32), (), 1.0
        )
        assert measure_voices(empty) == ClipVoices("ge2e", None, 0, None, None)
        return
    found = measure_voices(print_of(who, apart=0.3))
    assert (found.cosine, found.span, found.threshold) == (None, None, None)


def test_longer_stretches_are_held_to_a_higher_limit():
    limits = [measure_voices(print_of("a" * 8 + "b" * n)).threshold for n in (2, 3, 4, 7)]
    assert limits == sorted(limits)
    assert limits[-1] == limits[-2]


def test_another_encoder_has_no_threshold():
    found = measure_voices(print_of("aaabbb", model="other"))
    assert found.cosine is not None
    assert found.threshold is None


@settings(deadline=None)
@given(st.text("ab", min_size=4, max_size=14), st.integers(0, 9))
def test_who_is_called_a_and_who_b_does_not_matter(who, seed):
    one = measure_voices(print_of(who, apart=0.2, seed=seed))
    other = measure_voices(print_of(who.translate(str.maketrans("ab", "ba")), apart=0.2, seed=seed))
    assert (one.cosine is None) == (other.cosine is None)
    assert one.run == other.run


@settings(deadline=None)
@given(st.text("ab", min_size=4, max_size=14), st.floats(-0.2, 0.9))
def test_a_parting_has_a_place_and_a_cosine(who, apart):
    found = measure_voices(print_of(who, apart=apart))
    assert (found.cosine is None) == (found.span is None)
    if found.cosine is not None and found.span is not None:
        assert -1.0 <= found.cosine <= 1.0
        assert found.run >= 2
        assert 0.0 <= found.span.start_s < found.span.end_s <= len(who) * 0.8 + 0.8 + 1e-9
