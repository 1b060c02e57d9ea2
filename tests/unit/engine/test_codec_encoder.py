"""The codec encoder is float32, whatever a caller switched on around it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache

import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.codec import load_codec_decoder, load_codec_encoder
from refprep.errors import UsageError

WAVE = torch.sin(torch.arange(24_000) * 0.05) * 0.3 + torch.linspace(-0.1, 0.1, 24_000)


@cache
def encoder():
    return load_codec_encoder(tiny_checkpoint("base-0.6b"), "cpu")


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8000))
def test_frames_are_the_samples_rounded_up(num_samples):
    codes = encoder().encode(WAVE[:num_samples])
    assert codes.shape == (-(-num_samples // 1920), 16)
    assert codes.dtype is torch.int32
    assert int(codes.min()) >= 0
    assert int(codes.max()) < 2048


def test_no_frame_but_the_last_depends_on_the_tail():
    """Everything is causal: a clip cut inside a frame keeps the codes of its whole frames."""
    long, short = encoder().encode(WAVE[: 6 * 1920]), encoder().encode(WAVE[: 5 * 1920 + 700])
    assert torch.equal(long[:5], short[:5])


def test_the_tail_policy_has_a_name():
    assert encoder().tail_policy == "zeros-per-convolution"
    behind = torch.cat((WAVE[:700], torch.zeros(1220)))
    assert not torch.equal(encoder().encode(behind), encoder().encode(WAVE[:700]))


SWITCHES = [
    (torch.backends.cuda.matmul, "tf32"),
    (torch.backends.cudnn.conv, "tf32"),
    (torch.backends.mkldnn.matmul, "bf16"),
    (torch.backends.mkldnn.conv, "bf16"),
]


def test_autocast_and_fast_products_around_it_change_nothing(request):
    exact = encoder().encode(WAVE)
    for owner, value in SWITCHES:
        before = owner.fp32_precision
        request.addfinalizer(lambda owner=owner, before=before: setattr(owner, "fp32_precision", before))
        owner.fp32_precision = value
    with ExitStack() as stack:
        stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        assert torch.equal(encoder().encode(WAVE), exact)
        assert torch.is_autocast_enabled("cpu")
    assert [owner.fp32_precision for owner, _ in SWITCHES] == [value for _, value in SWITCHES]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int16])
def test_samples_of_another_dtype_are_refused(dtype):
    with pytest.raises(UsageError, match="float32"):
        encoder().encode(torch.zeros(1920).to(dtype))


def test_weights_of_another_dtype_are_a_bug():
    low = load_codec_encoder(tiny_checkpoint("base-0.6b"), "cpu")
    low.network.to(torch.bfloat16)
    with pytest.raises(AssertionError, match="bfloat16"):
        low.encode(WAVE)


@pytest.mark.parametrize(
    ("samples", "what"),
    [
        (torch.zeros(0), "no samples"),
        (torch.zeros(2, 1920), "shape"),
        (torch.full((1920,), torch.nan), "no numbers"),
        (torch.full((1920,), torch.inf), "no numbers"),
    ],
)
def test_what_is_no_clip_is_refused(samples, what):
    with pytest.raises(UsageError, match=what):
        encoder().encode(samples)


def test_its_codes_are_the_decoders():
    decoder = load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")
    codes = encoder().encode(WAVE)
    assert decoder.decode(codes).shape == (codes.shape[0] * 1920,)


def test_the_hash_is_of_the_encoder_alone():
    decoder = load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")
    assert encoder().weights_sha256 != decoder.weights_sha256
