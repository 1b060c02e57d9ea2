"""The folder of a random checkpoint, written whole or not at all."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from refprep.atomic import replace_folder
from refprep.engine.codec.config import CodecConfig
from refprep.engine.codec.decoder import DecoderNetwork
from refprep.engine.codec.encoder import EncoderNetwork
from refprep.engine.config import RANDOM_LABEL, CheckpointConfig, ModelKind
from refprep.engine.json_config import typed
from refprep.engine.model import TalkerTree
from refprep.engine.random_checkpoint import configs
from refprep.engine.random_checkpoint.shapes import SIZES, TINY, CheckpointShapes, CodecShapes
from refprep.engine.random_checkpoint.toy_tokenizer import toy_tokenizer
from refprep.engine.random_checkpoint.weights import write_tensors
from refprep.engine.speaker import SpeakerConfig, SpeakerNetwork
from refprep.errors import UsageError

Tensors = Mapping[str, tuple[int, ...]]

_LABEL_TEXT = """The weights in this folder are random numbers, written by refprep {arguments}.
They are for tests and speed measurements: what this model says is noise.
"""


def write_random_checkpoint(
    folder: Path,
    kind: ModelKind | str = ModelKind.BASE,
    size: str = "0b6",
    *,
    shapes: CheckpointShapes | Mapping[str, CheckpointShapes] = TINY,
    seed: int = 0,
    max_shard_bytes: int | None = None,
) -> None:
    """Write a checkpoint of random weights; an earlier one in the folder is replaced.

    The same arguments give the same files. The largest tensor is made in pieces, so that the memory stays below 1 GB.

    Args:
        folder: To write.
        kind: ``base``, ``custom_voice`` or ``voice_design``.
        size: ``0b6`` or ``1b7``: the name that config.json gives, and the shapes where those are by size.
        shapes: ``TINY``, ``REAL``, or one of your own.
        seed: Of the talker's and the speaker encoder's weights; the codec is the same for every seed.
        max_shard_bytes: Start another file of talker weights before one grows beyond; None writes a single file.

    Raises:
        UsageError: An unknown kind or size, or a folder that holds something else.
        MachineError: The disk refused.
    """
    if kind not in tuple(ModelKind) or size not in SIZES:
        known = f"{', '.join(ModelKind)}; {', '.join(SIZES)}"
        raise UsageError(
            f"no checkpoint is {kind!r} of size {size!r}", where=str(folder), fix=f"Use {known}."
        )
    if (
        folder.exists()
        and not (folder / RANDOM_LABEL).is_file()
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise UsageError(
            "it holds something other than a random checkpoint", where=str(folder), fix="Name a new folder."
        )
    kind = ModelKind(kind)
    own = shapes if isinstance(shapes, CheckpointShapes) else shapes[size]
    tokenizer = toy_tokenizer(own.text_rows)
    config = configs.model_config(kind, size, own, tokenizer.control, tokenizer.assistant_id)
    with replace_folder(folder) as fresh:
        label = _LABEL_TEXT.format(arguments=f"(kind {kind}, size {size}, seed {seed})")
        (fresh / RANDOM_LABEL).write_text(label, encoding="utf-8")
        _write_json(fresh / "config.json", config, indent=2)
        _write_json(fresh / "generation_config.json", configs.GENERATION, indent=2)
        _write_json(fresh / "vocab.json", tokenizer.vocab)
        (fresh / "merges.txt").write_text(tokenizer.merges_text, encoding="utf-8")
        _write_json(fresh / "tokenizer_config.json", configs.tokenizer_config(tokenizer.control), indent=2)
        _write_json(fresh / "preprocessor_config.json", configs.PREPROCESSOR)
        _write_shards(fresh, _model_tensors(config), f"{kind}-{size}-{seed}/", max_shard_bytes)
        _write_codec(fresh / "speech_tokenizer", own.codec)


def _write_codec(folder: Path, shapes: CodecShapes) -> None:
    folder.mkdir()
    config = configs.codec_config(shapes)
    _write_json(folder / "config.json", config, indent=2)
    _write_json(folder / "configuration.json", configs.CODEC_TASK)
    _write_json(folder / "preprocessor_config.json", configs.CODEC_PREPROCESSOR)
    write_tensors(folder / "model.safetensors", _codec_tensors(config), salt="codec/", dtype=torch.float32)


def _model_tensors(config: Mapping[str, Any]) -> Tensors:
    with torch.device("meta"):
        found = _tensors(TalkerTree(typed(CheckpointConfig, config, where="config.json")))
        speaker = config.get("speaker_encoder_config")
        if speaker is not None:
            found |= _tensors(
                SpeakerNetwork(typed(SpeakerConfig, speaker, where="config.json")), "speaker_encoder."
            )
    return found


def _codec_tensors(values: Mapping[str, Any]) -> Tensors:
    config = typed(CodecConfig, values, where="speech_tokenizer/config.json")
    with torch.device("meta"):
        encoder, decoder = EncoderNetwork(config.encoder_config), DecoderNetwork(config.decoder_config)
    return _tensors(encoder, "encoder.") | _tensors(decoder, "decoder.")


def _tensors(network: nn.Module, prefix: str = "") -> dict[str, tuple[int, ...]]:
    return {prefix + name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}


def _write_shards(folder: Path, tensors: Tensors, salt: str, max_bytes: int | None) -> None:
    dtype = torch.bfloat16
    if max_bytes is None:
        write_tensors(folder / "model.safetensors", tensors, salt=salt, dtype=dtype)
        return
    shards = list(_shards(tensors, max_bytes, dtype.itemsize))
    files = [f"model-{i:05d}-of-{len(shards):05d}.safetensors" for i in range(1, len(shards) + 1)]
    for file, shard in zip(files, shards, strict=True):
        write_tensors(folder / file, shard, salt=salt, dtype=dtype)
    total = sum(math.prod(shape) for shape in tensors.values()) * dtype.itemsize
    places = {name: file for file, shard in zip(files, shards, strict=True) for name in shard}
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    _write_json(folder / "model.safetensors.index.json", index, indent=2)


def _shards(tensors: Tensors, max_bytes: int, itemsize: int) -> Iterator[dict[str, tuple[int, ...]]]:
    """Tensors by name, in groups below a size; one that is larger has a group of its own."""
    group: dict[str, tuple[int, ...]] = {}
    filled = 0
    for name in sorted(tensors):
        needed = math.prod(tensors[name]) * itemsize
        if group and filled + needed > max_bytes:
            yield group
            group, filled = {}, 0
        group[name] = tensors[name]
        filled += needed
    yield group


def _write_json(path: Path, values: Mapping[str, Any], indent: int | None = None) -> None:
    path.write_text(json.dumps(values, indent=indent, ensure_ascii=False), encoding="utf-8")
