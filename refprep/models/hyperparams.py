"""What a SpeechBrain ``hyperparams.yaml`` says, read as data.

SpeechBrain itself runs this file: ``!new:`` and ``!apply:`` name any Python object and call it, so a model's folder
could start any program (``x: !apply:os.system [...]``), and ``pretrained_path`` in the published files names a hub
repository, so weights would be fetched from there though they lie beside it. Here a tag is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from refprep.errors import BackendError

TAG = "!tag"
_MAX_BYTES = 256 * 1024  # the published files have 2 KiB
_MAX_DEPTH = 8


class _DataLoader(yaml.SafeLoader):  # type: ignore[misc]
    """YAML with unknown tags kept as text; Python's own (``!!python/...``) stay errors."""


def _as_data(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Any:  # noqa: ANN401  # YAML holds anything
    tag = "!" + suffix
    if isinstance(node, yaml.MappingNode):
        return {TAG: tag, **loader.construct_mapping(node, deep=True)}
    if isinstance(node, yaml.SequenceNode):
        return {TAG: tag, "args": loader.construct_sequence(node, deep=True)}
    return {TAG: tag, "value": loader.construct_scalar(node)} if isinstance(node, yaml.ScalarNode) else None


_DataLoader.add_multi_constructor("!", _as_data)


def read_hyperparams(path: Path) -> Mapping[str, Any]:
    """Read the file without running it.

    Args:
        path: A ``hyperparams.yaml``.

    Returns:
        Its top-level entries. ``!ref <name>`` of a whole value is replaced by that entry; every other tagged value is a
        mapping with its tag under ``TAG``.

    Raises:
        BackendError: Not there, too large, or no mapping in YAML.
    """
    fix = "Give the folder of a published SpeechBrain speaker model."
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise BackendError(f"it is larger than {_MAX_BYTES} bytes", where=str(path), fix=fix)
        entries = yaml.load(content, Loader=_DataLoader)
    except (OSError, yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise BackendError(f"it cannot be read: {error}", where=str(path), fix=fix) from error
    if not isinstance(entries, dict):
        raise BackendError("it holds no settings", where=str(path), fix=fix)
    return {str(key): _resolve(value, entries, 0) for key, value in entries.items()}


def _resolve(value: Any, entries: Mapping[Any, Any], depth: int) -> Any:  # noqa: ANN401
    if depth >= _MAX_DEPTH:
        return value
    if isinstance(value, dict):
        if value.get(TAG) == "!ref" and isinstance(value.get("value"), str):
            name = value["value"].strip()
            if name.startswith("<") and name.endswith(">") and name[1:-1] in entries:
                return _resolve(entries[name[1:-1]], entries, depth + 1)
            return value
        return {key: _resolve(item, entries, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolve(item, entries, depth + 1) for item in value]
    return value
