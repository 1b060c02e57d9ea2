"""What every speaker encoder promises, asked of the fake and of every real adapter alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_kit import clip_of, save_ge2e, save_speechbrain, save_wavlm, voice, whole
from fakes import FakeEncoder

from refprep.errors import AudioDecodeError, UsageError, WeightsMissing
from refprep.models.encoders import ENCODERS, open_encoder
from refprep.models.store import ModelStore
from refprep.protocols import SpeakerEncoder
from refprep.types import Clip, Span, freeze

Make = Callable[[Path, list[Clip]], SpeakerEncoder]


def opened(save: Callable[[Path], Path]) -> Make:
    def make(folder: Path, _: list[Clip]) -> SpeakerEncoder:
        return open_encoder(str(save(folder / "own-model")), ModelStore(folder), device="cpu")

    return make


def fake(_: Path, clips: list[Clip]) -> SpeakerEncoder:
    return FakeEncoder(vectors={clip.id: (1.0, 2.0, 0.5 + i, 0.0) for i, clip in enumerate(clips)})


MAKERS: dict[str, Make] = {
    "fake": fake,
    "ge2e": opened(save_ge2e),
    "ecapa": opened(lambda folder: save_speechbrain(folder, kind="ecapa")),
    "xvector": opened(lambda folder: save_speechbrain(folder, kind="xvector")),
    "wavlm": opened(save_wavlm),
}
REAL = [name for name in MAKERS if name != "fake"]
CLIP = voice(5.0)
SPEECH = (Span(0.3, 1.4), Span(1.9, 3.2), Span(4.0, 4.9))


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SpeakerEncoder]:
    return {name: make(tmp_path_factory.mktemp(name), [CLIP]) for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", MAKERS)
def test_a_voiceprint_is_unit_vectors_on_the_clips_clock(
    name: str, encoders: dict[str, SpeakerEncoder]
) -> None:
    encoder = encoders[name]
    got = encoder.embed(CLIP, SPEECH)
    assert (got.clip_id, got.model) == (CLIP.id, encoder.name)
    assert got.speech_s == pytest.approx(3.3)
    assert got.vector.shape == (encoder.dim,)
    assert got.window_vectors.shape == (len(got.windows), encoder.dim)
    for array in (got.vector, got.window_vectors):
        assert array.dtype == np.float32
        assert name == "fake" or not array.flags.writeable
        np.testing.assert_allclose(np.linalg.norm(array, axis=-1), 1.0, atol=1e-5)
    assert got.windows
    assert all(0.0 <= w.start_s < w.end_s <= CLIP.duration_s for w in got.windows)
    assert list(got.windows) == sorted(got.windows)


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_clip_gives_the_same_bits(name: str, encoders: dict[str, SpeakerEncoder]) -> None:
    first, second = (encoders[name].embed(CLIP, SPEECH) for _ in range(2))
    assert first.vector.tobytes() == second.vector.tobytes()
    assert first.window_vectors.tobytes() == second.window_vectors.tobytes()
    assert first.windows == second.windows


@pytest.mark.parametrize("name", REAL)
def test_windows_cover_the_speech_and_nothing_before_it(
    name: str, encoders: dict[str, SpeakerEncoder]
) -> None:
    windows = encoders[name].embed(CLIP, SPEECH).windows
    assert len(windows) > 1
    assert 0.15 < windows[0].start_s <= SPEECH[0].start_s
    # GE2E leaves out a last partial of less than three quarters.
    assert windows[-1].end_s >= SPEECH[-1].end_s - 0.4
    assert all(b.start_s <= a.end_s for a, b in pairwise(windows))


@pytest.mark.parametrize("name", REAL)
def test_a_clip_of_half_a_second_is_one_window(name: str, encoders: dict[str, SpeakerEncoder]) -> None:
    clip = voice(0.5)
    got = encoders[name].embed(clip, whole(clip))
    assert len(got.windows) == 1
    np.testing.assert_allclose(got.window_vectors[0], got.vector, atol=1e-4)


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("speech", [(), (Span(1.0, 1.3),)])
def test_too_little_speech_is_refused(
    name: str, speech: tuple[Span, ...], encoders: dict[str, SpeakerEncoder]
) -> None:
    with pytest.raises(AudioDecodeError, match=r"only 0\.[03]0 s of speech"):
        encoders[name].embed(CLIP, speech)


@pytest.mark.parametrize("name", REAL)
def test_a_quiet_copy_is_the_same_voice(name: str, encoders: dict[str, SpeakerEncoder]) -> None:
    # Below -30 dBFS GE2E raises both to one level; SpeechBrain subtracts the mean log level, WavLM normalises the wave.
    loud = clip_of(np.asarray(CLIP.samples * np.float32(0.1)), CLIP.sample_rate_hz)
    quiet = clip_of(np.asarray(CLIP.samples * np.float32(0.05)), CLIP.sample_rate_hz)
    a, b = (encoders[name].embed(clip, SPEECH).vector for clip in (loud, quiet))
    assert 1.0 - float(a @ b) < 1e-4


@pytest.mark.parametrize("name", REAL)
def test_what_lies_between_the_speech_is_not_heard(name: str, encoders: dict[str, SpeakerEncoder]) -> None:
    samples = CLIP.samples.copy()
    samples[round(3.4 * 24_000) : round(3.7 * 24_000)] = 0.5
    noisy = replace(CLIP, samples=freeze(samples))
    a, b = (encoders[name].embed(clip, SPEECH).vector for clip in (CLIP, noisy))
    assert 1.0 - float(a @ b) < 1e-3


@pytest.mark.parametrize("name", REAL)
def test_the_callers_torch_settings_are_put_back(name: str, encoders: dict[str, SpeakerEncoder]) -> None:
    before = torch.backends.cudnn.rnn.fp32_precision, torch.backends.cudnn.allow_tf32
    with torch.autocast("cpu", dtype=torch.bfloat16):
        under_autocast = encoders[name].embed(CLIP, SPEECH).vector
        assert torch.is_autocast_enabled("cpu")
    assert (torch.backends.cudnn.rnn.fp32_precision, torch.backends.cudnn.allow_tf32) == before
    assert torch.is_grad_enabled()
    assert under_autocast.tobytes() == encoders[name].embed(CLIP, SPEECH).vector.tobytes()


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("save", [save_ge2e, save_wavlm])
def test_cuda_agrees_with_the_cpu(save: Callable[[Path], Path], tmp_path: Path) -> None:
    folder, store = str(save(tmp_path / "own-model")), ModelStore(tmp_path)
    a, b = (open_encoder(folder, store, device=d).embed(CLIP, SPEECH).vector for d in ("cpu", "cuda"))
    assert 1.0 - float(a @ b) < 1e-5  # TF32 gives 1e-4 and more


def test_a_folder_of_ones_own_is_named_by_its_weights(tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    names = {
        open_encoder(str(save_ge2e(tmp_path / f"{seed}" / "mine", seed=seed)), store, device="cpu").name
        for seed in (0, 1)
    }
    assert len(names) == 2
    assert all(name.startswith("mine@") and len(name) == 17 for name in names)


@pytest.mark.parametrize("model_id", ENCODERS)
def test_a_known_model_that_is_not_here_names_the_command(model_id: str, tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match=f"refprep models pull {model_id}"):
        open_encoder(model_id, ModelStore(tmp_path), device="cpu")


@pytest.mark.parametrize("model_id", ["", "resnet", "whisper-base", "no/such/folder"])
def test_what_is_no_encoder_is_a_fault_of_the_call(model_id: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Choose one of ge2e"):
        open_encoder(model_id, ModelStore(tmp_path), device="cpu")


@pytest.mark.parametrize("config", [None, "[]", '{"model_type": "wav2vec2"}', "{"])
def test_a_folder_of_something_else_is_a_fault_of_the_call(config: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    if config is not None:
        (folder / "config.json").write_text(config)
        (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(UsageError, match="no speaker encoder"):
        open_encoder(str(folder), ModelStore(tmp_path), device="cpu")
