"""A reference on its way to codes: what is refused, what is added, and what a key says of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from moss_codec_kit import copied, edit_config, fixed_wave, tiny_codec

from refprep.errors import UsageError
from refprep.moss.codec import Loudness, ReferenceEncoder, loudness_gain_db
from refprep.moss.codec.loudness import prepared, with_loudness
from refprep.pipeline.encode import reference_key

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WAVE = fixed_wave()


@cache
def encoder(loudness=Loudness.AS_IS):
    return ReferenceEncoder(tiny_codec(), loudness=loudness)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8000))
def test_frames_are_the_samples_rounded_up(num_samples):
    codes = encoder().encode(WAVE[:num_samples])
    assert codes.shape == (-(-num_samples // 1920), 32)
    assert codes.dtype == np.int32
    assert codes.flags.c_contiguous
    assert codes.min() >= 0
    assert codes.max() < 1024


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 60_000), st.integers(0, 60_000))
def test_codes_of_a_prefix_are_the_first_of_the_whole(short, more):
    """Whole frames only: the padded one hears silence instead of what follows."""
    one, other = encoder().encode(WAVE[:short]), encoder().encode(WAVE[: short + more])
    frames = short // 1920
    assert np.array_equal(one[:frames], other[:frames])


def test_the_tail_is_completed_with_silence():
    clip = WAVE[: 2 * 1920 + 700]
    behind = np.concatenate((clip, np.zeros(1220, np.float32)))
    assert np.array_equal(encoder().encode(clip), encoder().encode(behind))
    assert np.array_equal(prepared(clip, Loudness.AS_IS), behind)


def test_silence_is_added_behind_the_gain():
    clip = WAVE[: 1920 + 1]
    whole = prepared(clip, Loudness.PUBLISHED)
    assert whole.shape == (3840,)
    assert np.array_equal(whole[:1921], with_loudness(clip, Loudness.PUBLISHED))
    assert not whole[1921:].any()


@settings(max_examples=50, deadline=None)
@given(st.floats(-60.0, 0.0))
def test_the_gain_goes_toward_20_dbfs_by_3_db_at_most(level_dbfs):
    samples = np.full(4800, 10.0 ** (level_dbfs / 20.0), np.float32)
    gain_db = loudness_gain_db(samples, Loudness.PUBLISHED)
    assert gain_db == pytest.approx(min(max(-20.0 - level_dbfs, -3.0), 3.0), abs=1e-4)
    assert loudness_gain_db(samples, Loudness.AS_IS) == 0.0


def test_silence_has_a_gain_and_stays_silent():
    silence = np.zeros(1920, np.float32)
    assert loudness_gain_db(silence, Loudness.PUBLISHED) == 3.0
    assert not with_loudness(silence, Loudness.PUBLISHED).any()
    assert encoder().encode(silence).shape == (1, 32)


def test_the_gain_is_the_same_for_both_channels():
    both = np.stack((WAVE[:4800], WAVE[:4800] * np.float32(0.1)))
    assert np.allclose(with_loudness(both, Loudness.PUBLISHED)[0] * np.float32(0.1), with_loudness(both, Loudness.PUBLISHED)[1], atol=1e-6)  # fmt: skip


def test_the_callers_samples_are_left_alone():
    clip = WAVE[:3000].copy()
    encoder(Loudness.PUBLISHED).encode(clip)
    assert np.array_equal(clip, WAVE[:3000])


@pytest.mark.parametrize(
    ("samples", "what"),
    [
        (np.zeros(0, np.float32), "no samples"),
        (np.zeros((2, 1920), np.float32), "shape"),
        (np.zeros(1920, np.float64), "float64"),
        (np.zeros(1920, np.int16), "int16"),
        (np.full(1920, np.nan, np.float32), "no numbers"),
        (np.full(1920, np.inf, np.float32), "no numbers"),
        (torch.zeros(1920), "numpy"),
        ("voice.wav", "type str"),
    ],
)
def test_what_is_no_clip_is_refused(samples, what):
    with pytest.raises(UsageError, match=what):
        encoder().encode(samples)


# ---------------------------------------------------------------- keys


def key(found):
    return reference_key(WAVE[:1920], 24_000, found.facts)


def test_the_loudness_step_is_a_part_of_the_key():
    as_is, published = key(encoder()), key(encoder(Loudness.PUBLISHED))
    assert as_is.differs_in(published) == {"tail_policy"}
    assert as_is.digest != published.digest


def test_what_a_key_says():
    facts = encoder().facts
    assert facts.codec == "moss-audio-tokenizer"
    assert (facts.encoder_dtype, facts.device, facts.frame_rate_hz) == ("float32", "cpu", 12.5)
    assert (facts.num_codebooks, facts.codebook_size) == (32, 1024)
    assert len(facts.codec_weights_sha256) == len(facts.config_sha256) == 64
    assert facts.speaker_weights_sha256 == ""


def test_another_window_is_another_key(tmp_path):
    folder = copied(tiny_codec(), tmp_path / "codec")
    edit_config(folder, causal_transformer_context_duration=8)
    other = ReferenceEncoder(folder, loudness=Loudness.AS_IS).facts
    assert replace(other, config_sha256=encoder().facts.config_sha256) == encoder().facts
    assert other != encoder().facts


def test_facts_need_no_network():
    fresh = ReferenceEncoder(tiny_codec(), loudness=Loudness.AS_IS)
    assert fresh.facts == encoder().facts
    assert "network" not in vars(fresh)
    assert fresh.name == tiny_codec().name
