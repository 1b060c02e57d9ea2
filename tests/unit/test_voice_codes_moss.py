"""Codes of a voice under MOSS-TTS: what serves where the codec's encoder is missing or rounded, and what never does."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from build_kit import ordinary_scene
from moss_voice_kit import tiny_moss
from safetensors.torch import load_file, save_file

from refprep.backends.open import open_backend
from refprep.errors import UsageError, WeightsMissing
from refprep.pipeline.code_cache import CodeCache
from refprep.pipeline.code_file import pack_entry, unpack_entry
from refprep.types import CloneMode
from refprep.voice import load_voice
from refprep.voice.code_files import store_codes
from refprep.voice.codes import CodesOrigin, find_codes, voice_prompt

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    ordinary_scene(folder / "clips").build(folder / "voice")
    return folder


@pytest.fixture
def voice(built, tmp_path):
    shutil.copytree(built, tmp_path / "scene")
    return load_voice(tmp_path / "scene" / "voice")


@pytest.fixture
def cache(tmp_path):
    return CodeCache(tmp_path / "cache")


def changed(to: Path, change) -> Path:
    """A checkpoint whose codec's tensors are others; None drops one."""
    shutil.copytree(tiny_moss(), to)
    path = to / "audio_tokenizer" / "model.safetensors"
    tensors = {n: change(n, t) for n, t in load_file(path).items()}
    save_file({n: t for n, t in tensors.items() if t is not None}, path, metadata={"format": "pt"})
    return to


def without_encoder(name, tensor):
    return None if name.startswith("encoder.") else tensor


def rounded(name, tensor):
    return tensor.to(torch.bfloat16) if name.startswith("encoder.") else tensor


def test_found_in_the_voice_then_in_the_cache(voice, cache):
    encoder = open_backend(tiny_moss()).encoder(device="cpu")
    first = find_codes(voice, encoder, cache=cache)
    assert (first.origin, first.findings) == (CodesOrigin.ENCODED, ())
    assert find_codes(voice, encoder, cache=cache).origin is CodesOrigin.CACHE
    store_codes(voice, first.entry)
    again = find_codes(voice, encoder, cache=CodeCache(cache.folder / "empty"))
    assert again.origin is CodesOrigin.VOICE
    assert np.array_equal(again.entry.codes, first.entry.codes)
    assert again.entry.speaker_embedding is None


def test_an_entry_without_an_embedding_survives_its_file(voice, cache):
    entry = find_codes(voice, open_backend(tiny_moss()).encoder(device="cpu"), cache=cache).entry
    other = unpack_entry(pack_entry(entry), where=Path("x.safetensors"))
    assert np.array_equal(entry.codes, other.codes)
    assert (other.speaker_embedding, other.embedding_size, other.key) == (None, None, entry.key)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [(without_encoder, WeightsMissing, "carries no encoder"), (rounded, UsageError, "RP501")],
)
def test_without_a_sound_encoder_only_codes_that_are_there_serve(
    voice, cache, tmp_path, change, error, words
):
    poor = changed(tmp_path / "poor", change)
    with pytest.raises(error, match=words):
        voice_prompt(voice, poor, cache=cache)
    prompt, entry = voice_prompt(voice, tiny_moss(), cache=cache)
    assert prompt.key == entry.key
    other, found = voice_prompt(voice, poor, cache=CodeCache(cache.folder / "empty"))
    assert found.key == entry.key
    assert np.array_equal(other.codes, prompt.codes)


def test_another_codec_of_the_same_kind_never_gets_these_codes(voice, cache, tmp_path):
    first = find_codes(voice, open_backend(tiny_moss()).encoder(device="cpu"), cache=cache)
    store_codes(voice, first.entry)

    def nudged(name, tensor):
        return tensor + 1e-3 if name == "quantizer.input_proj.weight" or "encoder.1" in name else tensor

    other = changed(tmp_path / "other", nudged)
    found = find_codes(voice, open_backend(other).encoder(device="cpu"), cache=cache)
    assert found.origin is CodesOrigin.ENCODED
    assert found.entry.key.differs_in(first.entry.key) == {"codec_weights_sha256"}


@pytest.mark.parametrize("mode", [None, CloneMode.CLONE, CloneMode.CONTINUATION, CloneMode.BOTH])
def test_a_prompt_has_the_words_only_where_they_are_used(voice, cache, mode):
    prompt, _ = voice_prompt(voice, tiny_moss(), mode=mode, cache=cache)
    assert prompt.mode is (mode or CloneMode.CLONE)
    assert prompt.text == (None if prompt.mode is CloneMode.CLONE else voice.text)
    assert prompt.codes.shape[1] == 32


def test_a_mode_of_another_backend_is_refused(voice, cache):
    with pytest.raises(UsageError, match="has no mode icl"):
        voice_prompt(voice, tiny_moss(), mode=CloneMode.ICL, cache=cache)
