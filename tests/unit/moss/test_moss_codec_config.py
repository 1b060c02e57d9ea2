"""Which codec a folder holds is told by its keys."""

from __future__ import annotations

import copy

import pytest
from moss_codec_kit import copied, edit_config, tiny_codec

from refprep.errors import BackendError, WeightsMissing
from refprep.moss.codec import ReferenceEncoder, read_codec_config
from refprep.moss.codec.config import PatchStage, TransformerStage, codec_config
from refprep.moss.codec.load import count_parameters
from refprep.moss.random_codec import REAL, TINY, codec_json, tensor_shapes


def values(**changes):
    return codec_json(TINY) | changes


def stage(side, number, **changes):
    """The config of a codec with one stage changed."""
    found = copy.deepcopy(values())
    found[side][number] |= changes
    return found


def test_what_the_file_says():
    config = read_codec_config(tiny_codec())
    assert (config.sampling_rate, config.downsample_rate, config.context_s) == (24_000, 1920, 10.0)
    assert (config.quantizer.num_quantizers, config.quantizer.codebook_size) == (32, 1024)
    assert [type(s) for s in config.encoder] == [PatchStage, TransformerStage] * 4
    assert [type(s) for s in config.decoder] == [TransformerStage, PatchStage] * 4


def test_the_published_size():
    real = codec_json(REAL)
    counts = count_parameters(codec_config(real, where="config.json"))
    assert counts == {"encoder": 886_609_920, "quantizer": 1_346_560, "decoder": 886_609_920}
    assert sum(counts.values()) == 1_774_566_400
    assert len(tensor_shapes(real)) == 1600


@pytest.mark.parametrize("model_type", ["moss-audio-tokenizer", "speech_tokenizer", None])
def test_the_name_of_the_model_type_does_not_matter(model_type):
    assert codec_config(values(model_type=model_type), where="x").quantizer.num_quantizers == 32


def test_an_older_key_for_the_rate():
    older = {k: v for k, v in values(sample_rate=24_000).items() if k != "sampling_rate"}
    assert codec_config(older, where="x").sampling_rate == 24_000


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"sampling_rate": 48_000, "number_channels": 2}, "Tokenizer-v2 "),
        ({"number_channels": 2}, "Tokenizer-v2 "),
        ({"enable_channel_interleave": True}, "Tokenizer-v2 "),
        ({"model_type": "moss-audio-tokenizer-v2"}, "Tokenizer-v2 "),
        ({"architectures": ["MossAudioTokenizerNanoModel"]}, "Tokenizer-Nano "),
        ({"sample_rate": 48_000, "sampling_rate": None, "quantizer_kwargs": {"num_quantizers": 16}}, "Nano"),
    ],
)
def test_newer_codecs_are_refused_by_name(tmp_path, changes, kind):
    folder = copied(tiny_codec(), tmp_path / "codec")
    edit_config(folder, **changes)
    with pytest.raises(BackendError, match=kind) as caught:
        ReferenceEncoder(folder, loudness="as-is")
    assert "source code is published only inside" in caught.value.what
    assert "MOSS-Audio-Tokenizer (24 kHz" in caught.value.fix


@pytest.mark.parametrize(
    ("found", "what"),
    [
        ({}, "encoder_kwargs"),
        (values(sampling_rate=16_000), "sampling_rate is 16000"),
        (values(sampling_rate="fast"), "sampling_rate is 'fast'"),
        (values(downsample_rate=960), "downsample_rate is 960"),
        (values(causal_transformer_context_duration=0), "context_duration is 0"),
        (values(encoder_kwargs={}), "no list of stages"),
        (values(quantizer_kwargs=[]), "no object"),
        (values(quantizer_kwargs=values()["quantizer_kwargs"] | {"quantizer_type": "rvq"}), "quantizer_type"),
        (stage("encoder_kwargs", 1, causal=False), "causal is False"),
        (stage("encoder_kwargs", 1, norm="rms_norm"), "norm is 'rms_norm'"),
        (stage("encoder_kwargs", 1, gating="silu"), "gating"),
        (stage("encoder_kwargs", 1, positional_embedding="sin"), "positional_embedding"),
        (stage("encoder_kwargs", 1, layer_scale=None), "layer_scale"),
        (stage("encoder_kwargs", 1, num_heads=5), "num_heads"),
        (stage("encoder_kwargs", 1, num_layers=0), "below 1"),
        (stage("encoder_kwargs", 1, module_type="Conv"), "module_type is 'Conv'"),
        (stage("encoder_kwargs", 2, patch_size=4), "product of patch sizes in encoder_kwargs"),
        (stage("encoder_kwargs", 3, input_dimension=64), "input_dimension of stage 3 is 64"),
        (stage("encoder_kwargs", 7, output_dimension=41), "width after the last stage"),
        (stage("decoder_kwargs", 0, input_dimension=41), "input_dimension of stage 0"),
        (stage("decoder_kwargs", 6, output_dimension=480), "width after the last stage"),
    ],
)
def test_what_is_no_such_codec_is_refused_by_what_differs(found, what):
    with pytest.raises(BackendError, match=what):
        codec_config(found, where="config.json")


def test_a_folder_without_a_codec(tmp_path):
    with pytest.raises(WeightsMissing):
        read_codec_config(tmp_path)
