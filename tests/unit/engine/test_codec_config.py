"""A codec of another kind is refused by name."""

from __future__ import annotations

import json
import shutil

import pytest
from engine_kit import tiny_checkpoint

from refprep.engine.codec import load_codec_decoder
from refprep.engine.codec.config import read_codec_config
from refprep.errors import BackendError, WeightsMissing


@pytest.fixture
def codec(tmp_path):
    return shutil.copytree(tiny_checkpoint("base-0.6b") / "speech_tokenizer", tmp_path / "codec")


def change(folder, keys, value):
    path = folder / "config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    *outer, last = keys
    inner = content
    for key in outer:
        inner = inner[key]
    inner[last] = value
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_checkpoint_and_its_codec_folder_give_the_same_config():
    folder = tiny_checkpoint("base-0.6b")
    assert read_codec_config(folder) == read_codec_config(folder / "speech_tokenizer")


@pytest.mark.parametrize(
    ("keys", "value", "what"),
    [
        (("model_type",), "encodec", "model_type is 'encodec'"),
        (("input_sample_rate",), 16_000, "input_sample_rate is 16000, not 24000"),
        (("encoder_config", "use_causal_conv"), False, "use_causal_conv is False"),
        (("encoder_config", "pad_mode"), "reflect", "pad_mode"),
        (("encoder_config", "upsampling_ratios"), [8, 6, 5, 2], "upsampling_ratios is 960"),
        (("encoder_config", "num_key_value_heads"), 2, "num_key_value_heads is 2"),
        (("decoder_config", "upsample_rates"), [8, 5, 4, 4], "2560"),
        (("decoder_config", "num_quantizers"), 8, "num_quantizers is 8, not 16"),
        (("decoder_config", "hidden_act"), "gelu", "hidden_act"),
        (("decoder_config", "head_dim"), "8", "'8' is no int"),
    ],
)
def test_another_kind_of_codec_is_refused(codec, keys, value, what):
    change(codec, keys, value)
    with pytest.raises(BackendError, match=what):
        read_codec_config(codec)


def test_widths_that_the_weights_do_not_have_are_named(codec):
    change(codec, ("decoder_config", "decoder_dim"), 32)
    with pytest.raises(BackendError, match="its config asks for"):
        load_codec_decoder(codec, "cpu")


def test_a_folder_without_a_config_is_missing_weights(tmp_path):
    with pytest.raises(WeightsMissing, match=r"config\.json is missing"):
        read_codec_config(tmp_path)
