"""Int8 layers: close to float32, the same for every row, refused where they say something else."""

from __future__ import annotations

import gc
from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_kit import RECORDED_CHECKPOINTS, tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import functional

from refprep.engine import int8
from refprep.engine.engine import Engine
from refprep.engine.int8 import FBGEMMMatrix, OneDNNMatrix, int8_kernel, is_int8, quantize_int8, quantized
from refprep.engine.int8_gate import GateReport, LogitShift, gate_request, logit_shift
from refprep.engine.model import load_checkpoint
from refprep.errors import BackendError, UsageError

pytestmark = pytest.mark.usefixtures("one_torch_thread")

KERNELS = [OneDNNMatrix, FBGEMMMatrix]


def loaded(name="base-0.6b", dtype=torch.float32):
    return load_checkpoint(tiny_checkpoint(name), device=torch.device("cpu"), dtype=dtype)


def matrix(kind, out, width, seed=0):
    if kind is OneDNNMatrix and int8_kernel() != "onednn":
        pytest.skip("this CPU's sums of bytes saturate in oneDNN")
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(out, width, generator=generator)
    try:
        return weight, kind(weight)
    except (AttributeError, NotImplementedError, RuntimeError) as error:
        pytest.skip(f"PyTorch has no {kind.__name__} here: {error}")


@pytest.fixture(scope="module")
def small():
    """A checkpoint made int8, and what was said of it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    checkpoint = loaded()
    report = quantize_int8(checkpoint)
    torch.set_num_threads(before)
    return checkpoint, report


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), out=st.integers(1, 70), width=st.integers(1, 200))
def test_levels_are_within_half_of_one(seed, out, width):
    weight = torch.randn(out, width, generator=torch.Generator().manual_seed(seed))
    weight[0] = 0.0
    levels, scales = quantized(weight)
    assert levels.dtype is torch.int8
    assert int(levels.abs().max()) <= 127
    assert ((levels * scales[:, None] - weight).abs() <= 0.5001 * scales[:, None]).all()


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(("out", "width"), [(96, 64), (33, 100), (512, 256)])
def test_a_product_is_close_and_a_row_does_not_see_the_others(kind, out, width):
    weight, by = matrix(kind, out, width)
    x = torch.randn(5, 3, width, generator=torch.Generator().manual_seed(1))
    x[1] *= 1000  # one range for all rows would leave the others nothing
    x[2, 0] = 0.0
    found, truth = by(x), functional.linear(x, weight)
    assert found.shape == truth.shape
    error = (found - truth).norm(dim=-1) / truth.norm(dim=-1).clamp_min(1e-9)
    assert float(error.max()) < 0.03
    assert not found[2, 0].any()
    for row in range(5):
        assert torch.equal(by(x[row]), found[row])
        assert torch.equal(by(x[row, 1:2]), found[row, 1:2])


@pytest.mark.skipif(int8_kernel() != "onednn", reason="this CPU's sums of bytes saturate")
def test_sums_are_exact_at_their_largest():
    width = 3072
    by = OneDNNMatrix(torch.full((64, width), -1.0))
    assert torch.equal(by(torch.ones(3, width)), torch.full((3, 64), -float(width)))


@pytest.mark.parametrize("name", RECORDED_CHECKPOINTS)
def test_the_gate_lets_a_sound_checkpoint_through(name):
    report = quantize_int8(loaded(name))
    assert report.kernel == int8_kernel()
    assert report.matrices == 20
    assert report.held_bytes * 4 == report.freed_bytes > 100_000
    assert report.gate.frames == 12
    assert report.gate.talker.rel_diff < 0.03
    assert report.gate.predictor.rel_diff < 0.04
    assert report.gate.predictor.confident_of > 10
    assert report.gate.faults() == []


@pytest.mark.parametrize("kind", KERNELS)
def test_either_library_passes(kind):
    matrix(kind, 8, 8)
    assert quantize_int8(loaded(), pack=kind).gate.faults() == []


def test_the_gate_refuses_a_broken_scale():
    def broken(weight):
        worse = weight.clone()
        worse[int(weight.abs().amax(dim=1).argmax())] *= 30
        return OneDNNMatrix(worse)

    with pytest.raises(BackendError, match="int8 changes what this checkpoint says: logits of the") as caught:
        quantize_int8(loaded(), pack=broken)
    assert caught.value.exit_code == 3
    report = quantize_int8(loaded(), pack=broken, gate=False)
    assert report.gate is None


def test_a_nan_passes_no_gate():
    fine = LogitShift(0.01, 1.0, 1.0, 5)
    assert GateReport(12, fine, fine).faults() == []
    assert len(GateReport(12, replace(fine, rel_diff=float("nan")), fine).faults()) == 1
    assert GateReport(12, fine, replace(fine, confident=0.8)).faults() == [
        "1 of 5 clear choices of the code predictor are others"
    ]


def test_shifts_of_logits():
    truth = torch.tensor([[3.0, 0.0, 0.0], [0.0, 0.5, 0.0]])
    same = logit_shift(truth, truth)
    assert (same.rel_diff, same.argmax, same.confident, same.confident_of) == (0.0, 1.0, 1.0, 1)
    other = logit_shift(truth.flip(-1), truth)
    assert (other.argmax, other.confident) == (0.5, 0.0)


def test_the_same_seed_gives_the_same_codes_alone_and_together(small):
    checkpoint, _ = small
    asked = gate_request(checkpoint.config)
    requests = [replace(asked, seed=n, max_frames=6 + n) for n in range(3)]
    alone = [Engine(checkpoint, max_batch=1).generate([r])[0] for r in requests]
    again = Engine(checkpoint, max_batch=3).generate(requests)
    assert all(np.array_equal(a.codes, b.codes) for a, b in zip(alone, again, strict=True))


def test_what_is_no_layer_stays_as_it_was(small):
    mine, _ = small
    truth = loaded().talker.state_dict()
    found = mine.talker.state_dict()
    assert found.keys() == truth.keys()
    changed = {name for name in found if found[name].is_meta}
    assert len(changed) == 7 * 5
    assert all(".layers." in name and name.endswith("_proj.weight") for name in changed)
    assert all(torch.equal(found[name], truth[name]) for name in found.keys() - changed)


def test_float32_weights_are_let_go():
    checkpoint = loaded()
    named = checkpoint.talker.named_parameters()
    held = [StorageWeakRef(p.untyped_storage()) for n, p in named if ".layers." in n and p.dim() == 2]
    assert len({ref.cdata for ref in held}) == 4 * 5
    quantize_int8(checkpoint)
    gc.collect()
    assert all(ref.expired() for ref in held)


@pytest.mark.parametrize(("dtype", "match"), [(torch.bfloat16, "these are bfloat16"), (None, "int8 already")])
def test_only_float32_layers_are_made_int8(small, dtype, match):
    checkpoint = small[0] if dtype is None else loaded(dtype=dtype)
    with pytest.raises(UsageError, match=match):
        quantize_int8(checkpoint)
    assert is_int8(checkpoint.talker) == (dtype is None)


def test_another_device_is_refused(small):
    checkpoint = loaded()
    with torch.device("meta"):
        elsewhere = torch.nn.Linear(4, 4, bias=False)
    checkpoint.talker.codec_head.weight = elsewhere.weight
    with pytest.raises(UsageError, match="the checkpoint is on meta"):
        quantize_int8(checkpoint)


def test_a_torch_without_the_products_is_one_clear_error(monkeypatch):
    def missing(weight):
        raise NotImplementedError("no such operator")

    monkeypatch.setattr(int8, "OneDNNMatrix", missing)
    with pytest.raises(BackendError, match="no product of int8 matrices"):
        int8_kernel()


def test_a_cpu_that_saturates_gets_the_other_library(monkeypatch):
    monkeypatch.setattr(int8, "_is_exact", lambda: False)
    monkeypatch.setattr(int8, "_has_fbgemm", lambda: True)
    assert int8_kernel() == "fbgemm"
    monkeypatch.setattr(int8, "_has_fbgemm", lambda: False)
    with pytest.raises(BackendError, match="no product of int8 matrices"):
        int8_kernel()
