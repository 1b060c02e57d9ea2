"""FP32 that means FP32, and a checkpoint that means tensors: what every torch adapter here starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError  # what torch raises; nothing is unpickled here
from typing import Any

import torch

from refprep.errors import BackendError, DeviceError


@contextmanager
def exact_fp32(device: str, *, where: str) -> Iterator[None]:
    """Inference without gradients, autocast or TF32, deterministic; the settings are put back afterwards.

    cuDNN rounds the inputs of convolutions and LSTMs to TF32 (10 bits of mantissa) by default, and a caller may have
    turned autocast on around us.

    Args:
        device: ``cpu`` or ``cuda``.
        where: Named by the error: the clip or the model at work.

    Raises:
        DeviceError: The device ran out of memory.
    """
    # The old switches (allow_tf32) raise as soon as a caller has used the new ones; these do not.
    cudnn: Any = torch.backends.cudnn
    wanted: tuple[tuple[Any, str, object], ...] = (
        (torch.backends.cuda.matmul, "fp32_precision", "ieee"),
        (cudnn.conv, "fp32_precision", "ieee"),
        (cudnn.rnn, "fp32_precision", "ieee"),
        (cudnn, "deterministic", True),  # the same clip, the same bits
        (cudnn, "benchmark", False),  # it picks algorithms by a race
    )
    before = [getattr(owner, name) for owner, name, _ in wanted]
    try:
        for owner, name, value in wanted:
            setattr(owner, name, value)
        with torch.inference_mode(), torch.autocast(device_type=torch.device(device).type, enabled=False):
            yield
    except torch.OutOfMemoryError as error:
        raise DeviceError(
            "the device ran out of memory", where=where, fix="Use --device cpu, or free the device."
        ) from error
    finally:
        for (owner, name, _), value in zip(wanted, before, strict=True):
            setattr(owner, name, value)


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
