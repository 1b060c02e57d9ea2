"""SpeechBrain's ECAPA-TDNN and TDNN x-vector from folders in its published layout.

    hyperparams.yaml  embedding_model.ckpt  mean_var_norm_emb.ckpt  label_encoder.txt

SpeechBrain's modules do the work; its loader does not. ``EncoderClassifier.from_hparams`` runs hyperparams.yaml (see
``refprep.models.hyperparams``) and reads the checkpoints with ``torch.load`` at its default (speechbrain 1.1.2), which is
only safe from torch 2.6 on. Here the sizes come from the shapes of the weights, the rest is what both published models
(spkrec-ecapa-voxceleb, spkrec-xvect-voxceleb) use, and a hyperparams.yaml that says otherwise is refused: dilations leave
no trace in the shapes, and a wrong one would embed quietly and badly.

``mean_var_norm_emb.ckpt`` is not used: ``SpeakerRecognition.verify_batch`` compares embeddings without it too. The result
is ``EncoderClassifier.encode_batch``'s to 1e-5 (tests).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from refprep.errors import BackendError
from refprep.models.hyperparams import TAG, read_hyperparams
from refprep.models.torch_checkpoint import fill, read_checkpoint
from refprep.models.waveform_encoder import ENCODER_SAMPLE_RATE_HZ, WaveformEncoder

ECAPA_TAG = "!new:speechbrain.lobes.models.ECAPA_TDNN.ECAPA_TDNN"
XVECTOR_TAG = "!new:speechbrain.lobes.models.Xvector.Xvector"
_ECAPA_DILATIONS = (1, 2, 3, 4, 1)
_XVECTOR_DILATIONS = (1, 2, 3, 1, 1)

# Settings that change the features or the network and leave no trace in the shapes of the weights; a file may name
# them, with these values. ``left_frames`` and ``right_frames`` do nothing while ``context`` is off.
_FIXED: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "compute_features": {
        TAG: ("!new:speechbrain.lobes.features.Fbank",),
        "sample_rate": (ENCODER_SAMPLE_RATE_HZ,),
        "deltas": (False,),
        "context": (False,),
        "requires_grad": (False,),
        "n_fft": (400,),
        "win_length": (25,),
        "hop_length": (10,),
        "f_min": (0,),
        "f_max": (None, ENCODER_SAMPLE_RATE_HZ // 2),
        "filter_shape": ("triangular",),
    },
    "mean_var_norm": {
        TAG: ("!new:speechbrain.processing.features.InputNormalization",),
        "norm_type": ("sentence",),
        "std_norm": (False,),
        "mean_norm": (True,),
    },
    ECAPA_TAG: {
        "dilations": (list(_ECAPA_DILATIONS),),
        "groups": ([1] * 5,),
        "dropout": (0.0,),
        "activation": ({TAG: "!name:torch.nn.ReLU", "value": ""},),
    },
    XVECTOR_TAG: {
        "tdnn_blocks": (5,),
        "tdnn_dilations": (list(_XVECTOR_DILATIONS),),
        "activation": ({TAG: "!name:torch.nn.LeakyReLU", "value": ""},),
    },
}
_FREE = frozenset(
    {
        "left_frames",
        "right_frames",
        "n_mels",
        "input_size",
        "in_channels",
        "channels",
        "kernel_sizes",
        "lin_neurons",
    }
    | {
        "attention_channels",
        "res2net_scale",
        "se_channels",
        "global_context",
        "tdnn_channels",
        "tdnn_kernel_sizes",
    }
    | {"device"}
)  # the shapes of the weights say these, or they do nothing
_REQUIRED = {"compute_features": (TAG,), "mean_var_norm": (TAG, "norm_type", "std_norm")}


class SpeechBrainEncoder(WaveformEncoder):
    """A SpeakerEncoder on SpeechBrain's ECAPA-TDNN or x-vector network.

    Thresholds are None. SpeechBrain's own 0.25 (the default of ``verify_batch``) belongs to pairs of VoxCeleb, where
    channels differ; clips of one session lie far above it, so it would let strangers in.

    Args:
        folder: In the layout above.
        name: What voiceprints call this model.
        device: ``cpu`` or ``cuda``.

    Raises:
        BackendError: A file is missing or no checkpoint, or the folder describes another model or other features.
    """

    def __init__(self, folder: Path, *, name: str, device: str = "cpu") -> None:
        from speechbrain.lobes.features import Fbank
        from speechbrain.processing.features import InputNormalization

        forget_lazy_modules()
        kind = _check_hyperparams(folder / "hyperparams.yaml")
        path = folder / "embedding_model.ckpt"
        state = read_checkpoint(path)
        try:
            num_mels, network = (_make_ecapa if kind == ECAPA_TAG else _make_xvector)(state)
        except (KeyError, IndexError, ValueError, AttributeError) as error:
            raise BackendError(
                f"its weights are not those of {kind.rpartition('.')[2]} ({type(error).__name__}: {error})",
                where=str(path),
                fix="Take the checkpoint and hyperparams.yaml from one repository.",
            ) from error
        fill(network, state, where=path)
        with torch.no_grad():
            probe = network.eval()(torch.zeros(1, 100, num_mels))
        super().__init__(name=name, dim=int(probe.shape[-1]), device=device)
        self._features = Fbank(sample_rate=ENCODER_SAMPLE_RATE_HZ, n_mels=num_mels).eval().to(device)
        self._normalise = InputNormalization(norm_type="sentence", std_norm=False).eval().to(device)
        self._network = network.float().to(device)

    def forward(self, waves: torch.Tensor) -> torch.Tensor:
        """(N, T) float32 at 16 kHz -> (N, dim) float32: log mel, less its mean over time, through the network."""
        lengths = torch.ones(
            waves.shape[0], device=waves.device
        )  # relative: all waves of a batch are equally long
        embeddings: torch.Tensor = self._network(self._normalise(self._features(waves), lengths), lengths)
        return embeddings.squeeze(1)


def forget_lazy_modules() -> None:
    """Take SpeechBrain's stand-ins for optional packages (k2, ...) out of ``sys.modules``.

    They raise ImportError as soon as anyone looks at an attribute, and whoever walks over all modules does: hypothesis,
    for one, fails every later test of the process. As attributes of their packages they stay.
    """
    from speechbrain.utils.importutils import LazyModule

    for name, module in list(sys.modules.items()):
        if isinstance(module, LazyModule) and module.lazy_module is None:
            del sys.modules[name]


def _make_ecapa(state: Mapping[str, torch.Tensor]) -> tuple[int, torch.nn.Module]:
    """Number of mel bands and an ECAPA-TDNN of the sizes that the weights have."""
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN

    first, mfa = state["blocks.0.conv.conv.weight"], state["mfa.conv.conv.weight"]
    inner = [state[f"blocks.{i}.tdnn2.conv.conv.weight"].shape[0] for i in (1, 2, 3)]
    kernels = [state[f"blocks.{i}.res2net_block.blocks.0.conv.conv.weight"].shape[2] for i in (1, 2, 3)]
    splits = [
        key
        for key in state
        if re.fullmatch(r"blocks\.1\.res2net_block\.blocks\.\d+\.conv\.conv\.weight", key)
    ]
    attention = state["asp.tdnn.conv.conv.weight"]
    network = ECAPA_TDNN(
        int(first.shape[1]),
        lin_neurons=state["fc.conv.weight"].shape[0],
        channels=[first.shape[0], *inner, mfa.shape[0]],
        kernel_sizes=[first.shape[2], *kernels, mfa.shape[2]],
        dilations=list(_ECAPA_DILATIONS),
        attention_channels=attention.shape[0],
        res2net_scale=len(splits) + 1,  # the first split passes through and has no weights
        se_channels=state["blocks.1.se_block.conv1.conv.weight"].shape[0],
        global_context=attention.shape[1] == 3 * mfa.shape[0],
    )
    return int(first.shape[1]), network


def _make_xvector(state: Mapping[str, torch.Tensor]) -> tuple[int, torch.nn.Module]:
    """Number of mel bands and a TDNN x-vector network of the sizes that the weights have."""
    from speechbrain.lobes.models.Xvector import Xvector

    layers = [
        state[f"blocks.{3 * i}.conv.weight"] for i in range(5)
    ]  # each: convolution, activation, batch norm
    network = Xvector(
        tdnn_channels=[layer.shape[0] for layer in layers],
        tdnn_kernel_sizes=[layer.shape[2] for layer in layers],
        tdnn_dilations=list(_XVECTOR_DILATIONS),
        lin_neurons=state["blocks.16.w.weight"].shape[0],
        in_channels=layers[0].shape[1],
    )
    # SpeechBrain adds random noise of 1e-5 to 9e-5 to the pooled means, in evaluation too, so that the same clip never
    # gives the same vector twice; its mean stands in for it.
    pooling = network.blocks[15]
    pooling._get_gauss_noise = lambda shape, device="cpu": torch.full(
        tuple(shape), 5 * pooling.eps, device=device
    )
    return int(layers[0].shape[1]), network


def _check_hyperparams(path: Path) -> str:
    """Tag of the network, when all that the file says is what this module does."""
    settings = read_hyperparams(path)
    network = settings.get("embedding_model")
    kind = network.get(TAG) if isinstance(network, dict) else None
    if kind not in (ECAPA_TAG, XVECTOR_TAG):
        raise _other(path, f"embedding_model is {kind or network!r}, neither ECAPA_TDNN nor Xvector")
    if settings.get("sample_rate", ENCODER_SAMPLE_RATE_HZ) != ENCODER_SAMPLE_RATE_HZ:
        raise _other(path, f"sample_rate is {settings['sample_rate']!r}, not {ENCODER_SAMPLE_RATE_HZ}")
    for entry, fixed in (("embedding_model", kind), ("compute_features", None), ("mean_var_norm", None)):
        given = settings.get(entry)
        if not isinstance(given, dict):
            raise _other(path, f"{entry} is missing")
        for key in _REQUIRED.get(entry, ()):
            if key not in given:
                raise _other(path, f"{entry} does not say {key!r}")
        allowed = {TAG: (kind,), **_FIXED[fixed]} if fixed else _FIXED[entry]
        for key, value in given.items():
            if key not in _FREE and value not in allowed.get(key, ()):
                raise _other(path, f"{entry} has {key} = {value!r}")
    return str(kind)


def _other(path: Path, what: str) -> BackendError:
    return BackendError(
        f"{what}; this adapter covers the published ECAPA-TDNN and x-vector models",
        where=str(path),
        fix="Use speechbrain-ecapa, speechbrain-xvector, or another encoder.",
    )
