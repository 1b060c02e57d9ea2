"""Modules that turn their stored tensors into what the forward pass reads, once, after loading."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import nn


class Prepared(nn.Module, ABC):
    """A module whose parameters are the checkpoint's and whose forward pass reads derived buffers."""

    @abstractmethod
    def prepare(self) -> None:
        """Derive the buffers, in float32, and drop the parameters they came from."""

    def keep(self, name: str, tensor: torch.Tensor) -> None:
        """Hold a derived tensor; it moves with the module and is no part of its state_dict."""
        self.register_buffer(name, tensor.contiguous(), persistent=False)


@torch.no_grad()
def prepare(network: nn.Module) -> None:
    """Prepare every module of a network; afterwards it can no longer take weights."""
    for module in list(network.modules()):
        if isinstance(module, Prepared):
            module.prepare()
