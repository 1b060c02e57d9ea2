"""MOSS-Audio-Tokenizer v1 against what the published code gave; ``moss_tts/codec.json`` says how.

A part of the recording is here; with REFPREP_PARITY_MOSS the whole is compared.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from moss_codec_kit import SAMPLES_PER_FRAME, fixed_wave, moss_parity_folder, tiny_codec
from safetensors.torch import load_file

from refprep.moss.codec import Loudness, OutputDecoder, Precision, ReferenceEncoder, loudness_gain_db
from refprep.moss.codec.audit import decode_in_chunks, quantized_for_audit
from refprep.moss.codec.loudness import prepared, with_loudness

pytestmark = pytest.mark.usefixtures("one_torch_thread")

RECORDED = Path(__file__).parent / "moss_tts"
ABOUT = json.loads((RECORDED / "codec.json").read_text(encoding="utf-8"))
TOLERANCE = ABOUT["tolerance"]
CLIPS = {"exact": 48_000, "plus1": 48_001, "plus960": 48_960, "short": 1500, "one": 1920, "long": 288_000}


@cache
def recording():
    folder = moss_parity_folder()
    here = load_file(RECORDED / "codec.safetensors")
    if folder is None:
        return here
    whole = load_file(folder / "codec.golden.safetensors")
    whole["decode.whole.head"] = whole["decode.whole"][:24_000]
    whole["decode.whole.tail"] = whole["decode.whole"][-24_000:]
    return whole


def truth(key):
    """A recorded tensor; the test is skipped where only the whole recording has it."""
    if key not in recording():
        pytest.skip(f"{key} is in the whole recording alone, and REFPREP_PARITY_MOSS names none")
    return recording()[key]


@cache
def encoder(loudness=Loudness.AS_IS):
    return ReferenceEncoder(tiny_codec(), loudness=loudness)


@cache
def decoder():
    return OutputDecoder(tiny_codec())


@cache
def audited():
    return quantized_for_audit(tiny_codec(), Precision.FLOAT32)


def clip(name):
    return fixed_wave()[: CLIPS[name]]


def distance(ours, theirs):
    ours = torch.as_tensor(ours)
    assert ours.shape == theirs.shape
    return float((ours - theirs).abs().max())


def taps(stages, run):
    """Outputs of every stage as (1, width, steps), as the recording has them."""
    seen = {}
    handles = [
        stage.register_forward_hook(lambda m, a, out, i=i: seen.__setitem__(i, out.mT))
        for i, stage in enumerate(stages)
    ]
    with torch.inference_mode():
        run()
    for handle in handles:
        handle.remove()
    return seen


# ---------------------------------------------------------------- the recording itself


@pytest.mark.parametrize("file", ABOUT["weights_sha256"])
def test_the_codec_is_that_of_the_recording(file):
    content = (tiny_codec() / file.split("/", 1)[1]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == ABOUT["weights_sha256"][file]


def test_the_wave_is_that_of_the_recording():
    steps = (fixed_wave() * 32768).astype(np.int16)
    assert hashlib.sha256(steps.tobytes()).hexdigest() == ABOUT["wave_sha256"]


def test_the_part_that_is_here_is_a_part_of_the_whole():
    folder = moss_parity_folder()
    if folder is None:
        pytest.skip("REFPREP_PARITY_MOSS names no folder with the whole recording")
    content = (folder / "codec.golden.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest() == ABOUT["source_sha256"]["codec.golden.safetensors"]
    for key, tensor in load_file(RECORDED / "codec.safetensors").items():
        assert torch.equal(tensor, truth(key).to(tensor.dtype)), key
    assert torch.equal(truth("wave"), torch.from_numpy(fixed_wave().copy()))


# ---------------------------------------------------------------- encoding


@pytest.mark.parametrize("name", CLIPS)
def test_codes_are_equal(name):
    """Their last column of a clip that ends inside a frame is a constant; ours is of the padded frame."""
    codes = encoder().encode(clip(name))
    whole_frames = CLIPS[name] // SAMPLES_PER_FRAME
    assert codes.dtype == np.int32
    assert codes.shape == (-(-CLIPS[name] // SAMPLES_PER_FRAME), 32)
    theirs = truth("encode.long.codes").numpy().T[:whole_frames]  # the prefix property, which theirs has
    assert np.array_equal(codes[:whole_frames], theirs)


@pytest.mark.parametrize("name", CLIPS)
def test_codes_are_those_recorded_for_the_clip_itself(name):
    theirs = truth(f"encode.{name}.codes").numpy().T
    frames = CLIPS[name] // SAMPLES_PER_FRAME
    assert np.array_equal(encoder().encode(clip(name))[:frames], theirs[:frames])


@cache
def encoder_taps():
    wave = torch.from_numpy(clip("exact").copy())[None]
    return taps(audited().network.encoder, lambda: audited().network.hidden(wave))


@pytest.mark.parametrize("stage", range(8))
def test_every_stage_of_the_encoder(stage):
    theirs = truth(f"encode.exact.stage{stage}")
    assert distance(encoder_taps()[stage], theirs) <= TOLERANCE["stages"]


@torch.inference_mode()
def test_the_quantizer_from_its_input_to_its_sum():
    quantizer, trace = audited().network.quantizer, audited().trace(clip("exact"))
    entered = quantizer.input_proj(torch.from_numpy(trace.hidden)[None])
    assert distance(entered.mT, truth("encode.exact.quantizer_in")) <= TOLERANCE["stages"]
    latents = trace.latents.transpose(1, 2, 0)
    assert distance(latents, truth("encode.exact.latents")) <= TOLERANCE["stages"]
    codes = torch.from_numpy(trace.codes)[None].long()
    assert distance(quantizer.summed(codes).mT, truth("encode.exact.summed")) <= TOLERANCE["stages"]
    assert distance(quantizer.decode(codes).mT, truth("encode.exact.quantized")) <= TOLERANCE["stages"]


def test_beyond_the_window():
    wave = torch.from_numpy(clip("long").copy())[None]
    found = taps(audited().network.encoder, lambda: audited().network.hidden(wave))
    assert distance(found[7], truth("encode.long.hidden")) <= TOLERANCE["stages"]
    for stage in (1, 3, 5):
        theirs = truth(f"encode.long.stage{stage}_tail")
        assert distance(found[stage][..., -32:], theirs) <= TOLERANCE["stages"]


@pytest.mark.parametrize(("seconds", "chunk_frames"), [(2, 25), (8, 100)])
def test_an_audit_sees_what_the_published_chunks_lose(seconds, chunk_frames):
    theirs = truth(f"encode.long.codes_chunk_{seconds}s").numpy().T
    assert np.array_equal(audited().trace(clip("long"), chunk_frames=chunk_frames).codes, theirs)
    assert not np.array_equal(theirs, truth("encode.long.codes").numpy().T)


# ---------------------------------------------------------------- the way into the encoder


@pytest.mark.parametrize("case", ["quiet", "medium", "loud", "silence", "boost", "stereo"])
def test_loudness_is_equal(case):
    ours = with_loudness(truth(f"loudness.{case}.in").numpy(), Loudness.PUBLISHED)
    assert distance(ours, truth(f"loudness.{case}.out")) <= TOLERANCE["loudness"]


@pytest.mark.parametrize("case", ABOUT["gain_db"])
def test_the_gain_is_equal(case):
    samples = fixed_wave()[:24_000] * np.float32(ABOUT["loudness_scale"][case])
    assert loudness_gain_db(samples, Loudness.PUBLISHED) == pytest.approx(ABOUT["gain_db"][case], abs=1e-4)


def heard(case):
    """Mono at 24 kHz, as the recording's processor gives it to the loudness step."""
    if case == "exact":
        return clip("exact")
    both = np.stack((fixed_wave()[:24_000] * np.float32(0.5), fixed_wave()[24_000:48_000] * np.float32(0.9)))
    return both.mean(axis=0, dtype=np.float32)


@pytest.mark.parametrize("case", ["exact", "stereo"])
def test_the_path_of_a_wave(case):
    codes = encoder(Loudness.PUBLISHED).encode(heard(case))
    theirs = truth(f"path.{case}.codes").numpy()
    assert np.array_equal(codes[: len(theirs)], theirs)


@pytest.mark.parametrize("case", ["exact", "stereo"])
def test_the_path_before_the_encoder(case):
    theirs = truth(f"path.{case}.prepared")
    ours = prepared(heard(case), Loudness.PUBLISHED)[: len(theirs)]
    assert distance(ours, theirs) <= TOLERANCE["samples"]


def test_a_clip_that_was_resampled_by_their_kernel():
    codes = encoder().encode(truth("path.48k.prepared").numpy())
    theirs = truth("path.48k.codes").numpy()
    assert np.array_equal(codes[: len(theirs)], theirs)


# ---------------------------------------------------------------- decoding


@cache
def decoder_taps():
    codes = truth("decode.codes").long().T[None, :25]
    return taps(decoder().network.decoder, lambda: decoder().network.decode(codes))


@pytest.mark.parametrize("stage", range(7))
def test_every_stage_of_the_decoder(stage):
    theirs = truth(f"decode.first25.stage{stage}")
    assert distance(decoder_taps()[stage], theirs) <= TOLERANCE["stages"]


@torch.inference_mode()
def test_what_the_decoder_starts_from():
    codes = truth("decode.codes").long().T[None, :25]
    quantizer = decoder().network.quantizer
    assert distance(quantizer.summed(codes).mT, truth("decode.first25.summed")) <= TOLERANCE["stages"]
    assert distance(quantizer.decode(codes).mT, truth("decode.first25.quantized")) <= TOLERANCE["stages"]


@pytest.mark.parametrize("chunk_frames", [None, 150, 16, 7, 1])
def test_samples_are_equal_whole_and_in_chunks(chunk_frames):
    samples = decoder().decode(truth("decode.codes").T, chunk_frames=chunk_frames)
    assert distance(samples[:24_000], truth("decode.whole.head")) <= TOLERANCE["samples"]
    assert distance(samples[-24_000:], truth("decode.whole.tail")) <= TOLERANCE["samples"]
    if "decode.whole" in recording():
        assert distance(samples, truth("decode.whole")) <= TOLERANCE["samples"]


def test_the_first_frames_do_not_depend_on_later_ones():
    samples = decoder().decode(truth("decode.codes").T[:25])
    assert distance(samples, truth("decode.first25.wave")) <= TOLERANCE["samples"]


@pytest.mark.parametrize("books", [8, 16])
def test_a_prefix_of_codebooks_decodes(books):
    samples = decoder().decode(truth("decode.codes").T[:10, :books])
    assert distance(samples, truth(f"decode.first10_books{books}")) <= TOLERANCE["samples"]


@pytest.mark.parametrize(("seconds", "chunk_frames"), [(2, 25), (8, 100)])
def test_an_audit_hears_what_the_published_chunks_lose(seconds, chunk_frames):
    theirs = truth(f"decode.tail_chunk_{seconds}s")
    ours = decode_in_chunks(decoder(), truth("decode.codes").T, chunk_frames=chunk_frames)
    assert distance(ours[-len(theirs) :], theirs) <= TOLERANCE["samples"]
    assert distance(ours[-24_000:], truth("decode.whole.tail")) > 100 * TOLERANCE["samples"]
