"""Draws: reproducible request by request, and distributed as the scores say."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.sampler import Settings, choose, draw, filter_logits, penalize, philox_uniforms


def test_philox_is_the_published_generator():
    """Known answers of Random123: counter and key all zero, and all ones."""
    words = philox_uniforms(0, 1, 4)[0]
    known = np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8], np.uint64)
    assert np.array_equal(words, (known >> np.uint64(9)).astype(np.float32) * np.float32(2.0**-23))


@given(seed=st.integers(0, 2**64 - 1), start=st.integers(0, 500), codebooks=st.sampled_from([1, 4, 7, 16]))
def test_a_frames_numbers_do_not_depend_on_where_the_call_starts(seed, start, codebooks):
    whole = philox_uniforms(seed, start + 3, codebooks)
    assert np.array_equal(whole[start:], philox_uniforms(seed, 3, codebooks, first_frame=start))
    assert ((whole >= 0) & (whole < 1)).all()


def test_seeds_and_frames_and_codebooks_all_give_other_numbers():
    numbers = np.concatenate([philox_uniforms(seed, 200, 16).ravel() for seed in (0, 1, 2**32, 2**63)])
    assert len(np.unique(numbers)) > 0.99 * len(numbers)
    assert abs(numbers.mean() - 0.5) < 0.01
    assert abs(numbers.var() - 1 / 12) < 0.003


def sampled(batch, vocab, *, temperature=1.0, top_k=0, top_p=1.0):
    return Settings.of([(True, temperature, top_k, top_p)] * batch, vocab=vocab, device="cpu")


@settings(max_examples=50)
@given(seed=st.integers(0, 10_000), vocab=st.integers(2, 300), high=st.booleans())
def test_what_is_cut_is_never_drawn(seed, vocab, high):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(4, vocab, generator=generator)
    scores[torch.rand(4, vocab, generator=generator) < 0.7] = -torch.inf
    scores[:, seed % vocab] = 0.0
    top = torch.full((4,), 1.0 - 2.0**-23) if high else torch.zeros(4)
    ids = draw(scores, top)
    assert torch.isfinite(scores.gather(1, ids[:, None])).all()


def test_draws_follow_the_probabilities():
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, 0.5, -torch.inf, 1.5, 0.1])
    uniforms = torch.from_numpy(philox_uniforms(3, 5000, 16).ravel())
    ids = choose(logits.expand(len(uniforms), -1), sampled(len(uniforms), 8, temperature=0.8), uniforms)
    expected = (logits / 0.8).softmax(0) * len(uniforms)
    counts = torch.bincount(ids, minlength=8)
    assert counts[5] == 0
    kept = expected > 0
    chi_square = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
    assert chi_square < 24.3  # 6 degrees of freedom, p = 0.0005


def test_top_k_keeps_ties_and_top_p_keeps_one():
    scores = filter_logits(torch.tensor([[3.0, 2.0, 2.0, 1.0]]), sampled(1, 4, top_k=2))
    assert torch.isfinite(scores).tolist() == [[True, True, True, False]]
    scores = filter_logits(torch.tensor([[9.0, 2.0, 2.0, 1.0]]), sampled(1, 4, top_p=0.01))
    assert torch.isfinite(scores).tolist() == [[True, False, False, False]]


def test_rows_with_different_settings_get_what_they_get_alone():
    rows = [
        (True, 0.9, 50, 1.0),
        (False, 1.0, 0, 1.0),
        (True, 1.3, 5, 0.7),
        (True, 0.5, 0, 0.9),
        (True, 2.0, 1, 1.0),
    ]
    logits = torch.randn(5, 400, generator=torch.Generator().manual_seed(1))
    uniform = torch.tensor([0.1, 0.9, 0.5, 0.999, 0.3])
    together = choose(logits, Settings.of(rows, vocab=400, device="cpu"), uniform)
    alone = [
        choose(logits[n : n + 1], Settings.of([row], vocab=400, device="cpu"), uniform[n : n + 1])
        for n, row in enumerate(rows)
    ]
    assert torch.equal(together, torch.cat(alone))
    assert together[1] == logits[1].argmax()
    assert together[4] == logits[4].argmax()


def test_the_penalty_pulls_both_signs_down():
    logits = torch.tensor([[2.0, -2.0, 2.0, -2.0]])
    seen = torch.tensor([[True, True, False, False]])
    assert penalize(logits, seen, torch.tensor([2.0])).tolist() == [[1.0, -4.0, 2.0, -2.0]]


@pytest.mark.parametrize(
    "bad", [{"temperature": 0.0}, {"top_p": 0.0}, {"top_k": -1}, {"repetition_penalty": 0.0}]
)
def test_settings_without_meaning_are_refused(bad):
    from refprep.types import SamplingParams

    with pytest.raises(ValueError, match=next(iter(bad))):
        SamplingParams(**bad)
