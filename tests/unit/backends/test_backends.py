"""Which backend runs a folder, what it says of itself, and what it refuses."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from codes_kit import KEY
from engine_kit import tiny_checkpoint
from moss_kit import tiny_generator
from moss_voice_kit import tiny_moss

from refprep.backends.moss_tts import MossBackend
from refprep.backends.open import open_backend
from refprep.backends.qwen3_tts import Qwen3Backend
from refprep.errors import BackendError, UsageError, WeightsMissing
from refprep.linter.profiles import PROFILES, TextUse
from refprep.moss.codec import Loudness
from refprep.pipeline.encode import reference_key
from refprep.types import (
    BACKEND_MODES,
    CloneMode,
    CoverageRule,
    SpeechRequest,
    SynthesisSettings,
    TextNeed,
    VoicePrompt,
)

NOISE = np.random.default_rng(0).standard_normal(30_000).astype(np.float32) * np.float32(0.1)
PLAIN = SynthesisSettings("cpu", "float32")


def config(folder: Path, values: object) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    return folder


def test_a_base_checkpoint_needs_a_voice_and_its_words():
    backend = open_backend(tiny_checkpoint("base-0.6b"))
    profile = backend.profile
    assert isinstance(backend, Qwen3Backend)
    assert profile.default_mode is CloneMode.ICL
    assert profile.needs_voice
    assert (profile.needs_text(CloneMode.ICL), profile.coverage(CloneMode.ICL)) == ("required", "gate")
    assert profile.coverage(CloneMode.X_VECTOR) is CoverageRule.INFORMATION
    assert (profile.num_codebooks, profile.codebook_size, profile.sample_rate_hz) == (16, 2048, 24_000)
    assert not profile.takes_instruction
    assert "english" in profile.languages


def test_built_in_speakers_take_no_voice():
    profile = open_backend(tiny_checkpoint("custom-1.7b")).profile
    assert (profile.modes, profile.default_mode, profile.takes_instruction) == ((), None, True)


def test_delay_clones_without_words():
    backend = open_backend(tiny_moss())
    profile = backend.profile
    assert isinstance(backend, MossBackend)
    assert profile.default_mode is CloneMode.CLONE
    assert profile.modes == (CloneMode.CLONE, CloneMode.CONTINUATION, CloneMode.BOTH)
    assert profile.needs_text(CloneMode.CLONE) is TextNeed.UNUSED
    assert profile.coverage(CloneMode.CLONE) is CoverageRule.INFORMATION
    assert {profile.coverage(m) for m in profile.modes[1:]} == {CoverageRule.GATE}
    assert (profile.num_codebooks, profile.codebook_size, profile.channels) == (32, 1024, 1)
    assert profile.takes_instruction
    assert profile.languages is None


def test_local_is_known_and_its_codec_is_not(tmp_path):
    backend = open_backend(tiny_generator("local-1.5"))
    assert backend.profile.modes == (CloneMode.CLONE, CloneMode.CONTINUATION)
    assert (backend.profile.sample_rate_hz, backend.profile.channels) == (48_000, 2)
    for act in (lambda: backend.encoder(device="cpu"), lambda: backend.synthesizer(PLAIN)):
        with pytest.raises(BackendError, match=r"MOSS-Audio-Tokenizer-v2 \(48 kHz stereo\).*no engine"):
            act()


def test_lint_reads_what_an_engine_needs_from_the_backends():
    assert PROFILES["qwen3-tts"].text is TextUse.NEEDED
    assert PROFILES["moss-tts"].text is TextUse.OPTIONAL
    assert set(BACKEND_MODES) <= set(PROFILES)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"model_type": "llama"}, "a 'llama' model, which no backend runs"),
        ({"model_type": "x", "auto_map": {"AutoModel": "modeling.X"}}, "own remote code alone"),
        ({"model_type": "moss_tts_nano", "auto_map": {"AutoModel": "x.Y"}}, "own remote code alone"),
        ({"model_type": "moss_tts_realtime", "rvq": 16}, "MOSS-TTS-Realtime"),
        ({"encoder_kwargs": [], "quantizer_kwargs": {}}, "not a generator"),
    ],
)
def test_what_is_not_run_is_one_error(tmp_path, values, words):
    with pytest.raises(BackendError, match=words) as caught:
        open_backend(config(tmp_path / "x", values))
    assert caught.value.fix


def test_an_empty_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(WeightsMissing, match=r"config\.json is missing"):
        open_backend(tmp_path)


def test_options_of_the_other_backend_are_refused():
    with pytest.raises(UsageError, match="carries its codec"):
        open_backend(tiny_checkpoint("base-0.6b"), codec=tiny_moss())
    with pytest.raises(UsageError, match="own level"):
        open_backend(tiny_checkpoint("base-0.6b"), loudness="as-is")
    with pytest.raises(UsageError, match="loudness 'loud' is unknown"):
        open_backend(tiny_moss(), loudness="loud")
    with pytest.raises(UsageError, match="decodes in float32"):
        open_backend(tiny_checkpoint("base-0.6b")).synthesizer(
            SynthesisSettings("cpu", "float32", decoder_precision="int8")
        )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quantize": "int8"}, "not quantized here"),
        ({"step_mode": "graph"}, "eagerly"),
        ({"dtype": "float16"}, "'float16' is unknown"),
        ({"decoder_precision": "int3"}, "'int3' is unknown"),
    ],
)
def test_settings_that_moss_does_not_have_are_refused(options, words):
    settings = SynthesisSettings(**{"device": "cpu", "dtype": "float32", **options})
    with pytest.raises(UsageError, match=words):
        open_backend(tiny_moss()).synthesizer(settings)


def test_a_codec_of_another_generator_is_refused(tmp_path):
    folder = tmp_path / "moss"
    shutil.copytree(tiny_moss(), folder)
    path = folder / "audio_tokenizer" / "config.json"
    values = json.loads(path.read_text())
    values["quantizer_kwargs"]["num_quantizers"] = 16
    path.write_text(json.dumps(values))
    with pytest.raises(BackendError, match="16 codebooks of 1024, the generator writes 32"):
        open_backend(folder).encoder(device="cpu")


QWEN = "qwen3_tts_tokenizer_12hz"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"codes": "reference.wav"}, "it reads no audio"),
        ({"codes": np.zeros((9, 16), np.float32)}, "float32, not integers"),
        ({"codes": np.zeros((9, 32), np.int32)}, "shape"),
        ({"codes": np.full((9, 16), 2048, np.int32)}, "a codebook has"),
        ({"key": replace(KEY, codec=QWEN, encoder_dtype="bfloat16")}, "RP501"),
        ({"key": replace(KEY, codec="moss-audio-tokenizer")}, "of the codec moss-audio-tokenizer"),
        ({"mode": CloneMode.CLONE}, "one of MOSS-TTS"),
    ],
)
def test_codes_that_are_not_qwens_are_one_error(changes, words):
    engine = open_backend(tiny_checkpoint("base-0.6b")).synthesizer(PLAIN)
    vector = np.ones(24, np.float32)
    voice = VoicePrompt(
        CloneMode.ICL, vector, "Words.", np.zeros((9, 16), np.int32), replace(KEY, codec=QWEN)
    )
    engine.check(SpeechRequest("Hi.", voice=voice))
    with pytest.raises(UsageError, match=words):
        engine.check(SpeechRequest("Hi.", voice=replace(voice, **changes)))


@pytest.mark.parametrize(
    ("mode", "rest", "words"),
    [
        (CloneMode.ICL, {"speaker_embedding": None}, "speaker embedding"),
        (CloneMode.ICL, {"text": None}, "text and codes"),
        (CloneMode.CLONE, {"codes": None}, "needs the reference's codes"),
        (CloneMode.CONTINUATION, {"text": ""}, "needs the reference's text"),
        (CloneMode.BOTH, {"text": None}, "needs the reference's text"),
    ],
)
def test_a_prompt_without_what_its_mode_needs_is_none(mode, rest, words):
    whole = {
        "speaker_embedding": np.ones(4, np.float32),
        "text": "Words.",
        "codes": np.zeros((9, 16), np.int32),
    }
    assert VoicePrompt(mode, **whole).num_frames == 9
    with pytest.raises(ValueError, match=words):
        VoicePrompt(mode, **{**whole, **rest})


def test_loudness_is_a_part_of_the_key_and_never_a_silent_choice():
    keys = {}
    for name in ("as-is", "published", None):
        encoder = open_backend(tiny_moss(), loudness=name).encoder(device="cpu")
        keys[name] = reference_key(NOISE, 24_000, encoder.facts)
    assert keys[None] == keys["as-is"]
    assert keys["published"].differs_in(keys["as-is"]) == {"tail_policy"}
    assert Loudness.PUBLISHED.value in keys["published"].tail_policy


def test_the_encoder_has_codes_and_no_embedding():
    encoder = open_backend(tiny_moss()).encoder(device="cpu")
    codes = encoder.encode(NOISE)
    assert codes.shape == (16, 32)
    assert encoder.embed(NOISE) is None
    assert encoder.facts.speaker_weights_sha256 == ""
    assert encoder.fault() is None
