"""A checkpoint that means tensors: what every torch adapter here starts from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from pickle import UnpicklingError  # what torch raises; nothing is unpickled here
from typing import Any

import torch

from refprep.errors import BackendError


def read_checkpoint(path: Path) -> Mapping[str, Any]:
    """Read a torch checkpoint without running anything in it.

    Args:
        path: A ``.pt`` or ``.ckpt`` file: a pickle, of which only tensors and plain containers are accepted.

    Raises:
        BackendError: No checkpoint, or one that holds more than tensors.
    """
    fix = "Pull it again with `refprep models pull`, or take the file from its publisher."
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except UnpicklingError as error:
        raise BackendError(
            "it holds more than tensors and was not loaded", where=str(path), fix=fix
        ) from error
    except (OSError, EOFError, RuntimeError, ValueError, KeyError) as error:
        raise BackendError(f"it cannot be read: {error}", where=str(path), fix=fix) from error
    if not isinstance(content, dict):
        raise BackendError("it holds no dictionary of tensors", where=str(path), fix=fix)
    return content


def fill(module: torch.nn.Module, state: Mapping[str, Any], *, where: Path) -> None:
    """Put weights into a module: all of them, and nothing left over.

    Raises:
        BackendError: A parameter without a weight, a weight without a parameter, or one of another shape.
    """
    try:
        module.load_state_dict(dict(state), strict=True)
    except (RuntimeError, AttributeError, TypeError) as error:
        raise BackendError(
            f"its weights do not fit the architecture: {error}",
            where=str(where),
            fix="Check it with `refprep models verify`; another architecture needs another adapter.",
        ) from error
