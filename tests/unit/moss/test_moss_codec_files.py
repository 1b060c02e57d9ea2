"""Every weight is used and every parameter filled, whatever names and shards the files have."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from moss_codec_kit import copied, fixed_wave, tiny_codec
from safetensors.torch import load_file, save_file

from refprep.errors import BackendError, UsageError, WeightsMissing
from refprep.moss.codec import Loudness, OutputDecoder, ReferenceEncoder
from refprep.moss.codec.load import open_codec
from refprep.moss.random_codec import REAL, CodecShapes, StackShape, write_random_codec

pytestmark = pytest.mark.usefixtures("one_torch_thread")

CLIP = fixed_wave()[: 5 * 1920]


def codes_of(folder):
    return ReferenceEncoder(folder, loudness=Loudness.AS_IS).encode(CLIP)


def changed(folder, change):
    """A codec whose tensors were changed."""
    copied(tiny_codec(), folder)
    weights = load_file(folder / "model.safetensors")
    save_file({k: v.contiguous() for k, v in change(weights).items()}, folder / "model.safetensors")
    return folder


def older_names(weights):
    def older(name):
        name = name.replace("self_attn.in_projs.0.weight", "self_attn.in_proj_weight")
        name = name.replace("self_attn.out_projs.0.weight", "self_attn.out_proj.weight")
        name = name.replace("parametrizations.weight.original0", "weight_g")
        return name.replace("parametrizations.weight.original1", "weight_v")

    return {older(name): tensor for name, tensor in weights.items()}


def test_older_names_are_the_same_codec(tmp_path):
    folder = changed(tmp_path / "codec", older_names)
    assert "encoder.1.transformer.layers.0.self_attn.in_proj_weight" in load_file(
        folder / "model.safetensors"
    )
    assert np.array_equal(codes_of(folder), codes_of(tiny_codec()))
    facts = [ReferenceEncoder(f, loudness=Loudness.AS_IS).facts for f in (folder, tiny_codec())]
    assert facts[0] == facts[1]
    assert OutputDecoder(folder).weights_sha256 == OutputDecoder(tiny_codec()).weights_sha256


def test_one_tensor_under_two_names(tmp_path):
    folder = changed(tmp_path / "codec", lambda w: w | {k: v.clone() for k, v in older_names(w).items()})
    with pytest.raises(BackendError, match="under two names"):
        open_codec(folder)


def without(name):
    return lambda weights: {k: v for k, v in weights.items() if k != name}


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (without("encoder.1.input_proj.weight"), "no weights for encoder.1.input_proj.weight"),
        (without("quantizer.quantizers.31.codebook.weight"), "no weights for quantizer.quantizers.31"),
        (lambda w: w | {"encoder.3.input_proj.weight": torch.zeros(2, 2)}, "no place for encoder.3"),
        (lambda w: w | {"semantic.weight": torch.zeros(2, 2)}, "no place for semantic.weight"),
        (lambda w: w | {"encoder.1.input_proj.weight": torch.zeros(32, 239)}, "has shape"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, change, what):
    folder = changed(tmp_path / "codec", change)
    with pytest.raises(BackendError, match=what):
        codes_of(folder)


def test_each_side_answers_for_its_own_tensors(tmp_path):
    folder = changed(tmp_path / "codec", without("decoder.0.input_proj.weight"))
    assert len(codes_of(folder)) == 5
    with pytest.raises(BackendError, match=r"decoder\.0\.input_proj"):
        OutputDecoder(folder)


def test_shards_are_the_same_codec(tmp_path):
    write_random_codec(tmp_path / "codec", max_shard_bytes=300_000)
    assert len(list((tmp_path / "codec").glob("model-*.safetensors"))) > 5
    assert np.array_equal(codes_of(tmp_path / "codec"), codes_of(tiny_codec()))
    next((tmp_path / "codec").glob("model-00002*")).unlink()
    with pytest.raises(WeightsMissing, match="shard"):
        codes_of(tmp_path / "codec")


def test_the_real_widths_load_from_shards(tmp_path):
    """At the depth of one layer a stack; 88 million parameters."""
    shapes = CodecShapes(
        REAL.patches,
        tuple(StackShape(s.inputs, s.outputs, s.width, s.heads, 1, s.inner) for s in REAL.stacks),
        REAL.rvq_dim,
    )
    write_random_codec(tmp_path / "codec", shapes=shapes, max_shard_bytes=1 << 27)
    index = json.loads((tmp_path / "codec" / "model.safetensors.index.json").read_text())
    assert len(set(index["weight_map"].values())) > 2
    codes = codes_of(tmp_path / "codec")
    assert codes.shape == (5, 32)
    samples = OutputDecoder(tmp_path / "codec").decode(torch.from_numpy(codes))
    assert samples.shape == (5 * 1920,)
    assert samples.isfinite().all()


def test_the_same_seed_writes_the_same_files(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_random_codec(tmp_path / name, seed=seed)
    a, b, c = ((tmp_path / n / "model.safetensors").read_bytes() for n in "abc")
    assert a == b != c
    write_random_codec(tmp_path / "a", seed=2)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == c


def test_nothing_but_a_random_codec_is_overwritten(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="something other"):
        write_random_codec(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
