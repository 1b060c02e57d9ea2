"""Clips of synthetic voices, and tiny random checkpoints of every encoder in its published layout."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from refprep.pipeline.decode import pcm_sha256
from refprep.types import AudioSource, Clip, Downmix, SampleFormat, Samples, Span, freeze

ECAPA_YAML = """\
# Model: ECAPA for speaker verification
n_mels: {n_mels}
pretrained_path: {folder}
out_n_neurons: 3
compute_features: !new:speechbrain.lobes.features.Fbank
    n_mels: !ref <n_mels>
mean_var_norm: !new:speechbrain.processing.features.InputNormalization
    norm_type: sentence
    std_norm: False
embedding_model: !new:speechbrain.lobes.models.ECAPA_TDNN.ECAPA_TDNN
    input_size: !ref <n_mels>
    channels: [16, 16, 16, 16, 48]
    kernel_sizes: [5, 3, 3, 3, 1]
    dilations: [1, 2, 3, 4, 1]
    attention_channels: 8
    lin_neurons: 24
"""
XVECTOR_YAML = """\
# Model: xvector for speaker verification
n_mels: {n_mels}
pretrained_path: {folder}
out_n_neurons: 3
compute_features: !new:speechbrain.lobes.features.Fbank
    n_mels: !ref <n_mels>
mean_var_norm: !new:speechbrain.processing.features.InputNormalization
    norm_type: sentence
    std_norm: False
embedding_model: !new:speechbrain.lobes.models.Xvector.Xvector
    in_channels: !ref <n_mels>
    activation: !name:torch.nn.LeakyReLU
    tdnn_blocks: 5
    tdnn_channels: [16, 16, 16, 16, 40]
    tdnn_kernel_sizes: [5, 3, 3, 1, 1]
    tdnn_dilations: [1, 2, 3, 1, 1]
    lin_neurons: 32
"""
_REST_YAML = """\
classifier: !new:speechbrain.lobes.models.ECAPA_TDNN.Classifier
    input_size: {dim}
    out_neurons: !ref <out_n_neurons>
mean_var_norm_emb: !new:speechbrain.processing.features.InputNormalization
    norm_type: global
    std_norm: False
modules:
    compute_features: !ref <compute_features>
    mean_var_norm: !ref <mean_var_norm>
    embedding_model: !ref <embedding_model>
    mean_var_norm_emb: !ref <mean_var_norm_emb>
    classifier: !ref <classifier>
label_encoder: !new:speechbrain.dataio.encoder.CategoricalEncoder
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        embedding_model: !ref <embedding_model>
        mean_var_norm_emb: !ref <mean_var_norm_emb>
        label_encoder: !ref <label_encoder>
    paths:
        embedding_model: !ref <pretrained_path>/embedding_model.ckpt
        mean_var_norm_emb: !ref <pretrained_path>/mean_var_norm_emb.ckpt
        label_encoder: !ref <pretrained_path>/label_encoder.txt
"""


def clip_of(samples: Samples, sample_rate_hz: int, path: str = "voice.wav") -> Clip:
    frozen = freeze(samples)
    source = AudioSource(
        path=path,
        file_sha256="0" * 64,
        container="wav",
        codec="pcm_f32le",
        sample_format=SampleFormat.FLOAT,
        num_channels=1,
        declared_duration_s=None,
        decoded_duration_s=frozen.shape[0] / sample_rate_hz,
        downmix=Downmix.NONE,
        channel_peaks=(1.0,),
    )
    return Clip(pcm_sha256(frozen, sample_rate_hz), source, frozen, sample_rate_hz)


def voice(duration_s: float, *, pitch_hz: float = 120.0, sample_rate_hz: int = 24_000, seed: int = 0) -> Clip:
    """A buzz with slow changes of level and a little noise: not speech, but every network hears something."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(duration_s * sample_rate_hz)) / sample_rate_hz
    tone = sum(np.sin(2 * np.pi * pitch_hz * k * t + k) / k for k in range(1, 20))
    level = 0.6 + 0.4 * np.sin(2 * np.pi * 3.1 * t)
    samples = 0.05 * tone * level + 0.002 * rng.standard_normal(t.shape[0])
    return clip_of(np.asarray(samples, dtype=np.float32), sample_rate_hz)


def whole(clip: Clip) -> tuple[Span, ...]:
    return (Span(0.0, clip.duration_s),)


def save_ge2e(folder: Path, *, seed: int = 0) -> Path:
    """Random weights in Resemblyzer's layout, with the two scalars of its loss."""
    from refprep.models.ge2e import Ge2eNetwork

    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    state = dict(Ge2eNetwork().state_dict())
    # A positive bias: random weights would leave half the vector, or all of it, at zero.
    state["linear.bias"] = state["linear.bias"].abs() + 0.1
    state |= {"similarity_weight": torch.tensor([10.0]), "similarity_bias": torch.tensor([-5.0])}
    torch.save({"step": 1, "model_state": state, "optimizer_state": {}}, folder / "pretrained.pt")
    return folder


def save_speechbrain(folder: Path, *, kind: str, n_mels: int = 20, seed: int = 0) -> Path:
    """A tiny random ``ecapa`` or ``xvector`` model with every file of the published repositories."""
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
    from speechbrain.lobes.models.Xvector import Xvector

    from refprep.models.speechbrain_encoder import forget_lazy_modules

    forget_lazy_modules()
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    network: torch.nn.Module
    if kind == "ecapa":
        dim, text = 24, ECAPA_YAML
        network = ECAPA_TDNN(n_mels, channels=[16, 16, 16, 16, 48], attention_channels=8, lin_neurons=dim)
    else:
        dim, text = 32, XVECTOR_YAML
        network = Xvector(in_channels=n_mels, tdnn_channels=[16, 16, 16, 16, 40], lin_neurons=dim)
    for name, buffer in network.named_buffers():  # trained statistics are neither 0 nor 1
        if "running" in name:
            buffer.copy_(torch.rand_like(buffer) + 0.5)
    torch.save(network.state_dict(), folder / "embedding_model.ckpt")
    stats = {"count": 1, "glob_mean": torch.zeros(dim), "glob_std": torch.ones(dim)}
    torch.save(stats, folder / "mean_var_norm_emb.ckpt")
    (folder / "label_encoder.txt").write_text("'a' => 0\n'b' => 1\n================\n'starting_index' => 0\n")
    yaml = text.format(n_mels=n_mels, folder=folder) + _REST_YAML.format(dim=dim)
    (folder / "hyperparams.yaml").write_text(yaml, encoding="utf-8")
    return folder


def save_wavlm(folder: Path, *, seed: int = 0) -> Path:
    """A tiny random WavLM x-vector, as ``save_pretrained`` writes it."""
    from transformers import Wav2Vec2FeatureExtractor, WavLMConfig, WavLMForXVector

    torch.manual_seed(seed)
    config = WavLMConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        conv_dim=(16, 16, 16, 16, 16, 16, 16),
        num_conv_pos_embeddings=16,
        num_conv_pos_embedding_groups=4,
        tdnn_dim=(24, 24, 24, 24, 40),
        xvector_output_dim=20,
        num_labels=3,
        use_weighted_layer_sum=True,
    )
    WavLMForXVector(config).save_pretrained(folder)
    Wav2Vec2FeatureExtractor(sampling_rate=16_000, do_normalize=True).save_pretrained(folder)
    return folder
