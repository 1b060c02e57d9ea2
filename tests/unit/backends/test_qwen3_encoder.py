"""A checkpoint as a ReferenceEncoder: its facts, its refusals, and the same numbers as the engine's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from safetensors.torch import load_file, save_file

from refprep.backends.qwen3_encoder import Qwen3ReferenceEncoder
from refprep.engine.codec.load import load_codec_encoder
from refprep.errors import UsageError, WeightsMissing
from refprep.units import samples_to_frames

NOISE = np.random.default_rng(0).standard_normal(30_000).astype(np.float32) * np.float32(0.1)
CODEC = "speech_tokenizer/model.safetensors"


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "checkpoint"
    shutil.copytree(tiny_checkpoint("base-0.6b"), folder)
    return folder


def rewrite(path: Path, change: Callable[[str, torch.Tensor], torch.Tensor | None]) -> None:
    """Change or drop the tensors of a file."""
    changed = {name: change(name, tensor) for name, tensor in load_file(path).items()}
    save_file({n: t for n, t in changed.items() if t is not None}, path, metadata={"format": "pt"})


def to(dtype: torch.dtype, prefix: str) -> Callable[[str, torch.Tensor], torch.Tensor]:
    return lambda name, tensor: tensor.to(dtype) if name.startswith(prefix) else tensor


def without(prefix: str) -> Callable[[str, torch.Tensor], torch.Tensor | None]:
    return lambda name, tensor: None if name.startswith(prefix) else tensor


def test_it_encodes_as_the_engine_does():
    folder = tiny_checkpoint("base-0.6b")
    encoder = Qwen3ReferenceEncoder(folder)
    assert encoder.fault() is None
    codes = encoder.encode(NOISE)
    assert codes.shape == (samples_to_frames(len(NOISE)), 16)
    assert codes.dtype == np.int32
    direct = load_codec_encoder(folder, "cpu")
    assert np.array_equal(codes, direct.encode(torch.from_numpy(NOISE.copy())).numpy())
    assert encoder.facts.codec_weights_sha256 == direct.weights_sha256
    vector = encoder.embed(NOISE)
    assert vector.shape == (encoder.talker_width,)
    assert vector.dtype == np.float32


def test_read_only_samples_are_taken_without_a_warning():
    frozen = NOISE.copy()
    frozen.flags.writeable = False
    assert np.array_equal(
        Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).encode(frozen),
        Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).encode(NOISE),
    )


def test_two_checkpoints_share_a_codec_and_no_speaker_encoder():
    small = Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).facts
    large = Qwen3ReferenceEncoder(tiny_checkpoint("base-1.7b")).facts
    assert small.codec_weights_sha256 == large.codec_weights_sha256
    assert small.speaker_weights_sha256 != large.speaker_weights_sha256
    assert small.config_sha256 != large.config_sha256
    assert small.encoder_dtype == "float32"
    assert small.torch_version == torch.__version__


@pytest.mark.parametrize(("part", "prefix", "name"), [
    (CODEC, "encoder.", "codec_weights_sha256"), ("model.safetensors", "speaker_encoder.", "speaker_weights_sha256"),
])  # fmt: skip
def test_one_changed_weight_changes_its_hash_alone(checkpoint, part, prefix, name):
    before = Qwen3ReferenceEncoder(checkpoint).facts
    names = [n for n in load_file(checkpoint / part) if n.startswith(prefix)]

    def nudge(tensor_name: str, tensor: torch.Tensor) -> torch.Tensor:
        return tensor + 1 if tensor_name == names[0] else tensor

    rewrite(checkpoint / part, nudge)
    after = Qwen3ReferenceEncoder(checkpoint).facts
    assert {f for f in before.__dataclass_fields__ if getattr(before, f) != getattr(after, f)} == {name}


def test_another_constant_in_the_config_is_another_encoder(checkpoint):
    before = Qwen3ReferenceEncoder(checkpoint).facts
    path = checkpoint / "speech_tokenizer" / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["encoder_config"]["norm_eps"] = 2e-5
    path.write_text(json.dumps(config), encoding="utf-8")
    after = Qwen3ReferenceEncoder(checkpoint).facts
    assert before.config_sha256 != after.config_sha256
    assert before.codec_weights_sha256 == after.codec_weights_sha256


@pytest.mark.parametrize(
    ("part", "prefix", "dtype", "words"),
    [
        (CODEC, "encoder.", torch.bfloat16, "codec encoder's weights are stored as bfloat16"),
        (CODEC, "encoder.", torch.float16, "codec encoder's weights are stored as float16"),
        (CODEC, "encoder.", torch.int8, "codec encoder's weights are stored as int8"),
        (CODEC, "encoder.", torch.uint8, "codec encoder's weights are stored as uint8"),
        (CODEC, "encoder.", torch.float8_e4m3fn, "codec encoder's weights are stored as float8_e4m3"),
        (CODEC, "encoder.quantizer", torch.bfloat16, "codec encoder's weights are stored as bfloat16"),
        ("model.safetensors", "speaker_encoder.", torch.int8, "speaker encoder's weights are stored as int8"),
    ],
)
def test_rounded_weights_are_refused(checkpoint, part, prefix, dtype, words):
    rewrite(checkpoint / part, to(dtype, prefix))
    encoder = Qwen3ReferenceEncoder(checkpoint)
    fault = encoder.fault()
    assert isinstance(fault, UsageError)
    assert fault.what.startswith("RP501 quantized-reference-encoder: ")
    assert words in fault.what
    assert "float32" in fault.fix
    for ask in (encoder.encode, encoder.embed):
        with pytest.raises(UsageError, match="RP501"):
            ask(NOISE)


def test_a_rounded_decoder_may_stay(checkpoint):
    rewrite(checkpoint / CODEC, to(torch.bfloat16, "decoder."))
    encoder = Qwen3ReferenceEncoder(checkpoint)
    assert encoder.fault() is None
    assert np.array_equal(
        encoder.encode(NOISE), Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).encode(NOISE)
    )
    assert encoder.facts == Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).facts


def test_the_publishers_bfloat16_speaker_encoder_is_no_rounded_one():
    weights = load_file(tiny_checkpoint("base-0.6b") / "model.safetensors")
    assert {t.dtype for n, t in weights.items() if n.startswith("speaker_encoder.")} == {torch.bfloat16}
    assert Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b")).fault() is None


def test_a_comparison_may_use_rounded_weights_and_its_key_says_so(checkpoint):
    rewrite(checkpoint / CODEC, to(torch.bfloat16, "encoder."))
    encoder = Qwen3ReferenceEncoder(checkpoint, allow_quantized=True)
    assert encoder.facts.encoder_dtype == "bfloat16"
    assert encoder.facts.codec_weights_sha256
    assert encoder.encode(NOISE).shape == (16, 16)
    assert Qwen3ReferenceEncoder(checkpoint).facts.codec_weights_sha256 == ""


@pytest.mark.parametrize(
    ("part", "prefix", "words", "empty"),
    [
        (CODEC, "encoder.", "no encoder of its codec", "codec_weights_sha256"),
        ("model.safetensors", "speaker_encoder.", "no speaker encoder", "speaker_weights_sha256"),
    ],
)
def test_a_checkpoint_without_an_encoder_says_which(checkpoint, part, prefix, words, empty):
    rewrite(checkpoint / part, without(prefix))
    encoder = Qwen3ReferenceEncoder(checkpoint)
    assert getattr(encoder.facts, empty) == ""
    fault = encoder.fault()
    assert isinstance(fault, WeightsMissing)
    assert words in fault.what
    with pytest.raises(WeightsMissing):
        encoder.encode(NOISE)


@pytest.mark.parametrize("name", ["custom-1.7b", "design-1.7b"])
def test_only_base_takes_a_recorded_voice(name):
    with pytest.raises(UsageError, match="takes no recorded voice"):
        Qwen3ReferenceEncoder(tiny_checkpoint(name))


def test_a_folder_without_a_checkpoint_is_missing_weights(tmp_path):
    with pytest.raises(WeightsMissing):
        Qwen3ReferenceEncoder(tmp_path)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_on_cuda_the_key_says_so():
    encoder = Qwen3ReferenceEncoder(tiny_checkpoint("base-0.6b"), device="cuda")
    assert encoder.facts.device == "cuda"
    assert encoder.encode(NOISE).shape == (16, 16)
