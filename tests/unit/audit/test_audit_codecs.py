"""Codecs of both kinds for an audit: found, loaded at every precision, and never a way around the exact encoder."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from moss_codec_kit import copied, fixed_wave, tiny_codec
from moss_kit import tiny_generator
from safetensors.torch import load_file, save_file

from refprep.audit.agreement import difference_db
from refprep.audit.codecs import (
    DECODERS,
    ENCODERS,
    check_precisions,
    is_exact,
    open_audit_codec,
)
from refprep.audit.qwen3_encoder import qwen3_encoder_at
from refprep.audit.rounding import rounded
from refprep.engine.codec import load_codec_encoder
from refprep.errors import BackendError, UsageError, WeightsMissing
from refprep.moss.codec import ReferenceEncoder
from refprep.moss.codec.loudness import Loudness

WAVE = fixed_wave()[: 2 * 24_000 + 700]


def opened(kind):
    return open_audit_codec(tiny_checkpoint("base-0.6b") if kind == "qwen3" else tiny_codec())


def test_the_exact_trace_is_what_the_reference_encoder_says():
    trace = opened("qwen3").encoder("float32").trace(WAVE)
    encoder = load_codec_encoder(tiny_checkpoint("base-0.6b"), "cpu")
    assert np.array_equal(trace.codes, encoder.encode(torch.from_numpy(WAVE.copy())).numpy())
    trace = opened("moss").encoder("float32").trace(WAVE)
    reference = ReferenceEncoder(tiny_codec(), loudness=Loudness.AS_IS)
    assert np.array_equal(trace.codes, reference.encode(WAVE))


@pytest.mark.parametrize("kind", ["qwen3", "moss"])
def test_every_precision_encodes_and_decodes(kind):
    codec = opened(kind)
    assert codec.stored == ("float32",)
    exact = codec.encoder("float32").trace(WAVE)
    assert exact.codes.shape == (26, codec.num_codebooks)
    assert len(exact.hidden) == 26
    for precision in ENCODERS:
        found = codec.encoder(precision).trace(WAVE)
        assert found.codes.shape == exact.codes.shape
        assert found.hidden.dtype == np.float32
    codes = torch.from_numpy(exact.codes.astype(np.int64))
    sound = codec.decoder("float32").decode(codes).numpy()
    for precision in DECODERS[1:]:
        other = codec.decoder(precision).decode(codes).numpy()
        assert -60.0 < (difference_db(sound, other) or 0.0) < -20.0


def test_pieces_of_a_clip_are_encoded_by_themselves():
    encoder = opened("qwen3").encoder("float32")
    whole, cut = encoder.trace(WAVE), encoder.trace(WAVE, chunk_frames=10)
    assert cut.codes.shape == whole.codes.shape
    assert np.array_equal(cut.codes[:10], whole.codes[:10])
    assert not np.array_equal(cut.codes, whole.codes)


def test_settings_of_the_process_are_as_before():
    before = (torch.backends.mkldnn.enabled, torch.backends.cuda.matmul.fp32_precision)
    for precision in ("bfloat16", "tf32"):
        qwen3_encoder_at(tiny_checkpoint("base-0.6b"), precision).trace(WAVE[:4000])
    assert (torch.backends.mkldnn.enabled, torch.backends.cuda.matmul.fp32_precision) == before


def test_rounding_keeps_255_values_of_every_output():
    weight = torch.randn(6, 300, generator=torch.Generator().manual_seed(0))
    other = weight.clone()
    rounded(other, 0)
    assert all(len(row.unique()) <= 255 for row in other)
    step = weight.abs().amax(dim=1) / 127
    assert bool(((other - weight).abs() <= step[:, None] / 2 + 1e-7).all())
    zeros = torch.zeros(2, 3)
    rounded(zeros, 0)
    assert not zeros.any()


def test_weights_that_are_stored_narrow_are_reported(tmp_path):
    folder = copied(tiny_checkpoint("base-0.6b"), tmp_path / "narrow")
    path = folder / "speech_tokenizer" / "model.safetensors"
    save_file({k: v.bfloat16() for k, v in load_file(path).items()}, path)
    codec = open_audit_codec(folder)
    assert codec.stored == ("bfloat16",)
    assert not is_exact(codec.stored)
    assert len(codec.encoder("float32").trace(WAVE).codes) == 26


def test_a_codec_is_found_beside_a_generator_or_named(tmp_path):
    bare = tiny_generator("delay")
    with pytest.raises(WeightsMissing, match="audio_tokenizer") as found:
        open_audit_codec(bare)
    assert "--codec" in found.value.fix
    assert open_audit_codec(bare, codec=tiny_codec()).folder == tiny_codec()
    shutil.copytree(bare, tmp_path / "whole")
    shutil.copytree(tiny_codec(), tmp_path / "whole" / "audio_tokenizer")
    assert open_audit_codec(tmp_path / "whole").folder == tmp_path / "whole" / "audio_tokenizer"


def test_what_is_no_codec_is_one_error(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "other"}), encoding="utf-8")
    with pytest.raises(BackendError):
        open_audit_codec(tmp_path)
    with pytest.raises(WeightsMissing):
        open_audit_codec(tmp_path / "nowhere")


def test_precisions_are_checked_and_the_exact_one_comes_first():
    assert check_precisions(("int8", "float32", "int8"), ENCODERS, option="--encoder") == ("float32", "int8")
    with pytest.raises(UsageError, match="int3") as found:
        check_precisions(("int3",), ENCODERS, option="--encoder")
    assert found.value.where == "--encoder"
