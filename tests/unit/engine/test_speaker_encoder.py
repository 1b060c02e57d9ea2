"""Mel front end and x-vector network."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.json_config import read_json
from refprep.engine.mel import MelFrontEnd, frame_count, least_samples, slaney_filterbank
from refprep.engine.speaker import load_speaker_encoder
from refprep.errors import BackendError, UsageError

NOISE = torch.randn(24_000, generator=torch.Generator().manual_seed(3)) * 0.1
SHORTEST = 1280


def shapes():
    return read_json(tiny_checkpoint("base-0.6b") / "config.json")["speaker_encoder_config"]


@cache
def encoder():
    return load_speaker_encoder(tiny_checkpoint("base-0.6b"), shapes(), "cpu")


def test_triangles_have_unit_area_and_cover_the_band():
    filters = slaney_filterbank(128, 513, 0.0, 12_000.0)
    assert filters.shape == (128, 513)
    assert float(filters.min()) == 0.0
    area = filters.sum(dim=1) * 12_000 / 512
    assert float((area[20:] - 1).abs().max()) < 0.15  # low triangles are a bin or two wide
    assert bool((filters.sum(dim=0)[2:-1] > 0).all())


def test_filterbank_is_that_of_torchaudio():
    functional = pytest.importorskip("torchaudio.functional")
    theirs = functional.melscale_fbanks(513, 0.0, 12_000.0, 128, 24_000, norm="slaney", mel_scale="slaney")
    assert torch.allclose(slaney_filterbank(128, 513, 0.0, 12_000.0), theirs.T, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(385, 6000))
def test_frames_follow_from_samples(num_samples):
    mel = MelFrontEnd(128)(NOISE[:num_samples])
    assert mel.shape == (frame_count(num_samples), 128)
    assert least_samples(mel.shape[0]) <= num_samples


def test_silence_is_the_floor():
    mel = MelFrontEnd(128)(torch.zeros(2000))
    assert float(mel.max()) == pytest.approx(-11.5129, abs=1e-3)


def test_a_tone_is_in_its_band():
    tone = torch.sin(2 * torch.pi * 440 * torch.arange(24_000) / 24_000)
    band = MelFrontEnd(128)(tone).mean(dim=0).argmax()
    filters = slaney_filterbank(128, 513, 0.0, 12_000.0)
    assert abs(float(filters[band].argmax()) * 12_000 / 512 - 440) < 24


def test_embedding_is_as_long_as_the_talker_is_wide():
    embedding = encoder().embed(NOISE)
    assert embedding.shape == (encoder().dim,) == (24,)
    assert embedding.dtype is torch.float32
    assert embedding.device.type == "cpu"


def test_the_same_clip_is_the_same_vector_under_autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        inside = encoder().embed(NOISE)
    assert torch.equal(inside, encoder().embed(NOISE))


def test_the_shortest_clip_and_one_sample_less():
    assert encoder().embed(NOISE[:SHORTEST]).isfinite().all()
    for num_samples in (SHORTEST - 1, 385, 384, 1, 0):
        with pytest.raises(UsageError, match=f"has {num_samples} samples, the speaker encoder needs 1280"):
            encoder().embed(NOISE[:num_samples])


@pytest.mark.parametrize(
    ("samples", "what"),
    [
        (NOISE.double(), "float64"),
        (NOISE[None], "shape"),
        (torch.full((2000,), torch.nan), "no numbers"),
    ],
)
def test_what_is_no_clip_is_refused(samples, what):
    with pytest.raises(UsageError, match=what):
        encoder().embed(samples)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"sample_rate": 16_000}, "sample_rate is 16000"),
        ({"enc_dilations": [1, 2]}, "entries"),
        ({"enc_channels": [16, 16, 8, 16, 48]}, "differ in width"),
        ({"enc_res2net_scale": 3}, "does not divide"),
        ({"enc_dim": "24"}, "'24' is no int"),
        ({"enc_dim": 32}, "its config asks for"),
    ],
)
def test_another_network_is_refused(change, what):
    with pytest.raises(BackendError, match=what):
        load_speaker_encoder(tiny_checkpoint("base-0.6b"), shapes() | change, "cpu")


def test_a_checkpoint_without_one_says_what_is_missing():
    with pytest.raises(BackendError, match=r"no weights for speaker_encoder\."):
        load_speaker_encoder(tiny_checkpoint("custom-1.7b"), shapes(), "cpu")
