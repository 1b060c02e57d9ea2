"""CodeCacheEntry <-> the bytes of its file: safetensors with one string of metadata, nothing pickled.

    codes               (frames, codebooks) int32
    speaker_embedding   (D,) float32; not there where the key names no speaker encoder
    __metadata__        {"refprep": JSON: layout_version, key, num_samples, created_by, content_sha256}

``content_sha256`` is over everything else, so that a changed byte is found wherever it is. One string keeps the bytes the
same from run to run: the library writes several in no fixed order.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from refprep.errors import IntegrityError
from refprep.types import CacheKey, CodeCacheEntry
from refprep.types.codes import LAYOUT_VERSION

SUFFIX = ".safetensors"
MAX_BYTES = 64 << 20  # an hour of codes is 3 MB

_LABEL = "refprep"
_TENSORS = {"codes": np.dtype("<i4"), "speaker_embedding": np.dtype("<f4")}
_CODES_ALONE = {"codes": _TENSORS["codes"]}
_FIX = "Encode the voice again: `refprep encode VOICE --model M`; nothing was taken from this file."


def entry_name(key: CacheKey) -> str:
    """Name of the file that holds the entry of a key."""
    return key.digest + SUFFIX


def pack_entry(entry: CodeCacheEntry) -> bytes:
    """The file's bytes; the same entry gives the same."""
    head: dict[str, Any] = {
        "layout_version": LAYOUT_VERSION,
        "key": asdict(entry.key),
        "num_samples": entry.num_samples,
        "created_by": entry.created_by,
    }
    head["content_sha256"] = _content_sha256(head, _arrays(entry))
    return save(_arrays(entry), metadata={_LABEL: json.dumps(head, sort_keys=True)})


def read_entry(path: Path) -> CodeCacheEntry:
    """Read a file and prove that it is what was written, under the name of its key.

    Raises:
        FileNotFoundError: It is not there.
        IntegrityError: It is no entry, or not the one that was written.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _damaged(path, "it is far larger than any entry")
        data = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _damaged(path, f"it cannot be read: {error.strerror or error}") from error
    entry = unpack_entry(data, where=path)
    if path.name != entry_name(entry.key):
        raise _damaged(path, f"its key belongs to {entry_name(entry.key)}")
    return entry


def unpack_entry(data: bytes, *, where: Path) -> CodeCacheEntry:
    """The entry that bytes hold.

    Raises:
        IntegrityError: Not safetensors, another layout, a key or tensor that is missing or of the wrong kind, or
            content that does not fit its hash.
    """
    try:
        size = int.from_bytes(data[:8], "little")
        head = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][_LABEL])
        arrays = load(data)
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(where, f"it is no whole entry ({type(error).__name__})") from error
    if not isinstance(head, dict) or head.get("layout_version") != LAYOUT_VERSION:
        raise _damaged(where, "it has another layout than this refprep reads")
    if {name: array.dtype for name, array in arrays.items()} not in (_TENSORS, _CODES_ALONE):
        raise _damaged(
            where, f"it holds {', '.join(sorted(arrays)) or 'nothing'} instead of codes and embedding"
        )
    stated = head.pop("content_sha256", None)
    if stated != _content_sha256(head, arrays):
        raise _damaged(where, "its content does not fit its SHA-256")
    try:
        return CodeCacheEntry(
            key=_key(head["key"]),
            codes=arrays["codes"],
            speaker_embedding=arrays.get("speaker_embedding"),
            num_samples=int(head["num_samples"]),
            created_by=str(head["created_by"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(where, f"its key or a shape is of the wrong kind ({error})") from error


def _arrays(entry: CodeCacheEntry) -> dict[str, np.ndarray[Any, Any]]:
    arrays: dict[str, np.ndarray[Any, Any]] = {"codes": entry.codes.astype("<i4", copy=False)}
    if entry.speaker_embedding is not None:
        arrays["speaker_embedding"] = entry.speaker_embedding.astype("<f4", copy=False)
    return arrays


def _content_sha256(head: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode("ascii"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"|{name}|{array.dtype.str}|{array.shape}|".encode("ascii"))
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _key(values: dict[str, Any]) -> CacheKey:
    known = {f.name: f.type for f in fields(CacheKey)}
    if set(values) != set(known):
        raise ValueError(f"fields {', '.join(sorted(set(values) ^ set(known)))}")
    kinds: dict[str, type | tuple[type, ...]] = {"str": str, "int": int, "float": (int, float)}
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, kinds[str(known[name])]):
            raise TypeError(f"{name} is {value!r}")
    return CacheKey(**values)


def _damaged(path: Path, what: str) -> IntegrityError:
    return IntegrityError(what, where=str(path), fix=_FIX)
