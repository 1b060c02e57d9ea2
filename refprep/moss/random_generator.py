"""The folder of a random generator in the real layout, written whole or not at all: it speaks noise."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from refprep.atomic import replace_folder
from refprep.engine.config import RANDOM_LABEL
from refprep.errors import UsageError
from refprep.moss.config import MossKind, Positions, parse_config
from refprep.moss.load import empty_model
from refprep.moss.random_shapes import TINY, GeneratorShapes
from refprep.moss.random_weights import RandomWeights, random_weights
from refprep.moss.toy_vocabulary import ToyVocabulary, toy_vocabulary

CODEBOOK_SIZE = 1024

_LABEL_TEXT = """The weights in this folder are random numbers, written by refprep {arguments}.
They are for tests and speed measurements: what this model says is noise.
"""
_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_RATES_HZ = {MossKind.DELAY: 24_000, MossKind.LOCAL: 48_000}
_CODECS = {
    MossKind.DELAY: "OpenMOSS-Team/MOSS-Audio-Tokenizer",
    MossKind.LOCAL: "OpenMOSS-Team/MOSS-Audio-Tokenizer-v2",
}


def write_random_generator(
    folder: Path,
    name: str = "delay",
    *,
    shapes: GeneratorShapes | Mapping[str, GeneratorShapes] = TINY,
    seed: int = 0,
    max_shard_bytes: int | None = None,
) -> None:
    """Write a generator of random weights; an earlier one in the folder is replaced.

    The same arguments give the same files. Tensors are made in pieces, so that the memory stays below 1 GB.

    Args:
        folder: To write.
        name: Of the shapes where those are by name: ``delay``, ``local-1.5``, ``local-1.5-rope``, ``delay-1.7b``.
        shapes: ``TINY``, ``REAL``, or one of your own.
        seed: Of the weights.
        max_shard_bytes: Start another file before one grows beyond; None writes a single file.

    Raises:
        UsageError: An unknown name, or a folder that holds something else.
        MachineError: The disk refused.
    """
    if not isinstance(shapes, GeneratorShapes) and name not in shapes:
        raise UsageError(f"no generator is {name!r}", where=str(folder), fix=f"Use {', '.join(shapes)}.")
    is_ours = (folder / RANDOM_LABEL).is_file()
    if folder.exists() and not is_ours and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            "it holds something other than a random checkpoint", where=str(folder), fix="Name a new folder."
        )
    own = shapes if isinstance(shapes, GeneratorShapes) else shapes[name]
    vocabulary = toy_vocabulary(own.text_rows)
    values = generator_config(own, vocabulary)
    config = parse_config(values, where="config.json")
    tensors = {n: tuple(t.shape) for n, t in empty_model(config).state_dict().items()}
    weights = random_weights(config, tensors, f"{own.kind.value}-{seed}/", newline=vocabulary.newline)
    with replace_folder(folder) as fresh:
        label = _LABEL_TEXT.format(arguments=f"({name}, seed {seed})")
        (fresh / RANDOM_LABEL).write_text(label, encoding="utf-8")
        _write_json(fresh / "config.json", values, indent=2)
        _write_json(fresh / "vocab.json", vocabulary.vocab)
        (fresh / "merges.txt").write_text(vocabulary.merges_text, encoding="utf-8")
        _write_json(fresh / "tokenizer_config.json", tokenizer_config(vocabulary), indent=2)
        (fresh / "chat_template.jinja").write_text(_TEMPLATE, encoding="utf-8")
        processor = {"processor_class": f"MossTTS{own.kind.value.title()}Processor"}
        _write_json(
            fresh / "processor_config.json", processor | {"audio_tokenizer_name_or_path": _CODECS[own.kind]}
        )
        _write_shards(fresh, weights, max_shard_bytes)


def generator_config(shapes: GeneratorShapes, vocabulary: ToyVocabulary) -> dict[str, Any]:
    """config.json of a generator."""
    is_delay = shapes.kind is MossKind.DELAY
    start, end = vocabulary.marks[0 if is_delay else 1]
    name = shapes.kind.value.title()
    backbone = {
        "model_type": "qwen3",
        "vocab_size": shapes.text_rows,
        "hidden_size": shapes.hidden_size,
        "intermediate_size": shapes.intermediate_size,
        "num_hidden_layers": shapes.num_hidden_layers,
        "num_attention_heads": shapes.num_attention_heads,
        "num_key_value_heads": shapes.num_key_value_heads,
        "head_dim": shapes.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "attention_bias": False,
        "max_position_embeddings": 40960,
        "use_sliding_window": False,
        "tie_word_embeddings": False,
    }
    # Both spellings occur: nested since transformers 5, flat before.
    rope = (
        {"rope_parameters": {"rope_theta": 1_000_000, "rope_type": "default"}}
        if is_delay
        else {"rope_theta": 1_000_000}
    )
    values: dict[str, Any] = {
        "architectures": [f"MossTTS{name}Model"],
        "model_type": f"moss_tts_{shapes.kind.value}",
        "dtype": "bfloat16",
        "language_config" if is_delay else "qwen3_config": backbone | rope,
        "n_vq": shapes.n_vq,
        "audio_vocab_size": CODEBOOK_SIZE,
        "audio_pad_code": CODEBOOK_SIZE,
        "sampling_rate": _RATES_HZ[shapes.kind],
        **vocabulary.keys,
        "audio_start_token_id": start,
        "audio_end_token_id": end,
        "transformers_version": "5.0.0",
    }
    if is_delay:
        return values | {"audio_assistant_delay_slot_token_id": vocabulary.delay_slot}
    depth = {
        "model_type": "gpt2",
        "n_embd": shapes.hidden_size,
        "n_layer": shapes.depth_layers,
        "n_head": shapes.depth_heads,
        "n_positions": shapes.n_vq + 1,
        "n_inner": shapes.intermediate_size,
        "activation_function": "silu",
        "layer_norm_epsilon": 1e-6,
    }
    if shapes.depth_positions is Positions.ROPE:
        depth |= {"position_embedding_type": Positions.ROPE.value, "rope_base": 10_000.0}
    return values | {
        "gpt2_config": depth,
        "audio_codebook_sizes": [CODEBOOK_SIZE] * shapes.n_vq,
        "audio_pad_token_id": CODEBOOK_SIZE,
        "audio_assistant_slot_token_id": vocabulary.keys["audio_assistant_gen_slot_token_id"],
        "local_text_head_mode": "binary",
        "audio_tokenizer_name_or_path": _CODECS[MossKind.LOCAL],
        "tie_word_embeddings": True,
    }


def tokenizer_config(vocabulary: ToyVocabulary) -> dict[str, Any]:
    """tokenizer_config.json."""
    plain = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    added = {str(number): {"content": token, **plain} for token, number in vocabulary.control.items()}
    return {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": added,
        "bos_token": None,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 131072,
        "pad_token": "<|endoftext|>",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
        "chat_template": _TEMPLATE,
    }


def _write_shards(folder: Path, weights: RandomWeights, max_bytes: int | None) -> None:
    if max_bytes is None:
        weights.write(folder / "model.safetensors", sorted(weights.shapes))
        return
    shards = list(_shards(weights.shapes, max_bytes))
    files = [f"model-{i:05d}-of-{len(shards):05d}.safetensors" for i in range(1, len(shards) + 1)]
    for file, names in zip(files, shards, strict=True):
        weights.write(folder / file, names)
    places = {name: file for file, names in zip(files, shards, strict=True) for name in names}
    total = 2 * sum(math.prod(shape) for shape in weights.shapes.values())
    _write_json(
        folder / "model.safetensors.index.json",
        {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))},
        indent=2,
    )


def _shards(shapes: Mapping[str, tuple[int, ...]], max_bytes: int) -> Iterator[list[str]]:
    """Names in groups below a size; a tensor that is larger has a group of its own."""
    group: list[str] = []
    filled = 0
    for name in sorted(shapes):
        needed = 2 * math.prod(shapes[name])
        if group and filled + needed > max_bytes:
            yield group
            group, filled = [], 0
        group.append(name)
        filled += needed
    yield group


def _write_json(path: Path, values: Mapping[str, Any], indent: int | None = None) -> None:
    path.write_text(json.dumps(values, indent=indent, ensure_ascii=False), encoding="utf-8")
