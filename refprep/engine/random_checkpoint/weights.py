"""Random tensors that keep activations in range, each a function of its name, and the file they go to.

Small tensors come from numpy's PCG64 and are the same bits everywhere: the recorded goldens are of such checkpoints.
Tensors above ``LARGE`` (no tiny one is) come from torch's normal generator, which is six times as fast.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import torch

LARGE = 1 << 21
_CHUNK = 1 << 23
_NAMES = {torch.bfloat16: "BF16", torch.float32: "F32"}


def write_tensors(
    path: Path, shapes: Mapping[str, tuple[int, ...]], *, salt: str, dtype: torch.dtype
) -> None:
    """Write a safetensors file of random tensors, one after the other.

    Args:
        path: To write.
        shapes: By tensor name.
        salt: Goes before every name; another salt is other weights.
        dtype: Of the file.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name in sorted(shapes):
        end = offset + math.prod(shapes[name]) * dtype.itemsize
        header[name] = {"dtype": _NAMES[dtype], "shape": list(shapes[name]), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name in sorted(shapes):
            for part in tensor_parts(name, shapes[name], salt=salt):
                file.write(part.to(dtype).contiguous().view(torch.uint8).numpy().data)


def tensor_parts(name: str, shape: tuple[int, ...], *, salt: str) -> Iterator[torch.Tensor]:
    """A tensor in pieces that follow each other, so that the largest needs little memory.

    Args:
        name: In the checkpoint.
        shape: Not empty.
        salt: Goes before the name in the seed.

    Yields:
        float32; the whole tensor in its shape, or flat pieces of it.
    """
    size, seed = math.prod(shape), zlib.crc32((salt + name).encode())
    if size <= LARGE:
        noise = np.random.Generator(np.random.PCG64(seed)).standard_normal(shape).astype(np.float32)
        yield _scaled(name, shape, torch.from_numpy(noise))
        return
    generator = torch.Generator().manual_seed(seed)
    for start in range(0, size, _CHUNK):
        yield _scaled(name, shape, torch.randn(min(_CHUNK, size - start), generator=generator))


def _scaled(name: str, shape: tuple[int, ...], noise: torch.Tensor) -> torch.Tensor:
    """Noise to a weight of its kind; the order of the float operations is part of the recorded bytes."""
    leaf = name.rsplit(".", 1)[-1]
    if leaf == "initialized":
        return torch.ones(shape)
    if leaf == "cluster_usage":
        return 1.0 + noise.abs()
    if leaf in ("embed_sum", "embedding_sum"):
        return noise * _codebook_scale(name)
    if leaf in ("scale", "gamma"):
        return 0.3 + 0.1 * noise  # far above the 0.01 that training starts from, so that attention matters
    if leaf in ("alpha", "beta"):
        return 0.3 * noise
    if leaf == "bias":
        return 0.05 * noise
    if "norm" in name and len(shape) == 1:
        return 1.0 + 0.1 * noise
    if "embedding" in name:
        return 0.5 * noise
    if len(shape) == 3 and _is_transposed(name):
        return noise / math.sqrt(2 * shape[0])  # stored as (in, out, kernel)
    weight = noise / math.sqrt(max(1, math.prod(shape[1:])))
    if name.startswith("decoder.decoder."):
        return _waveform_scaled(name, weight)
    return weight * (2.0 if name.endswith("codec_head.weight") or "lm_head" in name else 1.0)


def _codebook_scale(name: str) -> float:
    """Later residual levels are finer."""
    if "first" in name or "semantic" in name:
        return 0.8
    depth = int(name.split("layers.")[1].split(".")[0])
    return float(0.8 * 0.85**depth)


def _is_transposed(name: str) -> bool:
    if not name.startswith("decoder."):
        return False
    return name.endswith(".block.1.conv.weight") or ("upsample" in name and name.endswith("0.conv.weight"))


def _waveform_scaled(name: str, weight: torch.Tensor) -> torch.Tensor:
    """Keep the waveform inside full scale and the gain of the residual units moderate."""
    is_last = name.endswith("decoder.6.conv.weight")
    weight = weight * (0.3 if ".conv2." in name else 0.2 if is_last else 0.6)
    return weight - weight.mean(dim=(1, 2), keepdim=True) if is_last else weight
