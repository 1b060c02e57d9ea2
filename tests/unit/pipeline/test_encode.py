"""Reference -> entry: resampled once, hashed by content, under the encoder's facts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from codes_kit import FACTS, FakeReferenceEncoder, clip
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.resample import resample
from refprep.pipeline.decode import pcm_sha256
from refprep.pipeline.encode import codes_case, encode_reference, reference_key
from refprep.units import samples_to_frames

NOISE = np.random.default_rng(0).standard_normal(48_000).astype(np.float32) * np.float32(0.1)


@pytest.mark.parametrize("rate_hz", [8000, 16_000, 22_050, 24_000, 44_100, 48_000])
def test_the_reference_is_brought_to_24_khz(rate_hz):
    encoder = FakeReferenceEncoder()
    found = encode_reference(clip(NOISE, rate_hz), encoder)
    heard = resample(NOISE, rate_hz, 24_000)
    assert found.num_samples == len(heard)
    assert np.array_equal(found.codes, encoder.encode(heard))
    assert np.array_equal(found.speaker_embedding, encoder.embed(heard))
    assert found.key.audio_sha256 == pcm_sha256(NOISE, rate_hz)
    assert found.key.sample_rate_hz == rate_hz
    assert (found.key.resampler == "none") == (rate_hz == 24_000)
    assert found.num_frames == samples_to_frames(len(heard))
    assert found.created_by.startswith("refprep ")


def test_the_key_follows_samples_rate_and_facts():
    key = reference_key(NOISE, 24_000, FACTS)
    changed = NOISE.copy()
    changed[17] += np.float32(1e-6)
    assert reference_key(changed, 24_000, FACTS).differs_in(key) == {"audio_sha256"}
    assert reference_key(NOISE, 24_000, replace(FACTS, device="cuda")).differs_in(key) == {"device"}
    assert reference_key(NOISE, 48_000, FACTS).differs_in(key) == {
        "audio_sha256",
        "sample_rate_hz",
        "resampler",
    }
    assert reference_key(NOISE.copy(), 24_000, FACTS) == key


@given(st.integers(1, 6000))
@settings(max_examples=30)
def test_a_case_knows_every_frame(num_samples):
    samples = NOISE[:num_samples]
    found = encode_reference(clip(samples), FakeReferenceEncoder())
    case = codes_case(found, samples, 24_000)
    assert (case.num_samples, len(case.is_loud)) == (num_samples, found.num_frames)
    assert case.audio_sha256 == found.key.audio_sha256


def test_pauses_are_told_from_sound():
    samples = np.concatenate((NOISE[:19_200], np.zeros(19_200, np.float32), NOISE[:1000]))
    case = codes_case(encode_reference(clip(samples), FakeReferenceEncoder()), samples, 24_000)
    assert case.is_loud.tolist() == [True] * 10 + [False] * 10 + [True]
