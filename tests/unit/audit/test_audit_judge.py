"""The verdict: a pure function of a profile, and what it says of tiny encoders that are rounded, or damaged on purpose."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given
from hypothesis import strategies as st
from moss_codec_kit import fixed_wave, tiny_codec

from refprep.audit.agreement import Agreement, Distance, compare_codes, compare_hidden
from refprep.audit.judge import (
    MAX_ROUNDING_DISTANCE,
    MIN_FIRST_AGREEMENT,
    Kind,
    Profile,
    judge,
)
from refprep.audit.qwen3_encoder import qwen3_encoder_at
from refprep.moss.codec import Precision
from refprep.moss.codec.audit import quantized_for_audit

WAVE = fixed_wave()[: 3 * 24_000]
ROUNDED = {
    "qwen3": ("bfloat16", "float16", "int8", "int8-dynamic"),
    "moss": ("bfloat16", "float16", "plain-int8", "plain-int8-dynamic"),
}
SHARE = st.floats(0.0, 1.0)


def profile(curve, distance):
    curve = tuple(float(v) for v in curve)
    whole = None if min(curve) == 1.0 else 0
    agreement = Agreement(curve, dict.fromkeys(("early", "middle", "late"), curve), whole, curve, 100)
    return Profile(agreement, Distance(distance, dict.fromkeys(("early", "middle", "late"), distance)))


@given(st.lists(SHARE, min_size=1, max_size=32), st.floats(0.0, 5.0))
def test_there_is_always_a_verdict_with_evidence(curve, distance):
    found = judge(profile(curve, distance))
    assert found.words
    assert len(found.evidence) >= 3
    if distance > MAX_ROUNDING_DISTANCE or curve[0] < MIN_FIRST_AGREEMENT:
        assert found.kind is Kind.BROKEN
        assert len(found.evidence) > 3
    if found.kind is Kind.EQUAL:
        assert set(curve) == {1.0}


@given(st.lists(SHARE, min_size=1, max_size=32), st.floats(0.0, 5.0), st.floats(0.0, 5.0))
def test_states_that_are_further_away_never_mend_a_verdict(curve, one, other):
    near, far = sorted((one, other))
    if judge(profile(curve, near)).kind is Kind.BROKEN:
        assert judge(profile(curve, far)).kind is Kind.BROKEN


@given(st.floats(0.85, 1.0), st.floats(0.05, 0.5), st.sampled_from((8, 16, 32)))
def test_a_slope_from_a_high_first_codebook_is_rounding(first, last, books):
    assert judge(profile(np.linspace(first, last, books), 0.05)).kind is Kind.ROUNDING


@given(st.floats(0.0, 0.89), st.sampled_from((8, 16, 32)))
def test_a_flat_curve_is_broken_wherever_it_lies(level, books):
    assert judge(profile([level] * books, 0.01)).kind is Kind.BROKEN


def test_one_codebook_and_states_that_are_no_numbers():
    assert judge(profile([1.0], 0.0)).kind is Kind.EQUAL
    assert judge(profile([1.0] * 8, math.inf)).kind is Kind.BROKEN


@cache
def encoder(codec, precision="float32"):
    if codec == "qwen3":
        return qwen3_encoder_at(tiny_checkpoint("base-0.6b"), precision)
    return quantized_for_audit(tiny_codec(), Precision(precision))


@cache
def exact(codec):
    return encoder(codec).trace(WAVE)


def judged(codec, other):
    trace, truth = other.trace(WAVE), exact(codec)
    found = Profile(compare_codes(truth.codes, trace.codes), compare_hidden(truth.hidden, trace.hidden))
    return found, judge(found).kind


@pytest.mark.parametrize(("codec", "precision"), [(c, p) for c, ps in ROUNDED.items() for p in ps])
def test_a_rounded_encoder_falls_with_depth(codec, precision):
    found, kind = judged(codec, encoder(codec, precision))
    assert kind is Kind.ROUNDING
    assert found.agreement.first > MIN_FIRST_AGREEMENT
    assert found.head > found.tail


@pytest.mark.parametrize("codec", ROUNDED)
@pytest.mark.parametrize("precision", ["float32", "tf32"])
def test_the_exact_encoder_equals_itself(codec, precision):
    assert judged(codec, encoder(codec, precision))[1] is Kind.EQUAL


def damaged(codec):
    """A fresh copy that may be changed."""
    if codec == "qwen3":
        return qwen3_encoder_at(tiny_checkpoint("base-0.6b"), "float32")
    return quantized_for_audit(tiny_codec(), Precision.FLOAT32)


def layers_of(codec, network):
    if codec == "qwen3":
        return [network.encoder_transformer.layers]
    return [network.encoder[n].transformer.layers for n in (1, 3, 5, 7)]


def weights_of(codec, network):
    for name, module in network.named_modules():
        weight = getattr(module, "weight", None)
        if name.startswith(("quantizer", "decoder")) or not isinstance(weight, torch.Tensor):
            continue
        if weight.dim() >= 2:
            yield name, weight


@pytest.mark.parametrize("codec", ROUNDED)
def test_one_layer_of_zeros_is_broken_wherever_it_is(codec):
    names = [name for name, _ in weights_of(codec, encoder(codec).network)]
    assert len(names) > 20
    for name in names[:: 1 if codec == "qwen3" else 4]:
        other = damaged(codec)
        with torch.no_grad():
            other.network.get_submodule(name).weight.zero_()
        assert judged(codec, other)[1] is Kind.BROKEN, name


@pytest.mark.parametrize("codec", ROUNDED)
@pytest.mark.parametrize("number", [0, 1])
def test_a_whole_layer_of_zeros_and_swapped_layers_are_broken(codec, number):
    for stage in range(len(layers_of(codec, encoder(codec).network))):
        other = damaged(codec)
        with torch.no_grad():
            for weight in layers_of(codec, other.network)[stage][number].parameters():
                weight.zero_()
        assert judged(codec, other)[1] is Kind.BROKEN
        other = damaged(codec)
        layers = layers_of(codec, other.network)[stage]
        one, two = layers[0], layers[1]
        layers[0], layers[1] = two, one
        assert judged(codec, other)[1] is Kind.BROKEN


@pytest.mark.parametrize("codec", ROUNDED)
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_scale_is_broken(codec, factor):
    other = damaged(codec)
    *_, (_, last) = weights_of(codec, other.network)
    with torch.no_grad():
        last.mul_(factor)
    assert judged(codec, other)[1] is Kind.BROKEN
