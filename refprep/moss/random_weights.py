"""Random tensors of a generator, each a function of its name, and what makes their text channel walk through an answer.

Small tensors come from numpy's PCG64 and are the same bits everywhere: upstream's results were recorded of them. Tensors
above ``LARGE`` (no tiny one is) are made in pieces of whole rows by torch's generator.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from refprep.moss.config import DelayConfig, GeneratorConfig

LARGE = 1 << 21
_CHUNK = 1 << 23
_DELAY_EMBEDDING, _DELAY_HEAD = "language_model.embed_tokens.weight", "lm_heads.0.weight"
_LOCAL_BIAS, _LOCAL_HEAD = "local_transformer.ln_f.bias", "local_text_lm_head.weight"

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RandomWeights:
    """All tensors of a generator.

    Attributes:
        shapes: By name.
        salt: Goes before every name; another salt is other weights.
        pushes: What is added to some rows of a tensor, float32.
    """

    shapes: Mapping[str, Shape]
    salt: str
    pushes: Mapping[str, Mapping[int, torch.Tensor]]

    def write(self, path: Path, names: list[str]) -> None:
        """Write some tensors to a safetensors file in bfloat16, one piece after the other."""
        header: dict[str, object] = {"__metadata__": {"format": "pt"}}
        offset = 0
        for name in names:
            end = offset + math.prod(self.shapes[name]) * torch.bfloat16.itemsize
            header[name] = {"dtype": "BF16", "shape": list(self.shapes[name]), "data_offsets": [offset, end]}
            offset = end
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with path.open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for name in names:
                for part in self._parts(name):
                    file.write(part.contiguous().view(torch.uint8).numpy().data)

    def _parts(self, name: str) -> Iterator[torch.Tensor]:
        pushes = self.pushes.get(name, {})
        for start, part in pieces(name, self.shapes[name], self.salt):
            for row, push in pushes.items():
                if start <= row < start + len(part):
                    part[row - start] = (part[row - start].float() + push).to(torch.bfloat16)
            yield part


def random_weights(
    config: GeneratorConfig, shapes: Mapping[str, Shape], salt: str, *, newline: int
) -> RandomWeights:
    """Tensors of a generator.

    Delay's text head is pushed along embeddings, so that greedily a newline leads to audio_start, that to slots, and
    audio_end to im_end. Local's is pushed along the bias of the last norm, towards going on.
    """
    pushes: dict[int, torch.Tensor] = {}
    if isinstance(config, DelayConfig):
        ids, width = config.ids, shapes[_DELAY_EMBEDDING]

        def unit(token: int) -> torch.Tensor:
            row = row_of(_DELAY_EMBEDDING, width, salt, token).float()
            return torch.div(row, row.norm())

        start, slot = ids.audio_start_token_id, ids.audio_assistant_gen_slot_token_id
        pushes[start] = 6.0 * unit(newline)
        pushes[ids.im_end_token_id] = 6.0 * unit(ids.audio_end_token_id)
        pushes[slot] = 0.6 * unit(start) + 0.25 * unit(slot)
        return RandomWeights(shapes, salt, {_DELAY_HEAD: pushes})
    (_, bias), *_ = pieces(_LOCAL_BIAS, shapes[_LOCAL_BIAS], salt)
    pushes[0] = 0.5 * bias.float() / bias.float().norm()
    return RandomWeights(shapes, salt, {_LOCAL_HEAD: pushes})


def pieces(name: str, shape: Shape, salt: str) -> Iterator[tuple[int, torch.Tensor]]:
    """First row and bfloat16 rows of a tensor, piece by piece."""
    if math.prod(shape) <= LARGE:
        rng = np.random.Generator(np.random.PCG64(zlib.crc32((salt + name).encode())))
        noise = torch.from_numpy(rng.standard_normal(shape).astype(np.float32))
        yield 0, _scaled(name, noise, shape).to(torch.bfloat16)
        return
    step = max(1, _CHUNK // math.prod(shape[1:]))
    for start in range(0, shape[0], step):
        yield start, _piece(name, shape, salt, start, step)


def row_of(name: str, shape: Shape, salt: str, row: int) -> torch.Tensor:
    """One row of a tensor, bfloat16."""
    if math.prod(shape) <= LARGE:
        return next(part for _, part in pieces(name, shape, salt))[row]
    step = max(1, _CHUNK // math.prod(shape[1:]))
    return _piece(name, shape, salt, row - row % step, step)[row % step]


def _piece(name: str, shape: Shape, salt: str, start: int, step: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(zlib.crc32(f"{salt}{name}#{start}".encode()))
    noise = torch.randn(min(step, shape[0] - start), *shape[1:], generator=generator)
    return _scaled(name, noise, shape).to(torch.bfloat16)


def _scaled(name: str, noise: torch.Tensor, shape: Shape) -> torch.Tensor:
    """Noise to a weight of its kind; the order of the float operations is part of the recorded bytes."""
    if name.endswith(".bias"):
        return (0.5 if "ln_f" in name else 0.05) * noise
    if ("norm" in name or ".ln_" in name) and len(shape) == 1:
        return 1.0 + 0.1 * noise
    if name.startswith(("emb_ext", "audio_embeddings")):
        return 0.3 * noise
    if "embed_tokens" in name:
        return 1.0 * noise
    if "wpe" in name:
        return 0.4 * noise
    weight = noise / math.sqrt(max(1, math.prod(shape[1:])))
    scale = 2.0 if name.startswith("lm_heads") else 0.7 if name.startswith("local_text_lm_head") else 1.0
    return weight * scale
