"""Int8 matrices, chosen by the names of modules: a decoder is quantized as ``decoder.*``, and no encoder by accident.

Torchao does it for use. The plain matrices here do the same arithmetic with nothing but PyTorch, so that what int8 does
to a codec can be measured where torchao is not installed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  # the name everybody knows it by

from refprep.errors import BackendError
from refprep.moss.codec.network import CodecNetwork
from refprep.moss.codec.precision import Precision

Filter = Callable[[nn.Module, str], bool]

_LEVELS = 127
_TINY = 1e-30  # a row of zeros is divided by this
_TORCHAO = {
    Precision.INT8: "Int8WeightOnlyConfig",
    Precision.INT8_DYNAMIC: "Int8DynamicActivationInt8WeightConfig",
}


def in_decoder(module: nn.Module, name: str) -> bool:
    """Matrices of the decoder, by their full name in the codec; everything that encodes is left alone."""
    return isinstance(module, nn.Linear) and name.startswith("decoder.")


def in_encoder(module: nn.Module, name: str) -> bool:
    """Matrices of the encoder: what nobody may quantize, except to measure it."""
    return isinstance(module, nn.Linear) and name.startswith("encoder.")


class PlainInt8(nn.Module):
    """A matrix of int8 with a scale for each output channel, symmetric.

    Args:
        linear: Without a bias.
        dynamic: Round the states, too: each row with a scale of its own.
    """

    levels: torch.Tensor
    scales: torch.Tensor

    def __init__(self, linear: nn.Linear, *, dynamic: bool) -> None:
        super().__init__()
        weight = linear.weight.detach().float()
        scales = weight.abs().amax(dim=1).clamp_min(_TINY) / _LEVELS
        self.register_buffer("levels", (weight / scales[:, None]).round().to(torch.int8))
        self.register_buffer("scales", scales)
        self.dynamic = dynamic

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., in) to (..., out)."""
        if not self.dynamic:
            return F.linear(x, self.levels.to(x.dtype)) * self.scales.to(x.dtype)
        step = x.abs().amax(dim=-1, keepdim=True).clamp_min(_TINY) / _LEVELS
        return F.linear((x / step).round(), self.levels.to(x.dtype)) * step * self.scales.to(x.dtype)


def quantize(network: CodecNetwork, precision: Precision, which: Filter) -> int:
    """Make matrices of a network int8, in place.

    Args:
        network: Loaded, in float32.
        precision: One of the int8 ones.
        which: Says yes to a module and its full name; ``in_decoder`` unless codes are to be compared.

    Returns:
        Matrices that are int8 now.

    Raises:
        BackendError: Torchao is needed and not installed, or too old.
    """
    chosen = [(name, module) for name, module in network.named_modules() if which(module, name)]
    if precision in _TORCHAO:
        config, apply = _torchao(precision)
        apply(network, config(), filter_fn=which)
        return len(chosen)
    for name, module in chosen:
        parent, _, leaf = name.rpartition(".")
        plain = PlainInt8(module, dynamic=precision is Precision.PLAIN_INT8_DYNAMIC)
        network.get_submodule(parent).register_module(leaf, plain)
    return len(chosen)


def _torchao(precision: Precision) -> tuple[Callable[[], Any], Callable[..., Any]]:
    where = f"codec at {precision.value}"
    try:
        library = importlib.import_module("torchao.quantization")
        return getattr(library, _TORCHAO[precision]), library.quantize_
    except ImportError as error:
        raise BackendError(
            f"the package torchao is not installed, and {precision.value} matrices are its work ({error})",
            where=where,
            fix='Install it with `pip install "refprep[int8]"`, or use bfloat16 or float32.',
        ) from error
    except AttributeError as error:
        raise BackendError(
            f"this torchao has another interface: {error}",
            where=where,
            fix="Install torchao 0.10 or newer, or use bfloat16 or float32.",
        ) from error
