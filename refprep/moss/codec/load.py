"""A codec's folder to its network, one side or both; and what its files say before any weight is read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open

from refprep.engine.loader import WeightFiles, fill, open_weights
from refprep.errors import BackendError, DeviceError
from refprep.moss.codec.config import CodecConfig, read_codec_config
from refprep.moss.codec.network import CodecNetwork

ENCODER, QUANTIZER, DECODER = "encoder.", "quantizer.", "decoder."

_DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "BF16": "bfloat16",
    "F16": "float16",
    "I8": "int8",
    "U8": "uint8",
}
# Names that earlier versions of the published code wrote.
_OLDER = (
    (re.compile(r"\.self_attn\.in_proj_weight$"), ".self_attn.in_projs.0.weight"),
    (re.compile(r"\.self_attn\.out_proj\.weight$"), ".self_attn.out_projs.0.weight"),
    (re.compile(r"\.weight_g$"), ".parametrizations.weight.original0"),
    (re.compile(r"\.weight_v$"), ".parametrizations.weight.original1"),
)


@dataclass(frozen=True, slots=True)
class CodecFiles(WeightFiles):
    """The tensors of a codec under their present names, whatever names the files have.

    Attributes:
        stored: Name in the file, by present name.
    """

    stored: dict[str, str]

    def read(self, name: str) -> torch.Tensor:
        """One tensor, on the CPU, in its stored dtype."""
        with safe_open(self.files[name], framework="pt", device="cpu") as file:
            tensor: torch.Tensor = file.get_tensor(self.stored[name])
        return tensor

    def dtypes(self, prefixes: Iterable[str]) -> list[str]:
        """Of the tensors under some prefixes, from the headers alone; sorted names of types."""
        wanted = tuple(prefixes)
        by_file: dict[Path, list[str]] = {}
        for name in (n for n in self.files if n.startswith(wanted)):
            by_file.setdefault(self.files[name], []).append(self.stored[name])
        found: set[str] = set()
        for path, names in by_file.items():
            with safe_open(path, framework="np") as file:
                found |= {file.get_slice(name).get_dtype() for name in names}
        return sorted(_DTYPES.get(kind, kind.lower()) for kind in found)

    def sha256_of(self, prefixes: Iterable[str]) -> str:
        """One hash of the tensors under some prefixes; the same for every naming and sharding."""
        return hashlib.sha256("".join(self.sha256(p) for p in prefixes).encode("ascii")).hexdigest()


def open_codec(folder: Path) -> CodecFiles:
    """Find the tensors of a codec.

    Raises:
        WeightsMissing: No weights in the folder, or a shard is missing.
        BackendError: A file that is no safetensors, or one tensor under two names.
    """
    weights = open_weights(folder)
    stored: dict[str, str] = {}
    for name in weights.files:
        now = name
        for older, newer in _OLDER:
            now = older.sub(newer, now)
        if now in stored:
            raise BackendError(
                f"{now} is there under two names, {stored[now]} and {name}",
                where=str(folder),
                fix="Take the whole checkpoint from its publisher again.",
            )
        stored[now] = name
    files = {now: weights.files[name] for now, name in stored.items()}
    return CodecFiles(folder, files, stored)


def load_network(
    folder: Path,
    device: torch.device | str,
    *,
    encoder: bool = False,
    decoder: bool = False,
    dtype: torch.dtype = torch.float32,
) -> CodecNetwork:
    """Load the quantizer and one side or both.

    Args:
        folder: Of the codec.
        device: Where it will run.
        encoder: Whether to load it.
        decoder: Whether to load it.
        dtype: Of the sides; the quantizer is float32.

    Raises:
        WeightsMissing: A file is not there.
        BackendError: The files are no codec of this kind, or do not fit each other.
        DeviceError: The device has too little memory.
    """
    config, files = read_codec_config(folder), open_codec(folder)
    with torch.device("meta"):
        network = CodecNetwork(config, encoder=encoder, decoder=decoder)
    left_out = [prefix for prefix, used in ((ENCODER, encoder), (DECODER, decoder)) if not used]
    try:
        fill(
            network,
            files,
            elsewhere=left_out,
            dtype=lambda name: torch.float32 if name.startswith(QUANTIZER) else dtype,
            device=device,
        )
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            f"{device} has too little memory for the codec",
            where=str(folder),
            fix="Use --device cpu, or free it.",
        ) from error
    return network


def count_parameters(config: CodecConfig) -> dict[str, int]:
    """Parameters of ``encoder``, ``quantizer`` and ``decoder``; nothing is allocated."""
    with torch.device("meta"):
        network = CodecNetwork(config)
    sides = {"encoder": network.encoder, "quantizer": network.quantizer, "decoder": network.decoder}
    return {name: sum(p.numel() for p in side.parameters()) for name, side in sides.items()}
