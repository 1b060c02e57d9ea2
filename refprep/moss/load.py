"""A generator in memory: configuration, model, tokenizer. Strict: every weight is used, every parameter is filled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch

from refprep.engine.config import RANDOM_LABEL
from refprep.engine.loader import fill, open_weights
from refprep.errors import DeviceError
from refprep.moss.config import GeneratorConfig, LocalConfig, MossKind, read_config
from refprep.moss.delay import DelayModel
from refprep.moss.local import LocalModel
from refprep.moss.quantized import load_quantized
from refprep.moss.request import recommended_sampling
from refprep.moss.tokenizer import MossTokenizer, load_tokenizer
from refprep.types import MossSampling

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}

_TIED = ("text_lm_head.", "audio_lm_heads.")
"""Of Local: copies of the embeddings, in the file only where it was not written by the library's own saving."""


@dataclass(frozen=True, slots=True, eq=False)
class MossCheckpoint:
    """What generation needs of a checkpoint; the codec is loaded beside it.

    Attributes:
        folder: It was read from.
        config: Of config.json.
        model: Filled and prepared.
        tokenizer: Of the text side.
    """

    folder: Path
    config: GeneratorConfig
    model: DelayModel | LocalModel
    tokenizer: MossTokenizer

    @property
    def kind(self) -> MossKind:
        """How it writes the codebooks."""
        return self.config.kind

    @property
    def sampling(self) -> MossSampling:
        """By the publisher."""
        return recommended_sampling(self.config.kind)

    @property
    def has_random_weights(self) -> bool:
        """Whether it was written by `refprep models random`: it speaks noise."""
        return (self.folder / RANDOM_LABEL).is_file()


def empty_model(config: GeneratorConfig) -> DelayModel | LocalModel:
    """A model on the ``meta`` device: names and shapes, no numbers."""
    with torch.device("meta"):
        return LocalModel(config) if isinstance(config, LocalConfig) else DelayModel(config)


def load_generator(folder: Path, *, device: torch.device, dtype: torch.dtype) -> MossCheckpoint:
    """Load a generator.

    Args:
        folder: With config.json, weights and tokenizer.
        device: To put the weights on.
        dtype: To cast them to; quantized layers keep theirs.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files do not fit each other, hold another model, or need a package that is missing.
        DeviceError: The device is out of memory.
    """
    config = read_config(folder)
    tokenizer = load_tokenizer(folder, config)
    try:
        if config.quantization is not None:
            model = load_quantized(folder, config, device=device, dtype=dtype)
        else:
            model = empty_model(config)
            tied = _TIED if isinstance(config, LocalConfig) else ()
            with torch.inference_mode():
                fill(model, open_weights(folder), elsewhere=tied, dtype=dtype, device=device)
        with torch.inference_mode():
            model.prepare(device)
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"{device} has too little memory for the weights",
            where=str(folder),
            fix="Use --device cpu, or free it.",
        ) from error
    return MossCheckpoint(folder, config, model, tokenizer)
