"""The codec's module tree: its attribute names are the checkpoint's tensor names.

name     shape                           meaning
wave     (batch, frames * 1920)          24 kHz, whole frames
hidden   (batch, frames, width)          of the encoder, before the quantizer
codes    (batch, frames, n)              int64, codebook 0 first

A tree holds the quantizer and one side or both: whoever encodes has no use for the decoder's 3.3 GB.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import nn

from refprep.moss.codec.attention import RingView, View, WholeView
from refprep.moss.codec.config import CodecConfig, PatchStage
from refprep.moss.codec.quantizer import Quantizer
from refprep.moss.codec.stages import Fold, Stack, Unfold
from refprep.moss.codec.stream import CodecState


class CodecNetwork(nn.Module):
    """Encoder, quantizer and decoder; ``encoder`` or ``decoder`` is empty where that side is left out.

    Attributes:
        config: Shapes.
        tensor_names: Of every parameter, as the checkpoint calls them.
    """

    def __init__(self, config: CodecConfig, *, encoder: bool = True, decoder: bool = True) -> None:
        super().__init__()
        self.config = config
        self.encoder = _side(config, folds=True) if encoder else nn.ModuleList()
        self.quantizer = Quantizer(config.quantizer)
        self.decoder = _side(config, folds=False) if decoder else nn.ModuleList()
        self.tensor_names = frozenset(name for name, _ in self.named_parameters())

    @property
    def decoder_stacks(self) -> tuple[Stack, ...]:
        """Those with a memory, in order."""
        return tuple(stage for stage in self.decoder if isinstance(stage, Stack))

    def hidden(self, wave: torch.Tensor, *, short_ring: int | None = None) -> torch.Tensor:
        """(batch, frames * 1920) samples to (batch, frames, width); ``short_ring`` in frames, see ``WholeView``."""
        x = wave[..., None].to(_dtype_of(self.encoder))
        return _run(self.encoder, x, _whole_views(self.encoder, x.device, x.shape[1], short_ring, folds=True))

    def encode(self, wave: torch.Tensor) -> torch.Tensor:
        """(batch, frames * 1920) samples to (batch, frames, levels) int64."""
        codes, _ = self.quantizer.encode(self.hidden(wave))
        return codes

    def decode(self, codes: torch.Tensor, *, short_ring: int | None = None) -> torch.Tensor:
        """(batch, frames, n) to (batch, frames * 1920), in one pass; ``short_ring`` in frames, see ``WholeView``."""
        x = self.quantizer.decode(codes).to(_dtype_of(self.decoder))
        views = _whole_views(self.decoder, x.device, x.shape[1], short_ring, folds=False)
        return _run(self.decoder, x, views).squeeze(-1)

    def step(self, codes: torch.Tensor, state: CodecState, rows: torch.Tensor | None = None) -> torch.Tensor:
        """(batch, n, levels) next frames of streams to (batch, n * 1920); their rings move on, their counters do not."""
        before = state.frames if rows is None else state.frames.index_select(0, rows)
        views = (
            RingView(ring, before * stack.per_frame, codes.shape[1] * stack.per_frame, stack.window, rows)
            for stack, ring in zip(self.decoder_stacks, state.rings, strict=True)
        )
        x = self.quantizer.decode(codes).to(_dtype_of(self.decoder))
        return _run(self.decoder, x, views).squeeze(-1)


def _side(config: CodecConfig, *, folds: bool) -> nn.ModuleList:
    """The stages of one side, each with its rate."""
    per_frame = config.downsample_rate if folds else 1
    found: list[nn.Module] = []
    for stage in config.encoder if folds else config.decoder:
        if isinstance(stage, PatchStage):
            found.append(Fold(stage) if folds else Unfold(stage))
            per_frame = per_frame // stage.patch_size if folds else per_frame * stage.patch_size
        else:
            rate_hz = config.sampling_rate * per_frame / config.downsample_rate
            found.append(Stack(stage, per_frame=per_frame, window=int(rate_hz * config.context_s)))
    return nn.ModuleList(found)


def _whole_views(
    stages: nn.ModuleList, device: torch.device, length: int, short_ring: int | None, *, folds: bool
) -> Iterator[View]:
    """Views of a clip at the rate of every stack."""
    for stage in stages:
        if isinstance(stage, Stack):
            chunk = None if short_ring is None else short_ring * stage.per_frame
            yield WholeView(length, stage.window, device, short_ring=chunk)
        elif isinstance(stage, Fold | Unfold):
            length = length // stage.size if folds else length * stage.size


def _run(stages: nn.ModuleList, x: torch.Tensor, views: Iterator[View]) -> torch.Tensor:
    for stage in stages:
        x = stage(x, next(views)) if isinstance(stage, Stack) else stage(x)
    return x


def _dtype_of(stages: nn.ModuleList) -> torch.dtype:
    return next(stage.dtype for stage in stages if isinstance(stage, Stack))
