from __future__ import annotations

import json

import pytest
from moss_kit import GENERATORS, tiny_generator

from refprep.errors import BackendError, WeightsMissing
from refprep.moss.config import LocalConfig, MossKind, Positions, is_moss, parse_config, read_config


def values(name="delay"):
    return json.loads((tiny_generator(name) / "config.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", GENERATORS)
def test_the_kind_is_read_from_the_keys_and_not_from_the_class(name):
    """The 1.7B Local checkpoint declares the class of the 8B Delay one."""
    found = values(name) | {"architectures": ["MossTTSDelayModel"], "model_type": "whatever"}
    config = parse_config(found, where="config.json")
    assert config.kind is (MossKind.DELAY if name == "delay" else MossKind.LOCAL)
    assert config.codebook_size == config.pad_code == 1024
    if isinstance(config, LocalConfig):
        assert config.depth.position_embedding_type is (
            Positions.ROPE if name.endswith("rope") else Positions.ABSOLUTE
        )


def test_both_spellings_of_the_rotary_base_are_read():
    flat = values()
    inner = flat["language_config"]
    assert parse_config(flat, where="x").backbone.rope_theta == 1e6
    del inner["rope_parameters"]
    inner["rope_theta"] = 5e5
    assert parse_config(flat, where="x").backbone.rope_theta == 5e5
    del inner["rope_theta"]
    with pytest.raises(BackendError, match="rope_theta"):
        parse_config(flat, where="x")


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"local_num_layers": 4, "local_hidden_size": 1536}, "Local-Transformer 1.7B"),
        ({"rvq": 16, "local_config": {}}, "Realtime"),
        ({"n_vq": 16}, "TTSD"),
        ({"gpt2_config": {}, "language_config": None}, "Nano"),
        ({"audio_pad_code": 0}, "pad code"),
    ],
)
def test_other_models_are_named(change, names):
    with pytest.raises(BackendError, match=names) as caught:
        parse_config(values() | change, where="config.json")
    assert "MOSS-TTS-Local-Transformer-v1.5" in caught.value.fix
    assert is_moss(values() | change)


@pytest.mark.parametrize(
    ("found", "names"),
    [
        ({"model_type": "llama"}, "no MOSS-TTS"),
        ({"model_type": "moss_tts_x", "auto_map": {"AutoModel": "m.X"}}, "remote code"),
        ({"encoder_kwargs": [], "quantizer_kwargs": {}}, "codec"),
    ],
)
def test_what_is_no_generator_is_said(found, names):
    with pytest.raises(BackendError, match=names):
        parse_config(found, where="config.json")


@pytest.mark.parametrize(
    ("key", "value", "names"),
    [
        ("local_text_head_mode", "full", "local_text_head_mode"),
        ("audio_codebook_sizes", [1024] * 11 + [512], "audio_codebook_sizes"),
        ("gpt2_config.position_embedding_type", "alibi", "alibi"),
        ("gpt2_config.n_positions", 4, "positions"),
        ("gpt2_config.n_embd", 16, "wide"),
        ("qwen3_config.rope_scaling", {"rope_type": "yarn"}, "yarn"),
        ("qwen3_config.use_sliding_window", True, "window"),
        ("qwen3_config.hidden_size", "x", "hidden_size"),
    ],
)
def test_odd_local_configs_are_refused(key, value, names):
    found = values("local-1.5")
    *path, leaf = key.split(".")
    place = found[path[0]] if path else found
    place[leaf] = value
    with pytest.raises(BackendError, match=names):
        parse_config(found, where="config.json")


@pytest.mark.parametrize("key", ["n_vq", "im_start_token_id", "audio_assistant_delay_slot_token_id"])
def test_a_missing_key_is_named(key):
    found = values()
    del found[key]
    with pytest.raises(BackendError, match=key if key != "n_vq" else "MOSS"):
        parse_config(found, where="config.json")


def test_no_config(tmp_path):
    with pytest.raises(WeightsMissing):
        read_config(tmp_path)
