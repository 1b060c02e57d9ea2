"""A checkpoint's config.json as typed values: a missing key is an error that names it, an unknown key is ignored.

Checkpoints carry keys that no code reads, and newer ones add more, so strictness here means the keys that are used:
each must be there, or have a default in the dataclass, and each must have the declared type.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from refprep.errors import BackendError, WeightsMissing

T = TypeVar("T")

_FIX = "Take the file from the checkpoint's publisher; refprep knows Qwen3-TTS at 12.5 frames a second."


def read_json(path: Path) -> Mapping[str, Any]:
    """The object a JSON file holds.

    Raises:
        WeightsMissing: The file is not there.
        BackendError: It holds no JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise WeightsMissing(
            f"{path.name} is missing",
            where=str(path.parent),
            fix="Name the folder of a whole checkpoint: config.json, weights, tokenizer and speech_tokenizer/.",
        ) from error
    except (OSError, ValueError) as error:
        raise BackendError(f"it cannot be read as JSON: {error}", where=str(path), fix=_FIX) from error
    if not isinstance(content, dict):
        raise BackendError("it holds no JSON object", where=str(path), fix=_FIX)
    return content


def typed(kind: type[T], values: Mapping[str, Any], *, where: str) -> T:
    """Fill a dataclass from a JSON object; nested dataclasses from nested objects.

    Args:
        kind: A dataclass whose field names are the keys.
        values: Of the JSON object.
        where: Named by the error: the file, and the key that holds this object.

    Raises:
        BackendError: A key without a default is missing, or a value has another type.
    """
    hints = typing.get_type_hints(kind)
    found: dict[str, Any] = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]  # T is a dataclass by contract
        if field.name not in values:
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                raise BackendError(f"the key {field.name!r} is missing", where=where, fix=_FIX)
            continue
        found[field.name] = _value(hints[field.name], values[field.name], where=f"{where}: {field.name}")
    return kind(**found)


def _value(hint: object, value: object, *, where: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        if value is None and types.NoneType in arguments:
            return None
        (hint,) = [a for a in arguments if a is not types.NoneType]
        return _value(hint, value, where=where)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint) and isinstance(value, dict):
        return typed(hint, value, where=where)
    if origin is tuple and isinstance(value, list):
        return tuple(_value(arguments[0], item, where=where) for item in value)
    if origin in (dict, Mapping, typing.get_origin(Mapping[str, int])) and isinstance(value, dict):
        return {str(key): _value(arguments[1], item, where=where) for key, item in value.items()}
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint in (int, bool, str) and type(value) is hint:
        return value
    if hint is Any:
        return value
    raise BackendError(f"{value!r} is no {getattr(hint, '__name__', hint)}", where=where, fix=_FIX)
