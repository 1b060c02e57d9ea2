"""Weights, and states, rounded to int8 and back: what int8 computes, without a package that makes it fast."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from refprep.engine.codec.convolution import CausalConv, ConvWeights, StreamConv, StreamTransposed

Filter = Callable[[str], bool]

_LEVELS = 127
_TINY = 1e-30  # a row of zeros is divided by this


@torch.no_grad()
def round_weights(network: nn.Module, which: Filter) -> int:
    """Give matrices and convolutions of a codec the values that int8 can hold, with a scale for each output channel.

    Args:
        network: Loaded, in float32; changed.
        which: Says yes to the full name of a module.

    Returns:
        Matrices and convolutions that are rounded now.
    """
    count = 0
    for name, module in network.named_modules():
        if which(name) and (found := _weight(module)) is not None:
            weight, outputs = found
            rounded(weight, outputs)
            count += 1
    return count


def round_states(network: nn.Module, which: Filter) -> None:
    """Round what matrices and convolutions of an encoder take, too, with a scale for each step in time.

    Args:
        network: Changed: its modules have hooks from now on.
        which: Says yes to the full name of a module.
    """
    for name, module in network.named_modules():
        if which(name) and isinstance(module, nn.Linear | CausalConv):
            channels = -1 if isinstance(module, nn.Linear) else 1
            module.register_forward_pre_hook(partial(_round_inputs, channels=channels))


def _round_inputs(
    module: nn.Module, inputs: tuple[torch.Tensor, ...], *, channels: int
) -> tuple[torch.Tensor, ...]:
    x, *rest = inputs
    step = x.abs().amax(dim=channels, keepdim=True).clamp_min(_TINY) / _LEVELS
    return ((x / step).round() * step, *rest)


def rounded(weight: torch.Tensor, outputs: int) -> None:
    """Round a weight in place; dimension ``outputs`` has a scale for each of its places."""
    others = tuple(d for d in range(weight.dim()) if d != outputs)
    step = weight.abs().amax(dim=others, keepdim=True).clamp_min(_TINY) / _LEVELS
    weight.copy_((weight / step).round() * step)


def _weight(module: nn.Module) -> tuple[torch.Tensor, int] | None:
    """The weight of a layer, and the dimension of its outputs."""
    if isinstance(module, nn.Linear | ConvWeights):
        return module.weight, 0
    if isinstance(module, StreamConv):
        return module.taps, 2
    if isinstance(module, StreamTransposed):
        return module.taps, 1
    return None
