from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from moss_kit import GENERATORS, loaded, tiny_generator
from safetensors.torch import load_file, save_file

from refprep.errors import BackendError, MachineError, UsageError, WeightsMissing
from refprep.moss.config import parse_config
from refprep.moss.engine import MossEngine
from refprep.moss.load import empty_model, load_generator
from refprep.moss.quantized import KEPT
from refprep.moss.random_generator import generator_config, write_random_generator
from refprep.moss.random_shapes import REAL, TINY, GeneratorShapes
from refprep.moss.request import MOSS_GREEDY, MossRequest
from refprep.moss.toy_vocabulary import toy_vocabulary

CPU = torch.device("cpu")


def load(folder, dtype=torch.float32):
    return load_generator(folder, device=CPU, dtype=dtype)


@pytest.fixture
def copy(tmp_path):
    def make(name="delay"):
        folder = tmp_path / name
        shutil.copytree(tiny_generator(name), folder)
        return folder

    return make


def change(folder, edit):
    weights = load_file(folder / "model.safetensors")
    edit(weights)
    save_file(weights, folder / "model.safetensors")


def real_model(name):
    values = generator_config(REAL[name], toy_vocabulary(REAL[name].text_rows))
    return empty_model(parse_config(values, where="config.json"))


def test_the_real_delay_has_the_published_number_of_parameters():
    assert sum(p.numel() for p in real_model("delay").parameters()) == 8_489_841_664


def test_the_real_local_has_the_shapes_of_its_backbone_and_one_depth_block():
    model = real_model("local-1.5")
    names = {n: tuple(p.shape) for n, p in model.named_parameters()}
    assert names["local_transformer.h.0.mlp.fc_in.weight"] == (9728, 2560)
    assert names["local_transformer.wpe.weight"] == (13, 2560)
    assert names["audio_embeddings.11.weight"] == (1024, 2560)
    assert not [n for n in names if n.startswith(("text_lm_head", "audio_lm_heads"))]
    assert 4.0e9 < sum(p.numel() for p in model.parameters()) < 4.3e9


@pytest.mark.parametrize("name", ["delay", "local-1.5"])
def test_shards_of_real_proportions_load_at_reduced_depth(tmp_path, name):
    real = REAL[name]
    shapes = GeneratorShapes(
        real.kind,
        512,
        256,
        768,
        2,
        real.num_attention_heads,
        real.num_key_value_heads,
        real.head_dim,
        n_vq=real.n_vq,
        depth_heads=4,
    )
    write_random_generator(tmp_path / "m", shapes=shapes, max_shard_bytes=4_000_000)
    assert len(list((tmp_path / "m").glob("model-*.safetensors"))) > 2
    checkpoint = load(tmp_path / "m", torch.bfloat16)
    assert {p.dtype for p in checkpoint.model.parameters()} == {torch.bfloat16}
    (result,) = MossEngine(checkpoint).generate([MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=3)])
    assert result.codes.shape[1] == real.n_vq
    next((tmp_path / "m").glob("model-00002*")).unlink()
    with pytest.raises(WeightsMissing, match="shard"):
        load(tmp_path / "m")


@pytest.mark.parametrize("name", GENERATORS)
def test_no_parameter_stays_empty_and_joined_tables_hold_nothing_twice(name):
    model = loaded(name).model
    assert not any(t.is_meta for t in (*model.parameters(), *model.buffers()))
    stored = load_file(tiny_generator(name) / "model.safetensors")
    for key, tensor in model.state_dict().items():
        assert torch.equal(tensor, stored[key].float())
    pointers = {p.untyped_storage().data_ptr(): p.untyped_storage().nbytes() for p in model.parameters()}
    assert sum(pointers.values()) == sum(4 * t.numel() for t in stored.values())


def test_a_missing_and_an_unknown_weight_are_named(copy):
    folder = copy()
    change(folder, lambda w: (w.pop("emb_ext.31.weight"), w.update(stray=torch.zeros(1))))
    with pytest.raises(BackendError, match=r"emb_ext\.31\.weight.*stray"):
        load(folder)


def test_a_weight_of_another_shape_is_named(copy):
    folder = copy()
    change(folder, lambda w: w.update({"lm_heads.3.weight": torch.zeros(1024, 32)}))
    with pytest.raises(BackendError, match=r"lm_heads\.3"):
        load(folder)


def test_tied_heads_may_be_in_the_file_of_local_and_stay_unused(copy):
    folder = copy("local-1.5")
    change(folder, lambda w: w.update({"text_lm_head.weight": torch.zeros(512, 32)}))
    request = MossRequest("Hi.", sampling=MOSS_GREEDY, max_frames=3)
    one, other = (MossEngine(c).generate([request])[0] for c in (load(folder), loaded("local-1.5")))
    assert np.array_equal(one.codes, other.codes)


@pytest.mark.parametrize("gone", ["tokenizer_config.json", "merges.txt", "model.safetensors"])
def test_a_missing_file_is_named(copy, gone):
    folder = copy()
    (folder / gone).unlink()
    with pytest.raises(WeightsMissing):
        load(folder)


def test_a_tokenizer_of_another_model_is_refused(copy):
    folder = copy()
    path = folder / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["language_config"]["vocab_size"] = 400
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(BackendError, match="rows"):
        load(folder)


def quantized(folder, settings):
    path = folder / "config.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(values | {"quantization_config": settings}), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("method", "package"),
    [("awq", "gptqmodel"), ("gptq", "gptqmodel"), ("compressed-tensors", "compressed-tensors")],
)
def test_a_quantized_generator_says_which_package_is_missing(copy, monkeypatch, method, package):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MachineError, match=package) as caught:
        load(quantized(copy(), {"quant_method": method, "bits": 4}))
    assert "pip install" in caught.value.fix


def test_an_unknown_quantization_is_refused(copy):
    with pytest.raises(BackendError, match="aqlm"):
        load(quantized(copy(), {"quant_method": "aqlm"}))


def test_quantized_heads_are_refused(copy, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    folder = quantized(copy(), {"quant_method": "gptq", "bits": 4})
    change(folder, lambda w: w.update({"lm_heads.1.qweight": torch.zeros(1, dtype=torch.int32)}))
    with pytest.raises(BackendError, match=r"lm_heads\.1\.qweight"):
        load(folder)
    assert "emb_ext" in KEPT


def packed(weights):
    """INT8 rows of the backbone, four in an int32 as compressed-tensors packs them, and what they stand for."""
    small, plain = {}, {}
    for key, tensor in weights.items():
        small[key] = plain[key] = tensor
        if ".layers." in key and tensor.dim() == 2:
            scale = (tensor.float().abs().amax(1, keepdim=True) / 127).bfloat16()
            codes = (tensor.float() / scale.float()).round().clamp(-128, 127)
            plain[key] = codes * scale.float()
            del small[key]
            stem = key.removesuffix("weight")
            small[stem + "weight_packed"] = (codes + 128).to(torch.uint8).contiguous().view(torch.int32)
            small[stem + "weight_scale"] = scale
            small[stem + "weight_shape"] = torch.tensor(tensor.shape)
    return small, plain


@pytest.mark.filterwarnings("ignore")
def test_a_compressed_generator_speaks_as_its_unpacked_weights_do(copy, tmp_path):
    for package in ("compressed_tensors", "accelerate"):
        pytest.importorskip(package)
    folder, other = copy(), tmp_path / "plain"
    shutil.copytree(folder, other)
    small, plain = packed(load_file(folder / "model.safetensors"))
    save_file(small, folder / "model.safetensors", metadata={"format": "pt"})
    save_file(plain, other / "model.safetensors", metadata={"format": "pt"})
    weights = {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True}
    group = {"targets": ["Linear"], "weights": weights}
    quantized(
        folder,
        {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "quantization_status": "compressed",
            "config_groups": {"group_0": group},
        },
    )
    request = MossRequest("Hi.", sampling=MOSS_GREEDY)
    one, two = (MossEngine(load(f)).generate([request])[0] for f in (folder, other))
    assert one.num_frames > 5
    assert np.array_equal(one.codes, two.codes)


def test_random_generators_are_labelled_and_replace_nothing_else(tmp_path):
    assert loaded("delay").has_random_weights
    with pytest.raises(UsageError, match="no generator"):
        write_random_generator(tmp_path / "m", "realtime")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(UsageError, match="something other"):
        write_random_generator(tmp_path / "mine", "delay", shapes=TINY)


def test_the_real_vocabulary_has_the_real_ids():
    vocabulary = toy_vocabulary(155_648)
    assert vocabulary.keys["im_start_token_id"] == 151644
    assert vocabulary.marks == ((151652, 151653), (151669, 151670))
    assert vocabulary.vocab["assistant"] == 77091
    assert max(vocabulary.control.values()) >= 151670
