"""Numbers that a side of the codec may compute in, and the proof that reference codes come from float32.

A reference is encoded in float32 or not at all: rounded weights or products choose other codes, which are another voice.
What decodes may be rounded as anybody likes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from refprep.errors import UsageError
from refprep.moss.codec.network import CodecNetwork
from refprep.precision import exact_fp32


class Precision(enum.StrEnum):
    """Of the weights and products of one side; the quantizer is float32 in all of them."""

    FLOAT32 = "float32"
    TF32 = "tf32"  # float32 weights, products rounded to 10 bits of mantissa where the device can
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"
    INT8 = "int8"  # torchao: int8 weights, float32 states
    INT8_DYNAMIC = "int8-dynamic"  # torchao: int8 weights and states
    PLAIN_INT8 = "plain-int8"  # the same two without torchao: for measurements, not for speed
    PLAIN_INT8_DYNAMIC = "plain-int8-dynamic"

    @property
    def dtype(self) -> torch.dtype:
        """Of weights that are not quantized, and of states."""
        return {"bfloat16": torch.bfloat16, "float16": torch.float16}.get(self.value, torch.float32)

    @property
    def is_int8(self) -> bool:
        """Whether matrices are int8."""
        return "int8" in self.value


@contextmanager
def computing(precision: Precision, device: torch.device, *, where: str) -> Iterator[None]:
    """Inference at a precision, whatever a caller switched on around it; all settings are put back.

    Raises:
        DeviceError: The device ran out of memory.
    """
    with ExitStack() as stack:
        stack.enter_context(exact_fp32(device.type, where=where))
        if precision is Precision.TF32:
            onednn: Any = torch.backends.mkldnn
            for owner in (torch.backends.cuda.matmul, onednn.matmul):
                owner.fp32_precision = "tf32"  # exact_fp32 puts back what was there before
        elif precision is Precision.FLOAT32 and device.type == "cuda":
            # the fused kernels make float32 products of smaller ones
            stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        yield


def require_exact(network: CodecNetwork, *, where: str) -> None:
    """Refuse a network whose encoder or quantizer is anything but the plain float32 tensors of a checkpoint.

    Every parameter is looked at: its class, since quantized ones are subclasses; its type; and that none is missing,
    since packed weights are kept elsewhere.

    Raises:
        UsageError: RP501, with what was found first.
    """
    if faults := _inexact(network):
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise rounded_encoder(f"{faults[0]}{more}", where=where)


def rounded_encoder(what: str, *, where: str) -> UsageError:
    """The one error about weights that may not encode a reference."""
    return UsageError(
        f"RP501 quantized-reference-encoder: {what}; rounded weights choose other codes, which are another voice",
        where=where,
        fix="Encode with the publisher's float32 codec; a rounded one may decode (OutputDecoder), and `refprep audit` "
        "measures what it would do to the codes.",
    )


def _inexact(network: CodecNetwork) -> list[str]:
    own = {n: p for n, p in network.named_parameters() if not n.startswith("decoder.")}
    wanted = {n for n in network.tensor_names if not n.startswith("decoder.")}
    found = [f"{name} is not there" for name in sorted(wanted - own.keys())]
    found += [f"{name} is no tensor of a codec" for name in sorted(own.keys() - wanted)]
    for name, tensor in own.items():
        # a parameter of a quantized kind is of its own class, and may still call itself float32
        if type(tensor) is not nn.Parameter or type(tensor.data) is not torch.Tensor:
            found.append(f"{name} is a {type(tensor).__name__}")
        elif tensor.dtype is not torch.float32:
            found.append(f"{name} is {str(tensor.dtype).removeprefix('torch.')}")
    found += [f"{name} is a buffer" for name, _ in network.named_buffers() if not name.startswith("decoder.")]
    found += [
        f"{name} is a {type(module).__name__}"
        for name, module in network.named_modules()
        if isinstance(module, nn.Linear) and type(module) is not nn.Linear and not name.startswith("decoder.")
    ]
    return found
