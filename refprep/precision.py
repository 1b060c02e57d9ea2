"""FP32 that means FP32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from refprep.errors import DeviceError


@contextmanager
def exact_fp32(device: str, *, where: str) -> Iterator[None]:
    """Inference without gradients, autocast or TF32, deterministic; the settings are put back afterwards.

    cuDNN rounds the inputs of convolutions and LSTMs to TF32 (10 bits of mantissa) by default, and a caller may have
    turned autocast on around us, or allowed fast products for the whole process.

    Args:
        device: ``cpu`` or ``cuda``.
        where: Named by the error: the clip or the model at work.

    Raises:
        DeviceError: The device ran out of memory.
    """
    # The old switches (allow_tf32) raise as soon as a caller has used the new ones; these do not.
    cudnn: Any = torch.backends.cudnn
    onednn: Any = torch.backends.mkldnn
    wanted: tuple[tuple[Any, str, object], ...] = (
        (torch.backends.cuda.matmul, "fp32_precision", "ieee"),
        (cudnn.conv, "fp32_precision", "ieee"),
        (cudnn.rnn, "fp32_precision", "ieee"),
        # A CPU with bf16 units multiplies in bf16 after `torch.set_float32_matmul_precision("medium")`.
        (onednn.matmul, "fp32_precision", "ieee"),
        (onednn.conv, "fp32_precision", "ieee"),
        (onednn.rnn, "fp32_precision", "ieee"),
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
