"""Safetensors into modules: what is missing, extra, misshapen or broken is named."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from refprep.engine.loader import fill, open_weights
from refprep.errors import BackendError, WeightsMissing

TENSORS = {
    "a.weight": torch.arange(6.0).reshape(2, 3),
    "a.bias": torch.ones(2),
    "b.weight": torch.ones(4, dtype=torch.bfloat16),
}


def module():
    with torch.device("meta"):
        return nn.Linear(3, 2)


def write(folder, tensors=TENSORS, name="model.safetensors"):
    save_file(dict(tensors), folder / name)


def write_shards(folder, **changes):
    write(folder, {"a.weight": TENSORS["a.weight"]}, "one.safetensors")
    write(folder, {"a.bias": TENSORS["a.bias"], "b.weight": TENSORS["b.weight"]}, "two.safetensors")
    places = {
        "a.weight": "one.safetensors",
        "a.bias": "two.safetensors",
        "b.weight": "two.safetensors",
    } | changes
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}), encoding="utf-8")


def test_a_module_takes_its_tensors_under_a_prefix(tmp_path):
    write(tmp_path)
    linear = module()
    fill(linear, open_weights(tmp_path), prefix="a.", elsewhere=("b.",))
    assert torch.equal(linear.weight, TENSORS["a.weight"])
    assert not linear.weight.requires_grad
    assert not linear.training


def test_dtype_is_one_or_a_rule(tmp_path):
    write(tmp_path)
    linear = module()
    fill(linear, open_weights(tmp_path), prefix="a.", elsewhere=("b.",), dtype=torch.bfloat16)
    assert linear.weight.dtype is torch.bfloat16
    by_name = {"a.weight": torch.float64, "a.bias": torch.float32}
    fill(linear, open_weights(tmp_path), prefix="a.", elsewhere=("b.",), dtype=by_name.__getitem__)
    assert (linear.weight.dtype, linear.bias.dtype) == (torch.float64, torch.float32)


def test_a_missing_tensor_is_named(tmp_path):
    write(tmp_path, {"a.weight": TENSORS["a.weight"]})
    with pytest.raises(BackendError, match=r"no weights for a\.bias"):
        fill(module(), open_weights(tmp_path), prefix="a.")


def test_an_extra_tensor_is_named(tmp_path):
    write(tmp_path, TENSORS | {"a.scale": torch.ones(1)})
    with pytest.raises(BackendError, match=r"no place for a\.scale, b\.weight"):
        fill(module(), open_weights(tmp_path), prefix="a.")


def test_many_names_are_counted(tmp_path):
    write(tmp_path, TENSORS | {f"c.{i}": torch.ones(1) for i in range(9)})
    with pytest.raises(BackendError, match=r"c\.5 and 3 more"):
        fill(module(), open_weights(tmp_path), prefix="a.", elsewhere=("b.",))


def test_another_shape_is_named(tmp_path):
    write(tmp_path, TENSORS | {"a.bias": torch.ones(3)})
    with pytest.raises(BackendError, match=r"a\.bias has shape \(3,\), its config asks for \(2,\)"):
        fill(module(), open_weights(tmp_path), prefix="a.", elsewhere=("b.",))


def test_shards_are_one_checkpoint_with_one_hash(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir()
    parts.mkdir()
    write(whole)
    write_shards(parts)
    assert open_weights(whole).sha256() == open_weights(parts).sha256()
    linear = module()
    fill(linear, open_weights(parts), prefix="a.", elsewhere=("b.",))
    assert torch.equal(linear.bias, TENSORS["a.bias"])


def test_the_hash_changes_with_bytes_names_shapes_and_dtypes(tmp_path):
    variants = [
        TENSORS,
        TENSORS | {"a.bias": torch.tensor([1.0, 2.0])},
        TENSORS | {"a.bias": torch.ones(2, 1)},
        TENSORS | {"a.bias": torch.ones(2, dtype=torch.float64)},
        {**TENSORS, "a.gain": torch.ones(2)},
    ]
    hashes = []
    for tensors in variants:
        write(tmp_path, tensors)
        hashes.append(open_weights(tmp_path).sha256("a."))
    assert len(set(hashes)) == len(hashes)
    write(tmp_path, TENSORS | {"b.weight": torch.zeros(4)})
    assert open_weights(tmp_path).sha256("a.") == hashes[0]


def test_no_weights_and_a_missing_shard_are_missing_weights(tmp_path):
    with pytest.raises(WeightsMissing, match="neither"):
        open_weights(tmp_path)
    write_shards(tmp_path)
    (tmp_path / "two.safetensors").unlink()
    with pytest.raises(WeightsMissing, match=r"the shard two\.safetensors is missing"):
        open_weights(tmp_path)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"a.bias": "one.safetensors"}, r"disagrees with its shards about a\.bias"),
        ({"c": "one.safetensors"}, "disagrees with its shards about c"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(tmp_path, changes, what):
    write_shards(tmp_path, **changes)
    with pytest.raises(BackendError, match=what):
        open_weights(tmp_path)


def test_a_shard_outside_the_folder_is_not_opened(tmp_path):
    (tmp_path / "inner").mkdir()
    write(tmp_path, {"c": torch.ones(1)}, "outside.safetensors")
    write_shards(tmp_path / "inner", c="../outside.safetensors")
    with pytest.raises(WeightsMissing, match=r"outside\.safetensors"):
        open_weights(tmp_path / "inner")


@pytest.mark.parametrize("content", ["", "[]", '{"weight_map": []}', "{"])
def test_what_is_no_index_is_refused(tmp_path, content):
    (tmp_path / "model.safetensors.index.json").write_text(content, encoding="utf-8")
    with pytest.raises(BackendError, match="no index of shards"):
        open_weights(tmp_path)


@pytest.mark.parametrize("keep", [0, 4, 40, -3])
def test_a_file_cut_short_is_refused(tmp_path, keep):
    write(tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(BackendError, match="no whole safetensors file"):
        open_weights(tmp_path)
