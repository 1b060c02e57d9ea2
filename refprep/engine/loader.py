"""Safetensors into modules: every weight is used and every parameter is filled, or an error names what is not.

A module's attribute names are the checkpoint's tensor names, so loading is a comparison of two sets of names and
shapes. Modules are built on the ``meta`` device and take the tensors one by one, so that a checkpoint is in memory once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from refprep.errors import BackendError, WeightsMissing

_WHOLE = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_FIX = "Take the whole checkpoint from its publisher again; another architecture needs another engine."


@dataclass(frozen=True, slots=True)
class WeightFiles:
    """The tensors of one checkpoint folder, in one file or in shards.

    Attributes:
        folder: That holds them.
        files: File of every tensor, by tensor name.
    """

    folder: Path
    files: Mapping[str, Path]

    def read(self, name: str) -> torch.Tensor:
        """One tensor, on the CPU, in its stored dtype."""
        with safe_open(self.files[name], framework="pt", device="cpu") as file:
            tensor: torch.Tensor = file.get_tensor(name)
        return tensor

    def sha256(self, prefix: str = "") -> str:
        """Hash of names, dtypes, shapes and bytes of the tensors under a prefix.

        The same weights have the same hash however they are sharded and whatever lies beside them.
        """
        digest = hashlib.sha256()
        for name in sorted(n for n in self.files if n.startswith(prefix)):
            tensor = self.read(name).contiguous()
            digest.update(f"{name}|{tensor.dtype}|{tuple(tensor.shape)}|".encode())
            digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


def open_weights(folder: Path) -> WeightFiles:
    """Find the tensors of a checkpoint folder.

    Raises:
        WeightsMissing: No weights in the folder, or a shard is missing.
        BackendError: A file that is no safetensors, or an index that does not fit its shards.
    """
    index = folder / _INDEX
    if index.is_file():
        return _open_shards(folder, index)
    whole = folder / _WHOLE
    if not whole.is_file():
        raise WeightsMissing(
            f"neither {_WHOLE} nor {_INDEX} is there",
            where=str(folder),
            fix="Name the folder of a checkpoint, or pull it with `refprep models pull`.",
        )
    return WeightFiles(folder, dict.fromkeys(_names(whole), whole))


def _open_shards(folder: Path, index: Path) -> WeightFiles:
    try:
        listed = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        files = {str(name): folder / str(shard) for name, shard in listed.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackendError(f"it is no index of shards: {error!r}", where=str(index), fix=_FIX) from error
    present: dict[str, Path] = {}
    for shard in sorted(set(files.values())):
        if shard.parent != folder or not shard.is_file():
            raise WeightsMissing(
                f"the shard {shard.name} is missing", where=str(folder), fix="Download the missing shard."
            )
        present |= dict.fromkeys(_names(shard), shard)
    if present != files:
        odd = sorted(n for n in present.keys() | files.keys() if present.get(n) != files.get(n))
        raise BackendError(f"it disagrees with its shards about {_some(odd)}", where=str(index), fix=_FIX)
    return WeightFiles(folder, files)


def _names(path: Path) -> list[str]:
    try:
        with safe_open(path, framework="pt") as file:
            return list(file.keys())
    except (SafetensorError, OSError) as error:
        raise BackendError(f"it is no whole safetensors file: {error}", where=str(path), fix=_FIX) from error


def fill(
    module: nn.Module,
    weights: WeightFiles,
    *,
    prefix: str = "",
    elsewhere: Collection[str] = (),
    dtype: torch.dtype | Callable[[str], torch.dtype | None] | None = None,
    device: torch.device | str = "cpu",
) -> None:
    """Give every parameter and persistent buffer of a module its tensor.

    Args:
        module: Its attribute names are the tensor names; parameters may be on the ``meta`` device.
        weights: Of the checkpoint.
        prefix: Of this module's tensors, such as ``decoder.``.
        elsewhere: Prefixes that other modules take; any further tensor is an error.
        dtype: To cast floating tensors to, or a function of the tensor's name; None keeps the stored one.
        device: To put them on.

    Raises:
        BackendError: A parameter without a tensor, a tensor without a parameter, or two shapes; all are named.
    """
    wanted = dict(module.state_dict(keep_vars=True))
    ours = {n for n in weights.files if not n.startswith(tuple(elsewhere))}
    here = {n.removeprefix(prefix) for n in ours if n.startswith(prefix)}
    strays = {n for n in ours if not n.startswith(prefix)}
    missing = sorted(prefix + n for n in wanted.keys() - here)
    unused = sorted({prefix + n for n in here - wanted.keys()} | strays)
    if missing or unused:
        parts = [f"no weights for {_some(missing)}"] * bool(missing)
        parts += [f"no place for {_some(unused)}"] * bool(unused)
        raise BackendError("; ".join(parts), where=str(weights.folder), fix=_FIX)
    state: dict[str, torch.Tensor] = {}
    for name, slot in wanted.items():
        tensor = weights.read(prefix + name)
        if tensor.shape != slot.shape:
            raise BackendError(
                f"{prefix + name} has shape {tuple(tensor.shape)}, its config asks for {tuple(slot.shape)}",
                where=str(weights.folder),
                fix=_FIX,
            )
        kind = dtype(prefix + name) if callable(dtype) else dtype
        cast = kind if kind is not None and tensor.is_floating_point() else tensor.dtype
        # clone: a tensor read from the file is a view of its mapped pages, which would keep the file open
        state[name] = tensor.to(device=device, dtype=cast, copy=True)
    module.load_state_dict(state, strict=True, assign=True)
    module.requires_grad_(False).eval()


def _some(names: list[str], shown: int = 6) -> str:
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
