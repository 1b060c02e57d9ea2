"""Codec and speaker encoder against what the published code gave; ``qwen3_tts/codec.json`` says how."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import pytest
import torch
from engine_kit import RECORDED_CHECKPOINTS, parity_folder, tiny_checkpoint
from safetensors.torch import load_file

from refprep.engine.codec import load_codec_decoder, load_codec_encoder
from refprep.engine.codec.push import Push
from refprep.engine.config import RANDOM_LABEL
from refprep.engine.json_config import read_json
from refprep.engine.speaker import load_speaker_encoder

RECORDED = Path(__file__).parent / "qwen3_tts"
TRUTH = load_file(RECORDED / "codec.safetensors")
ABOUT = json.loads((RECORDED / "codec.json").read_text(encoding="utf-8"))
TOLERANCE = ABOUT["tolerance"]


@cache
def encoder():
    return load_codec_encoder(tiny_checkpoint("base-0.6b"), "cpu")


@cache
def decoder():
    return load_codec_decoder(tiny_checkpoint("base-0.6b"), "cpu")


@cache
def speaker_encoder(name):
    folder = tiny_checkpoint(name)
    return load_speaker_encoder(folder, read_json(folder / "config.json")["speaker_encoder_config"], "cpu")


def is_close(ours, key, kind="stages"):
    theirs = TRUTH[key]
    assert ours.shape == theirs.shape
    return float((ours - theirs).abs().max()) <= TOLERANCE[kind]


@pytest.mark.parametrize("file", ABOUT["weights_sha256"])
def test_the_checkpoints_are_those_of_the_recording(file):
    content = (tiny_checkpoint(file.split("/")[0]) / file.split("/", 1)[1]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == ABOUT["weights_sha256"][file]


@pytest.mark.parametrize("name", RECORDED_CHECKPOINTS)
def test_every_file_is_that_of_the_recorded_folder(name):
    folder = parity_folder()
    if folder is None:
        pytest.skip("REFPREP_PARITY names no folder with the whole recording")
    theirs = {p.relative_to(folder / name): p for p in (folder / name).rglob("*") if p.is_file()}
    ours = tiny_checkpoint(name)
    assert {p.relative_to(ours) for p in ours.rglob("*") if p.is_file()} - {
        Path(RANDOM_LABEL)
    } == theirs.keys()
    for path, file in theirs.items():
        assert (ours / path).read_bytes() == file.read_bytes(), path


@pytest.mark.parametrize("clip", ["a", "b", "exact"])
def test_codes_are_equal(clip):
    codes = encoder().encode(TRUTH[f"encode.{clip}.wave"])
    assert codes.dtype is torch.int32
    assert torch.equal(codes, TRUTH[f"encode.{clip}.codes"].int())


@torch.inference_mode()
def test_every_stage_of_the_encoder_and_all_32_levels():
    network, wave = encoder().network, TRUTH["encode.a.wave"][None, None]
    features = network.encoder(wave)
    assert is_close(features, "encode.a.seanet")
    seen = network.encoder_transformer(features.transpose(1, 2)).transpose(1, 2)
    assert is_close(seen, "encode.a.transformer")
    assert is_close(network.latent(wave), "encode.a.latent")
    assert torch.equal(network(wave, 32), TRUTH["encode.a.all_codes"].long())


@torch.inference_mode()
def test_every_stage_of_the_decoder():
    network, codes = decoder().network, TRUTH["decode.codes"].long()[:, None]
    push = Push(decoder().fresh(), len(codes))
    x = network.quantizer(codes)
    assert is_close(x.permute(1, 2, 0), "decode.quantized")
    x = network.pre_conv(x, push)
    assert is_close(x.permute(1, 2, 0), "decode.pre_conv")
    x = network.pre_transformer(x, push)
    assert is_close(x.transpose(0, 1), "decode.pre_transformer")
    for transposed, convnext in network.upsample:
        x = convnext(transposed(x, push), push)
    assert is_close(x.permute(1, 2, 0), "decode.upsampled")


@pytest.mark.parametrize("chunk_frames", [40, 16, 7, 1])
def test_samples_are_equal_whole_and_in_chunks(chunk_frames):
    samples = decoder().decode(TRUTH["decode.codes"], chunk_frames=chunk_frames)
    assert is_close(samples, "decode.whole", "samples")


def test_the_first_frames_do_not_depend_on_later_ones():
    assert is_close(decoder().decode(TRUTH["decode.codes"][:7]), "decode.first_7_frames", "samples")


@torch.inference_mode()
def test_mel_is_equal():
    mel = speaker_encoder("base-0.6b").front_end(TRUTH["encode.a.wave"])
    assert is_close(mel.T[None], "speaker.mel", "mel")


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
def test_speaker_embedding_is_equal(name):
    ours = speaker_encoder(name).embed(TRUTH["encode.a.wave"])
    assert is_close(ours, f"speaker.{name}.embedding", "embedding")
    cosine = torch.cosine_similarity(ours, TRUTH[f"speaker.{name}.embedding"], dim=0)
    assert float(cosine) >= TOLERANCE["embedding_cosine"]
