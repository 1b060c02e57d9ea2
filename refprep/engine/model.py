"""A checkpoint in memory: configuration, talker with code predictor, tokenizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

import torch
from torch import nn

from refprep.engine.config import (
    RANDOM_LABEL,
    CheckpointConfig,
    GenerationDefaults,
    read_config,
    read_generation_defaults,
)
from refprep.engine.loader import fill, open_weights
from refprep.engine.talker import Talker
from refprep.engine.tokenizer import TextTokenizer, load_tokenizer
from refprep.errors import DeviceError
from refprep.types import SamplingParams

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
"""Of the talker. float16 overflows in it: a port saw its cached decode degenerate."""

_TEXT_EMBEDDING = "talker.model.text_embedding.weight"


class TalkerTree(nn.Module):
    """Gives the talker its prefix in the checkpoint."""

    def __init__(self, config: CheckpointConfig) -> None:
        super().__init__()
        self.talker = Talker(config.talker_config)


@dataclass(frozen=True, slots=True, eq=False)
class TalkerCheckpoint:
    """What generation needs of a checkpoint; the codec is loaded beside it.

    Attributes:
        folder: It was read from.
        config: Of config.json.
        defaults: Of generation_config.json.
        talker: With its code predictor, filled and prepared.
        tokenizer: Of the text side.
    """

    folder: Path
    config: CheckpointConfig
    defaults: GenerationDefaults
    talker: Talker
    tokenizer: TextTokenizer

    @property
    def has_random_weights(self) -> bool:
        """Whether `refprep models random` wrote it: it speaks noise, and says so wherever its output is shown."""
        return (self.folder / RANDOM_LABEL).is_file()

    @property
    def sampling(self) -> SamplingParams:
        """How the checkpoint's authors sample from it."""
        names = {"subtalker_do_sample": "subtalker_dosample"}
        return SamplingParams(
            **{f.name: getattr(self.defaults, names.get(f.name, f.name)) for f in fields(SamplingParams)}
        )


def load_checkpoint(folder: Path, *, device: torch.device, dtype: torch.dtype) -> TalkerCheckpoint:
    """Load everything of a checkpoint but codec and speaker encoder.

    Args:
        folder: With config.json, weights and tokenizer.
        device: To put the weights on.
        dtype: To cast them to.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files do not fit each other, or hold another model.
        DeviceError: The device is out of memory.
    """
    config = read_config(folder)
    weights = open_weights(folder)
    tokenizer = load_tokenizer(folder, config)
    with torch.device("meta"):
        tree = TalkerTree(config)
    try:
        with torch.inference_mode():
            fill(tree, weights, elsewhere=("speaker_encoder.",), dtype=_held_as(dtype), device=device)
            tree.talker.prepare()
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"{device} has too little memory for the weights",
            where=str(folder),
            fix="Use --device cpu, or free it.",
        ) from error
    return TalkerCheckpoint(folder, config, read_generation_defaults(folder), tree.talker, tokenizer)


def _held_as(dtype: torch.dtype) -> Callable[[str], torch.dtype | None]:
    """Dtype that a tensor is held in.

    In float32 the text embedding keeps its stored dtype: a row is cast when it is looked up, which is exact, and 151,936
    rows of 2048 take 0.6 GB less.
    """
    return lambda name: None if dtype is torch.float32 and name == _TEXT_EMBEDDING else dtype
