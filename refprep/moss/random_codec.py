"""A codec of random weights in the layout of MOSS-Audio-Tokenizer v1, for tests and speed measurements: it hears noise.

Every tensor is a function of its name and the seed. With ``TINY`` and seed 0 the files are those that the recorded outputs
of the published code were made with.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from refprep.atomic import replace_folder
from refprep.engine.config import RANDOM_LABEL
from refprep.errors import UsageError
from refprep.moss.codec.config import codec_config
from refprep.moss.codec.network import CodecNetwork

Shape = tuple[int, ...]

_RECORDED_SALT = 35  # a seed without near ties between the two best entries, in any recorded choice
_LARGE = 1 << 21  # larger tensors come from torch's generator, which is six times as fast; no tiny one is
_LABEL_TEXT = """The weights in this folder are random numbers, written by refprep (codec, seed {seed}).
They are for tests and speed measurements: its codes mean nothing.
"""


@dataclass(frozen=True, slots=True)
class StackShape:
    """One transformer stage of the encoder; the decoder has the same ones the other way round."""

    inputs: int
    outputs: int
    width: int
    heads: int
    layers: int
    inner: int


@dataclass(frozen=True, slots=True)
class CodecShapes:
    """A whole codec.

    Attributes:
        patches: Steps that are folded before each stack; 1920 in all.
        stacks: Of the encoder.
        rvq_dim: Width of the residual.
    """

    patches: tuple[int, ...]
    stacks: tuple[StackShape, ...]
    rvq_dim: int


TINY = CodecShapes(
    (240, 2, 2, 2),
    (
        StackShape(240, 16, 32, 2, 2, 64),
        StackShape(32, 16, 32, 2, 2, 64),
        StackShape(32, 24, 32, 2, 2, 64),
        StackShape(48, 40, 48, 3, 3, 96),
    ),
    rvq_dim=32,
)
"""Two megabytes; the recorded outputs of the published code under tests/golden are of these."""

REAL = CodecShapes(
    (240, 2, 2, 2),
    (
        StackShape(240, 384, 768, 12, 12, 3072),
        StackShape(768, 384, 768, 12, 12, 3072),
        StackShape(768, 640, 768, 12, 12, 3072),
        StackShape(1280, 768, 1280, 20, 32, 5120),
    ),
    rvq_dim=512,
)
"""The published size: 1,774,566,400 parameters, 7.1 GB."""


def write_random_codec(
    folder: Path, *, shapes: CodecShapes = TINY, seed: int = 0, max_shard_bytes: int = 1 << 30
) -> None:
    """Write a codec of random weights; an earlier random one in the folder is replaced.

    Args:
        folder: To write.
        shapes: ``TINY``, ``REAL``, or others.
        seed: Of the weights.
        max_shard_bytes: Start another file of weights before one grows beyond; also what is held in memory.

    Raises:
        UsageError: The folder holds something else.
        MachineError: The disk refused.
    """
    is_ours = (folder / RANDOM_LABEL).is_file()
    if folder.exists() and not is_ours and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            "it holds something other than a random checkpoint", where=str(folder), fix="Name a new folder."
        )
    config = codec_json(shapes)
    with replace_folder(folder) as fresh:
        (fresh / RANDOM_LABEL).write_text(_LABEL_TEXT.format(seed=seed), encoding="utf-8")
        (fresh / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
        _write_weights(fresh, tensor_shapes(config), f"codec-{_RECORDED_SALT + seed}/", max_shard_bytes)


def codec_json(shapes: CodecShapes) -> dict[str, Any]:
    """config.json of a codec."""
    width = shapes.stacks[-1].outputs
    encoder: list[dict[str, Any]] = []
    decoder: list[dict[str, Any]] = []
    for size, stack in zip(shapes.patches, shapes.stacks, strict=True):
        patch = {"module_type": "PatchedPretransform", "patch_size": size}
        encoder += [patch, _stage(stack, stack.inputs, stack.outputs)]
        decoder = [_stage(stack, stack.outputs, stack.inputs), patch, *decoder]
    return {
        "architectures": ["MossAudioTokenizerModel"],
        "model_type": "moss-audio-tokenizer",
        "dtype": "float32",
        "code_dim": width,
        "sampling_rate": 24000,
        "downsample_rate": math.prod(shapes.patches),
        "causal_transformer_context_duration": 10,
        "encoder_kwargs": encoder,
        "decoder_kwargs": decoder,
        "quantizer_type": "rlfq",
        "quantizer_kwargs": {
            "codebook_dim": 8,
            "codebook_loss_weight": 1.0,
            "codebook_size": 1024,
            "commitment_loss_weight": 0.25,
            "input_dim": width,
            "num_quantizers": 32,
            "output_dim": width,
            "quantizer_dropout": 0.0,
            "quantizer_type": "rlfq",
            "rvq_dim": shapes.rvq_dim,
        },
        "transformers_version": "5.0.0",
    }


def tensor_shapes(config: Mapping[str, Any]) -> dict[str, Shape]:
    """Shape of every tensor, by name; nothing is allocated."""
    with torch.device("meta"):
        network = CodecNetwork(codec_config(config, where="config.json"))
    return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def _stage(stack: StackShape, inputs: int, outputs: int) -> dict[str, Any]:
    return {
        "module_type": "Transformer",
        "input_dimension": inputs,
        "output_dimension": outputs,
        "d_model": stack.width,
        "num_heads": stack.heads,
        "num_layers": stack.layers,
        "dim_feedforward": stack.inner,
        "causal": True,
        "norm": "layer_norm",
        "positional_embedding": "rope",
        "max_period": 10000,
        "gating": "none",
        "layer_scale": 0.01,
        "conv_layout": True,
    }


def _write_weights(folder: Path, shapes: Mapping[str, Shape], salt: str, max_bytes: int) -> None:
    shards = list(_shards(shapes, max_bytes))
    files = ["model.safetensors"]
    if len(shards) > 1:
        files = [f"model-{i:05d}-of-{len(shards):05d}.safetensors" for i in range(1, len(shards) + 1)]
        places = {name: file for file, shard in zip(files, shards, strict=True) for name in shard}
        total = 4 * sum(math.prod(shape) for shape in shapes.values())
        index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2), encoding="utf-8")
    for file, shard in zip(files, shards, strict=True):
        weights = {name: _weight(name, shapes[name], salt) for name in shard}
        save_file(weights, folder / file, metadata={"format": "pt"})


def _shards(shapes: Mapping[str, Shape], max_bytes: int) -> Iterator[list[str]]:
    """Names in groups below a size; a tensor that is larger has a group of its own."""
    group: list[str] = []
    filled = 0
    for name, shape in shapes.items():
        needed = 4 * math.prod(shape)
        if group and filled + needed > max_bytes:
            yield group
            group, filled = [], 0
        group.append(name)
        filled += needed
    yield group


def _weight(name: str, shape: Shape, salt: str) -> torch.Tensor:
    """Noise scaled by the kind of tensor; the order of the float operations is part of the recorded bytes."""
    noise, leaf = _noise(salt + name, shape), name.rsplit(".", 1)[-1]
    if leaf == "scale":
        return 0.35 + 0.1 * noise  # far above the 0.01 that training starts from, so that attention matters
    if leaf == "bias":
        return 0.05 * noise
    if leaf == "original0":
        return 1.0 + 0.2 * noise.abs()
    if name.endswith("codebook.weight"):
        depth = int(name.split("quantizers.")[1].split(".")[0])
        return noise * 0.5 * 0.93**depth  # later levels are finer
    if "norm" in name:
        return 1.0 + 0.1 * noise
    weight = noise / math.sqrt(max(1, math.prod(shape[1:])))
    # keep the waveform inside full scale
    return 0.06 * weight if name == "decoder.6.output_proj.weight" else weight


def _noise(text: str, shape: Shape) -> torch.Tensor:
    seed = zlib.crc32(text.encode())
    if math.prod(shape) > _LARGE:
        return torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    noise = np.random.Generator(np.random.PCG64(seed)).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(noise)
