"""A key is every field; frames are one for every 1920 samples begun."""

from __future__ import annotations

from dataclasses import asdict, fields, replace

import pytest
from codes_kit import KEY
from hypothesis import given
from hypothesis import strategies as st

from refprep.types import CacheKey, EncoderFacts
from refprep.units import SAMPLES_PER_FRAME, samples_to_frames

WORDS = st.text(st.characters(codec="ascii"), max_size=12)
VALUES = {"str": WORDS, "int": st.integers(0, 2**40), "float": st.floats(0.1, 1e3)}
KEYS = st.builds(CacheKey, **{f.name: VALUES[str(f.type)] for f in fields(CacheKey)})


@pytest.mark.parametrize("name", [f.name for f in fields(CacheKey)])
@given(data=st.data())
def test_the_digest_changes_with_any_field(name, data):
    value = getattr(KEY, name)
    other = data.draw(VALUES[type(value).__name__].filter(lambda v: v != value))
    changed = replace(KEY, **{name: other})
    assert changed.digest != KEY.digest
    assert changed.differs_in(KEY) == {name}


@given(KEYS, KEYS)
def test_equal_keys_and_only_those_have_equal_digests(one, other):
    assert (one == other) == (one.digest == other.digest)
    assert (one == other) == (not one.differs_in(other))
    assert CacheKey(**asdict(one)).digest == one.digest


def test_what_a_key_must_hold():
    names = {f.name for f in fields(CacheKey)}
    assert {f.name for f in fields(EncoderFacts)} < names
    assert {
        "audio_sha256", "sample_rate_hz", "resampler", "codec", "codec_weights_sha256", "speaker_weights_sha256",
        "config_sha256", "encoder_dtype", "device", "tail_policy", "frame_rate_hz", "num_codebooks",
        "codebook_size", "encoder_version", "torch_version", "layout_version",
    } == names  # fmt: skip


@given(st.integers(0, 10**7))
def test_frames_of_samples(num_samples):
    frames = samples_to_frames(num_samples)
    assert (frames - 1) * SAMPLES_PER_FRAME < num_samples or num_samples == 0
    assert num_samples <= frames * SAMPLES_PER_FRAME
    assert samples_to_frames(0) == 0
