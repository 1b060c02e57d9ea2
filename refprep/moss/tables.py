"""Matrices of several modules as one, so that one product or one look-up serves all codebooks."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn


def joined(parts: Sequence[nn.Module]) -> torch.Tensor:
    """The weights of some modules, one under the other; theirs become views of it, so nothing is held twice."""
    weights = [part.get_parameter("weight") for part in parts]
    whole = torch.cat([weight.detach() for weight in weights])
    start = 0
    for part, weight in zip(parts, weights, strict=True):
        end = start + weight.shape[0]
        part.weight = nn.Parameter(whole[start:end], requires_grad=False)
        start = end
    return whole
