"""A voice's codes: made once, found by content, carried in its folder, verified, never taken from elsewhere."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from build_kit import ordinary_scene
from codes_kit import flip
from engine_kit import tiny_checkpoint
from safetensors.torch import load_file, save_file

from refprep.api_encode import encode_voice, encode_voices
from refprep.backends.qwen3_encoder import Qwen3ReferenceEncoder
from refprep.errors import BackendError, IntegrityError, ManifestError, UsageError, WeightsMissing
from refprep.pipeline.code_cache import CodeCache
from refprep.pipeline.code_file import entry_name, pack_entry
from refprep.types import CloneMode
from refprep.units import samples_to_frames
from refprep.voice import load_voice, verify_voice
from refprep.voice.code_files import code_nouns, judge_codes, read_codes, store_codes
from refprep.voice.codes import CodesOrigin, find_codes, voice_prompt

CODEC = "speech_tokenizer/model.safetensors"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    ordinary_scene(folder / "clips").build(folder / "voice")
    return folder


@pytest.fixture
def voice(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "scene")
    return tmp_path / "scene" / "voice"


@pytest.fixture
def cache(tmp_path: Path) -> CodeCache:
    return CodeCache(tmp_path / "cache")


@pytest.fixture
def small() -> Path:
    return tiny_checkpoint("base-0.6b")


@pytest.fixture
def bare(small: Path, tmp_path: Path) -> Path:
    """A checkpoint that speaks and cannot encode."""
    folder = tmp_path / "bare"
    shutil.copytree(small, folder)
    for part, prefix in ((CODEC, "encoder."), ("model.safetensors", "speaker_encoder.")):
        kept = {n: t for n, t in load_file(folder / part).items() if not n.startswith(prefix)}
        save_file(kept, folder / part, metadata={"format": "pt"})
    return folder


def rounded(checkpoint: Path, folder: Path) -> Path:
    """The same checkpoint with its codec in bfloat16."""
    shutil.copytree(checkpoint, folder)
    save_file({n: t.to(torch.bfloat16) for n, t in load_file(folder / CODEC).items()}, folder / CODEC)
    return folder


def only_entry(voice: Path) -> Path:
    (path,) = (voice / "codes").iterdir()
    return path


def test_encoded_once_then_found_in_the_voice_then_in_the_cache(voice, small, cache):
    first = encode_voice(voice, small, device="cpu", cache=cache)
    assert (first.origin, first.passed, first.findings) == (CodesOrigin.ENCODED, True, ())
    assert first.path == only_entry(voice)
    again = encode_voice(voice, small, device="cpu", cache=cache)
    assert again.origin is CodesOrigin.VOICE
    shutil.rmtree(voice / "codes")
    third = encode_voice(voice, small, device="cpu", cache=cache)
    assert third.origin is CodesOrigin.CACHE
    assert third.path == first.path
    for other in (again, third):
        assert np.array_equal(other.entry.codes, first.entry.codes)
        assert other.entry.speaker_embedding.tobytes() == first.entry.speaker_embedding.tobytes()
    assert cache.path(first.entry.key).read_bytes() == only_entry(voice).read_bytes()


def test_the_prompt_is_the_voice(voice, small, cache):
    read = load_voice(voice)
    prompt, entry = voice_prompt(read, small, cache=cache)
    assert prompt.mode is CloneMode.ICL
    assert prompt.text == read.text
    assert np.array_equal(prompt.codes, entry.codes)
    assert prompt.num_frames == samples_to_frames(entry.num_samples)
    assert prompt.speaker_embedding.dtype == np.float32
    alone, _ = voice_prompt(read, small, mode=CloneMode.X_VECTOR, cache=cache)
    assert (alone.text, alone.codes, alone.num_frames) == (None, None, 0)
    assert [p.name for p in (voice / "codes").iterdir()] == [entry_name(entry.key)]


def test_verify_accepts_codes_and_finds_one_changed_byte(voice, small, cache):
    encode_voice(voice, small, device="cpu", cache=cache)
    encode_voice(voice, tiny_checkpoint("base-1.7b"), device="cpu", cache=cache)
    found = verify_voice(voice)
    assert (found.problems, found.num_codes) == ((), 2)
    path = sorted((voice / "codes").iterdir())[0]
    for position in (3, 400, -1):
        before = path.read_bytes()
        flip(path, position)
        ((about, what),) = verify_voice(voice).problems
        assert about == f"codes/{path.name}"
        assert what
        path.write_bytes(before)


def test_a_damaged_copy_is_replaced_from_the_cache(voice, small, cache):
    encode_voice(voice, small, device="cpu", cache=cache)
    flip(only_entry(voice), -1)
    assert encode_voice(voice, small, device="cpu", cache=cache).origin is CodesOrigin.CACHE
    assert verify_voice(voice).problems == ()


def test_a_rebuilt_voice_of_the_same_path_is_no_hit(voice, small, cache):
    """vllm-omni issue 4873: the same path, new content, the old codes."""
    first = encode_voice(voice, small, device="cpu", cache=cache)
    stale = only_entry(voice).read_bytes()
    scene = ordinary_scene(voice.parent / "clips")
    used = {Path(row["path"]).name for row in load_voice(voice).document["clips"][:1]}
    scene.build(voice, utterances=[u for u in scene.utterances if u.audio.name not in used])
    second = encode_voice(voice, small, device="cpu", cache=cache)
    assert second.origin is CodesOrigin.ENCODED
    assert second.entry.key.audio_sha256 != first.entry.key.audio_sha256
    (voice / "codes" / first.path.name).write_bytes(stale)
    assert encode_voice(voice, small, device="cpu", cache=cache).entry.key == second.entry.key
    ((about, what),) = verify_voice(voice).problems
    assert about == f"codes/{first.path.name}"
    assert what.startswith("these codes are of other audio")


def test_another_checkpoints_embedding_is_not_taken(voice, small, cache, tmp_path):
    first = encode_voice(voice, small, device="cpu", cache=cache)
    large = encode_voice(voice, tiny_checkpoint("base-1.7b"), device="cpu", cache=cache)
    assert large.origin is CodesOrigin.ENCODED
    assert large.entry.speaker_embedding.shape != first.entry.speaker_embedding.shape
    tuned = tmp_path / "tuned"  # as wide, with another speaker encoder
    shutil.copytree(small, tuned)
    weights = load_file(tuned / "model.safetensors")
    weights["speaker_encoder.fc.bias"] += 1
    save_file(weights, tuned / "model.safetensors", metadata={"format": "pt"})
    other = encode_voice(voice, tuned, device="cpu", cache=cache)
    assert other.origin is CodesOrigin.ENCODED
    assert np.array_equal(other.entry.codes, first.entry.codes)
    assert not np.array_equal(other.entry.speaker_embedding, first.entry.speaker_embedding)
    assert len(list((voice / "codes").iterdir())) == 3
    assert verify_voice(voice).problems == ()


def test_a_moved_voice_works_without_the_encoder(voice, small, bare, cache, tmp_path):
    first = encode_voice(voice, small, device="cpu", cache=cache)
    moved = tmp_path / "elsewhere"
    shutil.move(voice, moved)
    prompt, entry = voice_prompt(load_voice(moved), bare, cache=CodeCache(tmp_path / "empty"))
    assert entry.key == first.entry.key
    assert np.array_equal(prompt.codes, first.entry.codes)


def test_without_encoder_and_codes_it_says_so(voice, bare, cache):
    with pytest.raises(WeightsMissing, match="carries no encoder of its codec"):
        voice_prompt(load_voice(voice), bare, cache=cache)
    encode_voice(voice, tiny_checkpoint("base-1.7b"), device="cpu", cache=cache)  # as wide as another talker
    with pytest.raises(WeightsMissing, match="carries no encoder of its codec"):
        voice_prompt(load_voice(voice), bare, cache=cache)


def test_two_entries_that_fit_a_bare_checkpoint_are_a_question(voice, small, bare, cache):
    first = encode_voice(voice, small, device="cpu", cache=cache)
    other = replace(first.entry, key=replace(first.entry.key, speaker_weights_sha256="9" * 64))
    store_codes(load_voice(voice), other)
    with pytest.raises(BackendError, match="codes of 2 checkpoints fit"):
        voice_prompt(load_voice(voice), bare, cache=cache)
    assert voice_prompt(load_voice(voice), small, cache=cache)[1].key == first.entry.key


def test_codes_of_another_device_serve_where_no_exact_ones_are(voice, small, cache):
    first = encode_voice(voice, small, device="cpu", cache=cache)
    path = only_entry(voice)
    path.unlink()
    cuda = replace(first.entry, key=replace(first.entry.key, device="cuda", torch_version="1.0"))
    store_codes(load_voice(voice), cuda)
    assert encode_voice(voice, small, device="cpu", cache=cache).entry.key == cuda.key
    store_codes(load_voice(voice), first.entry)
    assert encode_voice(voice, small, device="cpu", cache=cache).entry.key == first.entry.key


def test_a_rounded_encoder_makes_nothing_and_may_speak_with_what_is_there(voice, small, cache, tmp_path):
    broken = rounded(small, tmp_path / "rounded")
    with pytest.raises(UsageError, match="RP501"):
        encode_voice(voice, broken, device="cpu", cache=cache)
    assert not (voice / "codes").exists()
    assert list(cache.files()) == []
    first = encode_voice(voice, small, device="cpu", cache=cache)
    assert voice_prompt(load_voice(voice), broken, cache=cache)[1].key == first.entry.key


def test_codes_of_a_rounded_encoder_are_found_and_never_taken(voice, small, cache, tmp_path):
    encoder = Qwen3ReferenceEncoder(rounded(small, tmp_path / "rounded"), allow_quantized=True)
    found = find_codes(load_voice(voice), encoder, cache=cache)
    assert [f.code for f in found.errors] == ["RP501"]
    assert list(cache.files()) == []
    store_codes(load_voice(voice), found.entry)
    assert [what for _, what in verify_voice(voice).problems] == [
        "the codec encoder's weights were stored as bfloat16, not as float32"
    ]
    assert encode_voice(voice, small, device="cpu", cache=cache).entry.key != found.entry.key


def test_unsound_codes_are_kept_nowhere(voice, small, cache, monkeypatch):
    monkeypatch.setattr(Qwen3ReferenceEncoder, "embed", lambda *_: np.full(24, np.nan, np.float32))
    done = encode_voice(voice, small, device="cpu", cache=cache)
    assert ([f.code for f in done.findings], done.path, done.passed) == (["RP507"], None, False)
    assert list(cache.files()) == []
    assert not (voice / "codes").exists()
    with pytest.raises(BackendError, match="RP507 degenerate-embedding"):
        voice_prompt(load_voice(voice), small, cache=cache)


def test_a_reference_that_was_changed_is_refused(voice, small, cache):
    audio = bytearray((voice / "reference.wav").read_bytes())
    audio[5000] ^= 1
    (voice / "reference.wav").write_bytes(audio)
    with pytest.raises(IntegrityError, match=r"not those that voice\.json"):
        encode_voice(voice, small, device="cpu", cache=cache)


def test_a_voice_rebuilt_meanwhile_gets_no_codes_of_the_old_one(voice, small, cache):
    read = load_voice(voice)
    entry = find_codes(read, Qwen3ReferenceEncoder(small), cache=cache).entry
    document = json.loads((voice / "voice.json").read_text(encoding="utf-8"))
    document["audio"]["pcm_sha256"] = "0" * 64
    (voice / "voice.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(IntegrityError, match="built anew"):
        store_codes(read, entry)
    assert list((voice / "codes").iterdir()) == []


def test_foreign_files_are_reported_and_hidden_ones_ignored(voice, small, cache):
    encode_voice(voice, small, device="cpu", cache=cache)
    (voice / "codes" / "notes.txt").write_text("mine", encoding="utf-8")
    (voice / "codes" / ".DS_Store").write_text("its", encoding="utf-8")
    assert [(a, w) for a, w in verify_voice(voice).problems] == [
        ("codes/notes.txt", "it is no entry of codes")
    ]
    assert len(list(code_nouns(voice, voice / "reference.wav"))) == 2
    assert len(list(read_codes(voice))) == 2


def test_several_voices_load_the_weights_once(voice, small, cache, tmp_path):
    shutil.copytree(voice, tmp_path / "twin")
    first, second = encode_voices([voice, tmp_path / "twin"], small, device="cpu", cache=cache)
    assert (first.origin, second.origin) == (CodesOrigin.ENCODED, CodesOrigin.CACHE)
    with pytest.raises(ManifestError):
        list(encode_voices([voice, tmp_path / "nothing"], small, device="cpu", cache=cache))


def test_no_finding_in_sound_codes(voice, small, cache):
    encode_voice(voice, small, device="cpu", cache=cache)
    (noun,) = code_nouns(voice, voice / "reference.wav")
    assert judge_codes(noun, path="x") == ()
    assert len(pack_entry(noun.entry)) < 20_000


def test_the_model_is_a_checkpoint_folder_or_a_synthesis_id(voice, monkeypatch, tmp_path):
    monkeypatch.setenv("REFPREP_CACHE", str(tmp_path / "nothing"))
    with pytest.raises(WeightsMissing, match=r"refprep models pull qwen3-tts-0\.6b-base"):
        encode_voice(voice, "qwen3-tts-0.6b-base", device="cpu")
    with pytest.raises(UsageError, match="speaks nothing"):
        encode_voice(voice, "whisper-base", device="cpu")
    with pytest.raises(UsageError, match="no model of that name"):
        encode_voice(voice, "nobody", device="cpu")
