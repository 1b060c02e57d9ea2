"""Reference codes are of float32 or they are refused; what decodes may be rounded; an audit may do both."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from functools import cache
from types import ModuleType

import numpy as np
import pytest
import torch
from moss_codec_kit import copied, fixed_wave, tiny_codec
from safetensors.torch import load_file, save_file
from torch import nn

from refprep.errors import BackendError, UsageError
from refprep.moss.codec import Loudness, OutputDecoder, Precision, ReferenceEncoder
from refprep.moss.codec.audit import quantized_for_audit
from refprep.moss.codec.int8 import PlainInt8, in_decoder, in_encoder, quantize
from refprep.moss.codec.load import load_network

pytestmark = pytest.mark.usefixtures("one_torch_thread")

CLIP = fixed_wave()[:96_000]
PLAIN = (Precision.PLAIN_INT8, Precision.PLAIN_INT8_DYNAMIC)
HALF = (Precision.BFLOAT16, Precision.FLOAT16)


def encoder(folder=None):
    return ReferenceEncoder(folder or tiny_codec(), loudness=Loudness.AS_IS)


@cache
def exact():
    return encoder().encode(CLIP)


def agreement(precision):
    """(32,) share of equal codes, by codebook."""
    return (quantized_for_audit(tiny_codec(), precision).trace(CLIP).codes == exact()).mean(axis=0)


def stored_as(folder, kind, prefix=""):
    copied(tiny_codec(), folder)
    weights = load_file(folder / "model.safetensors")
    cast = {n: t.to(kind) if n.startswith(prefix) else t for n, t in weights.items()}
    save_file(cast, folder / "model.safetensors")
    return folder


# ---------------------------------------------------------------- the rule


@pytest.mark.parametrize("precision", [*PLAIN, *HALF])
def test_a_rounded_decoder_leaves_the_codes_bit_identical(precision):
    decoder = OutputDecoder(tiny_codec(), precision=precision)
    samples = decoder.decode(torch.from_numpy(exact()))
    assert np.array_equal(encoder().encode(CLIP), exact())
    error = (samples - OutputDecoder(tiny_codec()).decode(torch.from_numpy(exact()))).norm() / samples.norm()
    assert 1e-4 < float(error) < 0.2


@pytest.mark.parametrize("precision", PLAIN)
def test_int8_of_one_network_by_the_name_of_the_decoder_leaves_its_codes_bit_identical(precision):
    network = load_network(tiny_codec(), "cpu", encoder=True, decoder=True)
    with torch.inference_mode():
        before = network.encode(torch.from_numpy(CLIP.copy())[None])
        assert quantize(network, precision, in_decoder) == sum(
            in_encoder(m, n) for n, m in network.named_modules()
        )
        assert torch.equal(network.encode(torch.from_numpy(CLIP.copy())[None]), before)
        assert quantize(network, precision, in_encoder) > 0
        assert not torch.equal(network.encode(torch.from_numpy(CLIP.copy())[None]), before)
    assert not any(isinstance(m, nn.Linear) for m in network.modules())


def test_the_decoder_cannot_encode():
    for precision in (Precision.FLOAT32, Precision.PLAIN_INT8):
        with pytest.raises(UsageError, match="this object decodes"):
            OutputDecoder(tiny_codec(), precision=precision).encode(CLIP)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("prefix", ["encoder.7", "quantizer.quantizers.3", ""])
def test_a_checkpoint_that_is_stored_rounded_may_not_encode(tmp_path, kind, prefix):
    rounded = encoder(stored_as(tmp_path / "codec", kind, prefix))
    for call in (rounded.require, lambda: rounded.encode(CLIP)):
        with pytest.raises(UsageError, match="RP501") as caught:
            call()
        assert str(kind).removeprefix("torch.") in caught.value.what
    assert rounded.facts.codec_weights_sha256 == ""
    assert quantized_for_audit(tmp_path / "codec", Precision.FLOAT32).trace(CLIP).codes.shape == exact().shape


def test_a_rounded_decoder_on_disk_does_not_matter(tmp_path):
    folder = stored_as(tmp_path / "codec", torch.bfloat16, "decoder.")
    assert np.array_equal(encoder(folder).encode(CLIP), exact())
    assert encoder(folder).facts == encoder().facts


class Packed(nn.Module):
    def __init__(self, linear):
        super().__init__()
        self.register_buffer("qweight", linear.weight.detach().to(torch.int8))


class Int8Params(nn.Parameter):
    pass


class OtherLinear(nn.Linear):
    pass


def half(network):
    network.encoder.half()


def one_bias(network):
    network.quantizer.output_proj.bias = nn.Parameter(network.quantizer.output_proj.bias.bfloat16())


def own_int8(network):
    quantize(network, Precision.PLAIN_INT8, in_encoder)


def packed(network):
    network.encoder[1].input_proj = Packed(network.encoder[1].input_proj)


def scaled(network):
    network.quantizer.quantizers[5].codebook.register_buffer("scale", torch.ones(1024))


def subclass(network):
    linear = network.encoder[1].input_proj
    linear.weight = Int8Params(linear.weight.detach())


def other_module(network):
    linear = network.encoder[1].input_proj
    other = OtherLinear(240, 32, bias=False)
    other.weight = linear.weight
    network.encoder[1].input_proj = other


@pytest.mark.parametrize("change", [half, one_bias, own_int8, packed, scaled, subclass, other_module])
def test_whatever_was_done_to_a_loaded_encoder_is_seen(change):
    changed = encoder()
    assert np.array_equal(changed.encode(CLIP[:1920]), exact()[:1])
    change(changed.network)
    with pytest.raises(UsageError, match="RP501 quantized-reference-encoder"):
        changed.encode(CLIP)


SWITCHES = [
    (torch.backends.cuda.matmul, "tf32"),
    (torch.backends.cudnn.conv, "tf32"),
    (torch.backends.mkldnn.matmul, "bf16"),
    (torch.backends.mkldnn.conv, "bf16"),
]


def test_autocast_and_fast_products_around_it_change_nothing(request):
    for owner, value in SWITCHES:
        before = owner.fp32_precision
        request.addfinalizer(lambda owner=owner, before=before: setattr(owner, "fp32_precision", before))
        owner.fp32_precision = value
    with ExitStack() as stack:
        stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        assert np.array_equal(encoder().encode(CLIP), exact())
        assert torch.is_autocast_enabled("cpu")
        quantized_for_audit(tiny_codec(), Precision.TF32).trace(CLIP[:1920])
    assert [owner.fp32_precision for owner, _ in SWITCHES] == [value for _, value in SWITCHES]


# ---------------------------------------------------------------- the audit's encoders


def test_float32_in_an_audit_is_the_exact_one():
    assert agreement(Precision.FLOAT32).min() == 1.0


@pytest.mark.parametrize("precision", [*PLAIN, Precision.BFLOAT16])
def test_rounding_costs_more_the_deeper_the_codebook(precision):
    found = agreement(precision)
    assert found[:4].mean() > 0.75
    assert found[:4].mean() - found[-8:].mean() > 0.1


def test_a_broken_encoder_is_flat():
    broken = quantized_for_audit(tiny_codec(), Precision.FLOAT32)
    with torch.no_grad():
        broken.network.encoder[7].transformer.layers[0].linear2.weight.zero_()
        broken.network.encoder[7].output_proj.weight.zero_()
    found = (broken.trace(CLIP).codes == exact()).mean(axis=0)
    assert found[0] < 0.1
    assert found.max() < 0.2


def test_a_trace_is_of_one_clip():
    trace = quantized_for_audit(tiny_codec(), Precision.PLAIN_INT8).trace(CLIP[: 3 * 1920 + 5])
    assert trace.codes.shape == (4, 32)
    assert trace.hidden.shape == (4, 40)
    assert trace.latents.shape == (4, 32, 8)
    assert {a.dtype.name for a in (trace.hidden, trace.latents)} == {"float32"}


def test_an_audit_says_what_it_was_given(tmp_path):
    audited = quantized_for_audit(stored_as(tmp_path / "codec", torch.float16), Precision.PLAIN_INT8)
    assert audited.stored_dtypes == ("float16",)
    assert audited.quantized == sum(isinstance(m, PlainInt8) for m in audited.network.modules()) > 30


# ---------------------------------------------------------------- int8


def test_plain_int8_is_symmetric_by_channel():
    linear = nn.Linear(64, 3, bias=False)
    with torch.no_grad():
        linear.weight[1] *= 100.0
        linear.weight[2] = 0.0
    x = torch.randn(5, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        right = linear(x)
        for dynamic in (False, True):
            plain = PlainInt8(linear, dynamic=dynamic)
            assert plain.levels.dtype is torch.int8
            assert plain.levels.abs().amax(dim=1).tolist() == [127, 127, 0]
            error = (plain(x) - right).abs().amax(dim=0) / right.abs().amax(dim=0).clamp_min(1e-9)
            assert float(error.max()) < 0.05
            assert not plain(torch.zeros(1, 64)).any()


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT8_DYNAMIC])
def test_int8_without_torchao_names_it(monkeypatch, precision):
    monkeypatch.setitem(sys.modules, "torchao", None)
    monkeypatch.setitem(sys.modules, "torchao.quantization", None)
    with pytest.raises(BackendError, match="torchao is not installed") as caught:
        OutputDecoder(tiny_codec(), precision=precision)
    assert "pip install" in caught.value.fix


def torchao_stand_in(monkeypatch, **contents):
    library = ModuleType("torchao.quantization")
    vars(library).update(contents)
    monkeypatch.setitem(sys.modules, "torchao", ModuleType("torchao"))
    monkeypatch.setitem(sys.modules, "torchao.quantization", library)


def test_torchao_is_given_the_matrices_of_the_decoder_alone(monkeypatch):
    asked = []

    def quantize_(model, config, filter_fn):
        asked.extend(n for n, m in model.named_modules() if filter_fn(m, n))
        assert config == "a configuration"

    torchao_stand_in(monkeypatch, quantize_=quantize_, Int8WeightOnlyConfig=lambda: "a configuration")
    OutputDecoder(tiny_codec(), precision=Precision.INT8)
    assert len(asked) == 9 * 4 + 5
    assert all(name.startswith("decoder.") for name in asked)
    with pytest.raises(BackendError, match="another interface"):
        OutputDecoder(tiny_codec(), precision=Precision.INT8_DYNAMIC)


@pytest.mark.parametrize("precision", [Precision.INT8, Precision.INT8_DYNAMIC])
@pytest.mark.filterwarnings("ignore")
def test_torchao_itself(precision):
    pytest.importorskip("torchao.quantization", exc_type=ImportError)
    network = load_network(tiny_codec(), "cpu", encoder=True, decoder=True)
    with torch.no_grad():
        wave = torch.from_numpy(CLIP.copy())[None]
        before = network.encode(wave)
        quantize(network, precision, in_decoder)
        assert torch.equal(network.encode(wave), before)
    found = agreement(precision)
    assert found[0] > 0.9 > found[-8:].mean()
    changed = encoder()
    quantize(changed.network, precision, in_encoder)
    with pytest.raises(UsageError, match="RP501"):
        changed.encode(CLIP)
    samples = OutputDecoder(tiny_codec(), precision=precision).decode(torch.from_numpy(exact()))
    assert samples.isfinite().all()
