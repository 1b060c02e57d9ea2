from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_kit import save_wavlm, voice, whole
from safetensors.torch import load_file, save_file
from test_ge2e import Explosive
from transformers import Wav2Vec2FeatureExtractor, WavLMForXVector

from refprep.errors import BackendError
from refprep.models.waveform_encoder import WaveformEncoder
from refprep.models.wavlm import WavLmEncoder


def test_equals_a_direct_call(tmp_path: Path) -> None:
    folder = save_wavlm(tmp_path)
    waves = np.stack([voice(2.0, sample_rate_hz=16_000, pitch_hz=p).samples for p in (90.0, 200.0)])
    extractor = Wav2Vec2FeatureExtractor.from_pretrained(folder)
    model = WavLMForXVector.from_pretrained(folder).eval()
    inputs = extractor(list(waves), sampling_rate=16_000, return_tensors="pt", padding=True)
    with torch.no_grad():
        expected = model(**inputs).embeddings.numpy()
    got = WavLmEncoder(folder).embed_waves(list(waves))
    np.testing.assert_allclose(got, expected, atol=1e-5)


def test_a_window_does_not_depend_on_its_batch(tmp_path: Path) -> None:
    encoder: WaveformEncoder = WavLmEncoder(save_wavlm(tmp_path))
    clip = voice(20.0)
    got = encoder.embed(clip, whole(clip))
    assert len(got.windows) == 19
    last = np.asarray(encoder.embed_waves([resampled_tail(clip.samples, 2.0)])[0])
    assert 1.0 - float(last @ got.window_vectors[-1]) / float(np.linalg.norm(last)) < 1e-4


def resampled_tail(samples: np.ndarray, seconds: float) -> np.ndarray:
    from refprep.dsp.resample import resample

    return resample(samples, 24_000, 16_000)[-round(seconds * 16_000) :]


def test_opening_writes_nothing_to_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = save_wavlm(tmp_path)
    capfd.readouterr()
    WavLmEncoder(folder)
    assert tuple(capfd.readouterr()) == ("", "")


def test_half_precision_weights_are_computed_in_full(tmp_path: Path) -> None:
    folder = save_wavlm(tmp_path)
    path = folder / "model.safetensors"
    save_file({k: v.half() for k, v in load_file(path).items()}, path, metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"dtype": "float16"}))
    encoder = WavLmEncoder(folder)
    assert {p.dtype for p in encoder._model.parameters()} == {torch.float32}


def test_a_pickle_of_tensors_gives_the_same_voice(tmp_path: Path) -> None:
    folder = save_wavlm(tmp_path)
    waves = voice(2.0, sample_rate_hz=16_000).samples[None]
    expected = WavLmEncoder(folder).embed_waves(list(waves))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    np.testing.assert_array_equal(WavLmEncoder(folder).embed_waves(list(waves)), expected)


def test_a_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    folder, mark = save_wavlm(tmp_path / "model"), tmp_path / "ran"
    torch.save({"x": Explosive(mark)}, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(BackendError, match="does not load"):
        WavLmEncoder(folder)
    assert not mark.exists()


def test_a_parameter_without_weights_is_refused(tmp_path: Path) -> None:
    path = save_wavlm(tmp_path) / "model.safetensors"
    state = load_file(path)
    del state["feature_extractor.weight"]
    save_file(state, path, metadata={"format": "pt"})
    with pytest.raises(
        BackendError, match=r"1 parameters have no weights, such as feature_extractor\.weight"
    ):
        WavLmEncoder(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("config.json", '{"model_type": "wav2vec2"}', "'wav2vec2' model"),
        ("config.json", "[", "cannot be read"),
        ("config.json", None, "cannot be read"),
        ("model.safetensors", "nonsense", "does not load"),
        ("model.safetensors", None, "does not load"),
        ("preprocessor_config.json", None, "does not load"),
    ],
)
def test_a_folder_that_is_not_whole_is_refused(
    name: str, content: str | None, says: str, tmp_path: Path
) -> None:
    path = save_wavlm(tmp_path) / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(BackendError, match=says):
        WavLmEncoder(tmp_path)


def test_an_extractor_of_another_rate_is_refused(tmp_path: Path) -> None:
    folder = save_wavlm(tmp_path)
    Wav2Vec2FeatureExtractor(sampling_rate=8_000).save_pretrained(folder)
    with pytest.raises(BackendError, match="8000 Hz"):
        WavLmEncoder(folder)
