from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_kit import save_speechbrain, voice, whole

from refprep.errors import BackendError
from refprep.models.hyperparams import TAG, read_hyperparams
from refprep.models.speechbrain_encoder import SpeechBrainEncoder, forget_lazy_modules

KINDS = ["ecapa", "xvector"]


@pytest.mark.parametrize("kind", KINDS)
def test_equals_speechbrains_own_classifier(kind: str, tmp_path: Path) -> None:
    # It runs hyperparams.yaml, which is safe here: the kit wrote it.
    from speechbrain.inference.speaker import EncoderClassifier

    forget_lazy_modules()
    folder = save_speechbrain(tmp_path / "model", kind=kind)
    theirs = EncoderClassifier.from_hparams(
        source=str(folder), savedir=str(tmp_path / "collected"), run_opts={"device": "cpu"}
    )
    waves = np.stack([voice(2.0, sample_rate_hz=16_000, pitch_hz=p).samples for p in (90.0, 200.0)])
    expected = theirs.encode_batch(torch.from_numpy(waves)).squeeze(1).numpy()
    got = SpeechBrainEncoder(folder, name="tiny").embed_waves(list(waves))
    # SpeechBrain adds noise of 1e-5 to 9e-5 to the x-vector's pooled means; ECAPA has none.
    np.testing.assert_allclose(got, expected, atol=1e-5 if kind == "ecapa" else 1e-3)
    cosines = np.sum(got * expected, axis=1) / np.linalg.norm(got, axis=1) / np.linalg.norm(expected, axis=1)
    assert np.all(1.0 - cosines < 1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_sizes_come_from_the_weights(kind: str, tmp_path: Path) -> None:
    encoder = SpeechBrainEncoder(save_speechbrain(tmp_path, kind=kind, n_mels=13), name="tiny")
    assert encoder.dim == (24 if kind == "ecapa" else 32)
    assert encoder.default_threshold is None


def test_no_module_is_left_that_raises_when_looked_at(tmp_path: Path) -> None:
    SpeechBrainEncoder(save_speechbrain(tmp_path, kind="ecapa"), name="tiny")
    for module in list(sys.modules.values()):
        getattr(module, "__file__", None)


def test_more_than_a_minute_is_embedded_in_parts(tmp_path: Path) -> None:
    encoder = SpeechBrainEncoder(save_speechbrain(tmp_path, kind="ecapa"), name="tiny")
    clip = voice(61.0, sample_rate_hz=16_000)
    halves = [h / np.linalg.norm(h) for h in encoder.embed_waves(np.array_split(clip.samples, 2))]
    mean = np.mean(halves, axis=0)
    got = encoder.embed(clip, whole(clip))
    np.testing.assert_allclose(got.vector, mean / np.linalg.norm(mean), atol=1e-5)
    assert len(got.windows) == 60


def test_hyperparams_are_read_and_never_run(tmp_path: Path) -> None:
    folder, mark = save_speechbrain(tmp_path / "model", kind="ecapa"), tmp_path / "ran"
    yaml = folder / "hyperparams.yaml"
    yaml.write_text(f"evil: !apply:os.system ['touch {mark}']\n" + yaml.read_text())
    SpeechBrainEncoder(folder, name="tiny")
    assert not mark.exists()
    assert read_hyperparams(yaml)["evil"] == {TAG: "!apply:os.system", "args": [f"touch {mark}"]}


@pytest.mark.parametrize(
    "text",
    [
        "evil: !!python/object/apply:os.system ['true']\n",
        "- a list\n",
        "a: [\n",
        "",
        "x: " + "y" * 300_000,
        "[" * 5_000,
    ],
)
def test_hyperparams_that_are_no_settings_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hyperparams.yaml"
    path.write_text(text)
    with pytest.raises(BackendError, match=r"hyperparams\.yaml"):
        read_hyperparams(path)


def test_references_are_followed_and_a_circle_ends(tmp_path: Path) -> None:
    path = tmp_path / "hyperparams.yaml"
    path.write_text("a: 3\nb: !ref <a>\nc: [!ref <b>]\nd: !ref <d>\ne: !ref <a>/x\n")
    got = read_hyperparams(path)
    assert (got["b"], got["c"]) == (3, [3])
    assert got["e"] == {TAG: "!ref", "value": "<a>/x"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("dilations: [1, 2, 3, 4, 1]", "dilations: [1, 2, 2, 2, 1]", "dilations"),
        ("norm_type: sentence", "norm_type: batch", "norm_type"),
        ("norm_type: sentence\n    std_norm: False", "norm_type: sentence", "std_norm"),
        ("n_mels: !ref <n_mels>", "n_mels: !ref <n_mels>\n    deltas: True", "deltas"),
        ("n_mels: !ref <n_mels>", "n_mels: !ref <n_mels>\n    unheard_of: 1", "unheard_of"),
        ("n_mels: 20", "n_mels: 20\nsample_rate: 8000", "sample_rate"),
        ("ECAPA_TDNN.ECAPA_TDNN", "ResNet.ResNet", "ResNet"),
        ("compute_features: !new", "other_features: !new", "compute_features is missing"),
    ],
)
def test_another_model_or_other_features_are_refused(old: str, new: str, says: str, tmp_path: Path) -> None:
    yaml = save_speechbrain(tmp_path, kind="ecapa") / "hyperparams.yaml"
    assert old in yaml.read_text()
    yaml.write_text(yaml.read_text().replace(old, new, 1))
    with pytest.raises(BackendError, match=says):
        SpeechBrainEncoder(tmp_path, name="tiny")


@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_the_other_kind_are_refused(kind: str, tmp_path: Path) -> None:
    other = save_speechbrain(tmp_path / "other", kind="xvector" if kind == "ecapa" else "ecapa")
    folder = save_speechbrain(tmp_path / "model", kind=kind)
    (folder / "embedding_model.ckpt").write_bytes((other / "embedding_model.ckpt").read_bytes())
    with pytest.raises(BackendError, match="are not those of"):
        SpeechBrainEncoder(folder, name="tiny")


def test_a_missing_weight_is_refused(tmp_path: Path) -> None:
    path = save_speechbrain(tmp_path, kind="ecapa") / "embedding_model.ckpt"
    state = torch.load(path, weights_only=True)
    del state["asp_bn.norm.weight"]
    torch.save(state, path)
    with pytest.raises(BackendError, match="Missing key"):
        SpeechBrainEncoder(tmp_path, name="tiny")


@pytest.mark.parametrize("kind", KINDS)
def test_the_architecture_takes_the_published_sizes(kind: str) -> None:
    """The shapes of the published checkpoints; the checkpoints themselves were not to be had here."""
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
    from speechbrain.lobes.models.Xvector import Xvector

    from refprep.models.speechbrain_encoder import _make_ecapa, _make_xvector

    if kind == "ecapa":
        published = ECAPA_TDNN(80, channels=[1024] * 4 + [3072], lin_neurons=192)
        num_mels, made = _make_ecapa(published.state_dict())
    else:
        published = Xvector(in_channels=24)
        num_mels, made = _make_xvector(published.state_dict())
    assert num_mels == (80 if kind == "ecapa" else 24)
    assert {k: v.shape for k, v in made.state_dict().items()} == {
        k: v.shape for k, v in published.state_dict().items()
    }
