"""A checkpoint that is not whole, or not this model, is one error that names what is wrong."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from engine_kit import tiny_checkpoint
from safetensors.torch import load_file, save_file

from refprep.engine.config import GenerationDefaults, ModelKind, read_config, read_generation_defaults
from refprep.engine.model import load_checkpoint
from refprep.engine.random_checkpoint import write_random_checkpoint
from refprep.engine.speech import load_speech_engine
from refprep.errors import BackendError, RefprepError, UsageError, WeightsMissing
from refprep.types import SamplingParams

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.fixture
def folder(tmp_path):
    shutil.copytree(tiny_checkpoint("base-1.7b"), tmp_path / "model")
    return tmp_path / "model"


def load(folder, dtype=torch.float32):
    return load_checkpoint(folder, device=torch.device("cpu"), dtype=dtype)


def change_config(folder, change):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda c: c.update(model_type="llama"), "'llama' model, not qwen3_tts"),
        (lambda c: c.update(tokenizer_type="qwen3_tts_tokenizer_25hz"), "the 12 Hz one is known"),
        (lambda c: c.update(tts_model_type="whisper"), "'whisper' is unknown"),
        (lambda c: c.pop("tts_pad_token_id"), "'tts_pad_token_id' is missing"),
        (lambda c: c["talker_config"].pop("head_dim"), "'head_dim' is missing"),
        (lambda c: c["talker_config"].update(hidden_size="wide"), "'wide' is no int"),
        (lambda c: c["talker_config"].update(hidden_act="gelu"), "hidden_act is 'gelu'"),
        (lambda c: c["talker_config"].update(use_sliding_window=True), "use_sliding_window is True"),
        (lambda c: c["talker_config"].update(rope_scaling={"rope_type": "yarn"}), "is not computed"),
        (lambda c: c["talker_config"].update(num_key_value_heads=3), "do not divide"),
        (
            lambda c: c["talker_config"]["code_predictor_config"].update(attention_bias=True),
            "attention_bias is True",
        ),
    ],
)
def test_a_config_of_something_else_is_refused(folder, change, what):
    change_config(folder, change)
    with pytest.raises(BackendError) as caught:
        load(folder)
    assert what in caught.value.what
    assert "config.json" in caught.value.where


@pytest.mark.parametrize(
    "name", ["config.json", "model.safetensors", "vocab.json", "merges.txt", "tokenizer_config.json"]
)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(WeightsMissing) as caught:
        load(folder)
    assert name in caught.value.what


def change_weights(folder, change):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda t: t.pop("talker.codec_head.weight"), "no weights for talker.codec_head.weight"),
        (lambda t: t.update({"talker.more.weight": torch.zeros(2)}), "no place for talker.more.weight"),
        (lambda t: t.update({"stray": torch.zeros(2)}), "no place for stray"),
        (lambda t: t.update({"talker.codec_head.weight": torch.zeros(2, 2)}), "has shape (2, 2)"),
    ],
)
def test_weights_that_do_not_fit_are_named(folder, change, what):
    change_weights(folder, change)
    with pytest.raises(BackendError) as caught:
        load(folder)
    assert what in caught.value.what


def test_shards_load_and_a_missing_one_is_named(tmp_path):
    folder = tmp_path / "model"
    write_random_checkpoint(folder, "base", "1b7", seed=0, max_shard_bytes=400_000)
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 2
    whole, sharded = load(tiny_checkpoint("base-1.7b")), load(folder)
    for (name, one), other in zip(whole.talker.named_parameters(), sharded.talker.parameters(), strict=True):
        assert torch.equal(one, other), name
    shards[1].unlink()
    with pytest.raises(WeightsMissing) as caught:
        load(folder)
    assert shards[1].name in caught.value.what


def test_a_tokenizer_that_splits_the_chat_frame_is_refused(folder):
    merges = folder / "merges.txt"
    kept = [line for line in merges.read_text(encoding="utf-8").splitlines() if not line.startswith("a s")]
    merges.write_text("\n".join(kept) + "\n", encoding="utf-8")
    with pytest.raises(BackendError, match="chat frame"):
        load(folder)


def test_a_tokenizer_that_is_no_json_is_refused(folder):
    (folder / "vocab.json").write_text("{")
    with pytest.raises(BackendError, match="tokenizer does not load"):
        load(folder)


def test_a_codec_that_is_not_there_is_named(folder):
    shutil.rmtree(folder / "speech_tokenizer")
    with pytest.raises(RefprepError, match="speech_tokenizer"):
        load_speech_engine(folder, device="cpu", dtype="float32")


def test_a_dtype_that_overflows_is_refused(folder):
    with pytest.raises(UsageError, match="float16"):
        load_speech_engine(folder, device="cpu", dtype="float16")


def test_what_a_checkpoint_says_of_itself(folder):
    config = read_config(folder)
    assert config.kind is ModelKind.BASE
    assert "english" in config.languages
    assert not any("dialect" in name for name in read_config(tiny_checkpoint("custom-1.7b")).languages)
    assert read_config(tiny_checkpoint("custom-1.7b")).takes_instruct
    assert not config.takes_instruct
    assert load(folder).has_random_weights
    assert load(folder).sampling == SamplingParams()


def test_sampling_defaults_are_the_checkpoints(folder):
    path = folder / "generation_config.json"
    path.write_text(
        json.dumps(json.loads(path.read_text()) | {"temperature": 0.5, "subtalker_dosample": False})
    )
    assert load(folder).sampling.temperature == 0.5
    assert load(folder).sampling.subtalker_do_sample is False
    path.unlink()
    assert read_generation_defaults(folder) == GenerationDefaults()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_weights_have_the_dtype_that_was_asked_for(folder, dtype):
    talker = load(folder, dtype).talker
    held = {name: p.dtype for name, p in talker.named_parameters()}
    # A row of the text embedding is cast when it is looked up.
    assert held.pop("model.text_embedding.weight") is torch.bfloat16
    assert set(held.values()) == {dtype}
    assert talker.embed_text(torch.tensor([1, 2])).dtype is dtype
    assert talker.rotary(4)[0].dtype is dtype
