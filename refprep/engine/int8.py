"""Int8 products for CPUs: the layers of talker and code predictor, and nothing else.

On a CPU a frame waits for its weights, and with a quarter of the bytes it took 0.45 of the time. Each output channel
of a matrix has a scale of its own, each row of states gets one when it comes, and sums are integers: what a row gets
does not depend on the rows beside it.

Tables, heads, the projection into the predictor, the codec and both encoders stay as they are: they are a small part
of the bytes of a frame, and nothing after them evens an error out. Two libraries multiply: oneDNN where its sums do not saturate (a CPU
with VNNI or AMX), else FBGEMM, with fewer levels.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import torch
from torch.nn import functional as F  # noqa: N812

from refprep.engine.decoder import pack_layers
from refprep.engine.int8_gate import GateReport, check_gate, float32_truth, gate_report
from refprep.engine.layers import Pack, Packed
from refprep.engine.model import TalkerCheckpoint
from refprep.engine.talker import Talker
from refprep.errors import BackendError, UsageError
from refprep.types import SpeechRequest

_WHERE = "--quantize int8"
_LEVELS = 127
_TINY = 1e-30  # a row of zeros is divided by this


@dataclass(frozen=True, slots=True)
class Int8Report:
    """What was done to a checkpoint.

    Attributes:
        kernel: ``onednn`` or ``fbgemm``.
        matrices: That are int8 now.
        freed_bytes: Of float32 weights that are no longer held.
        held_bytes: Of int8 weights in their place.
        gate: How far its logits moved; None where it was not asked.
    """

    kernel: str
    matrices: int
    freed_bytes: int
    held_bytes: int
    gate: GateReport | None


class OneDNNMatrix:
    """An (out, in) matrix of int8, multiplied by oneDNN.

    States become bytes around 128, since products of two signed bytes are slow on CPUs without AMX.
    """

    __slots__ = ("_scales", "_weights", "_zeros")

    def __init__(self, weight: torch.Tensor) -> None:
        levels, self._scales = quantized(weight)
        self._weights = torch.ops.onednn.qlinear_prepack(levels, None)
        self._zeros = torch.zeros(len(weight), dtype=torch.int64)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(..., in) to (..., out), float32."""
        rows = x.reshape(-1, x.shape[-1])
        scale = (
            torch.linalg.vector_norm(rows, torch.inf, dim=-1, keepdim=True).clamp_min_(_TINY).div_(_LEVELS)
        )
        levels = rows.div(scale).add_(128.5).to(torch.uint8)  # the cast cuts: 128.5 rounds
        out: torch.Tensor = torch.ops.onednn.qlinear_pointwise(
            levels,
            1.0,
            128,
            self._weights,
            self._scales,
            self._zeros,
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return out.mul_(scale).view(*x.shape[:-1], -1)


class FBGEMMMatrix:
    """An (out, in) matrix of int8, multiplied by FBGEMM.

    It takes one range for all rows of a call. So every row is brought to [-1, 1], and two more columns hold -1 and 1,
    with weights of zero: the range is that one whatever the rows are.

    Without VNNI it adds products in pairs of 16 bits, which hold 2 x 182 x 90: with weights of 90 levels only two states
    beside each other that are both near their row's largest, against two weights near their channel's, are cut.
    """

    __slots__ = ("_edges", "_weights")

    def __init__(self, weight: torch.Tensor) -> None:
        levels, scales = quantized(F.pad(weight, (0, 2)), levels=90)
        zeros = torch.zeros(len(weight), dtype=torch.int64)
        with warnings.catch_warnings():
            # PyTorch 2.13 and later announce the end of quantized dtypes; the packed weights are not of them.
            warnings.simplefilter("ignore", UserWarning)
            tensor = torch._make_per_channel_quantized_tensor(levels, scales.double(), zeros, 0)
            self._weights = torch.ops.quantized.linear_prepack(tensor, None)
        self._edges = torch.tensor([[-1.0, 1.0]])

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(..., in) to (..., out), float32."""
        rows = x.reshape(-1, x.shape[-1])
        scale = torch.linalg.vector_norm(rows, torch.inf, dim=-1, keepdim=True).clamp_min_(_TINY)
        framed = torch.cat((rows.div(scale), self._edges.expand(len(rows), -1)), dim=-1)
        out: torch.Tensor = torch.ops.quantized.linear_dynamic(framed, self._weights, False)
        return out.mul_(scale).view(*x.shape[:-1], -1)


def quantized(weight: torch.Tensor, levels: int = _LEVELS) -> tuple[torch.Tensor, torch.Tensor]:
    """Round an (out, in) matrix.

    Returns:
        Int8 from ``-levels`` to ``levels``, and (out,) float32: what one level of an output channel is.
    """
    scales = weight.abs().amax(dim=1).clamp_min_(_TINY).div_(levels)
    return weight.div(scales[:, None]).round_().to(torch.int8), scales


def int8_kernel() -> str:
    """The library that multiplies bytes on this CPU.

    Returns:
        ``onednn`` or ``fbgemm``.

    Raises:
        BackendError: PyTorch was built with neither.
    """
    try:
        if _is_exact():
            return "onednn"
        if _has_fbgemm():
            return "fbgemm"
    except (AttributeError, NotImplementedError, RuntimeError) as error:
        raise _no_kernel() from error
    raise _no_kernel()


def quantize_int8(
    checkpoint: TalkerCheckpoint,
    *,
    gate: bool = True,
    request: SpeechRequest | None = None,
    pack: Pack | None = None,
) -> Int8Report:
    """Make the layers of talker and code predictor int8, in place, and see that they say what they said.

    Build engines afterwards: what one has cached of float32 layers is theirs.

    Args:
        checkpoint: Loaded on the CPU in float32. Where the gate refuses it, load it anew: its weights are gone.
        gate: Compare logits before and after; it takes the time of about 30 frames.
        request: What the gate reads; None: ``int8_gate.gate_request``.
        pack: How a matrix is held; None: by ``int8_kernel``.

    Raises:
        UsageError: It is on a GPU, in another dtype, or int8 already.
        BackendError: PyTorch has no product of bytes for this CPU, or the gate refuses the result.
    """
    talker = checkpoint.talker
    _check(talker)
    kernel = int8_kernel()
    hold: Pack = pack or (OneDNNMatrix if kernel == "onednn" else FBGEMMMatrix)
    truth = float32_truth(checkpoint, request) if gate else None
    sizes: list[int] = []

    def counted(weight: torch.Tensor) -> Packed:
        sizes.append(weight.numel())
        return hold(weight)

    with torch.inference_mode():
        for layers in (talker.model.layers, talker.code_predictor.model.layers):
            pack_layers(layers, counted)
    report = None if truth is None else gate_report(checkpoint, truth)
    if report is not None:
        check_gate(report, where=_WHERE)
    return Int8Report(kernel, len(sizes), 4 * sum(sizes), sum(sizes), report)


def is_int8(talker: Talker) -> bool:
    """Whether the layers were made int8."""
    return any(weight.is_meta for weight in talker.model.layers.parameters())


def _check(talker: Talker) -> None:
    if talker.device.type != "cpu":
        raise UsageError(
            f"int8 products are for CPUs, the checkpoint is on {talker.device}",
            where=_WHERE,
            fix="Leave it out, or use --device cpu.",
        )
    if talker.dtype is not torch.float32:
        raise UsageError(
            f"int8 layers are made of float32 ones, these are {str(talker.dtype).removeprefix('torch.')}",
            where=_WHERE,
            fix="Use --dtype float32.",
        )
    if is_int8(talker):
        raise UsageError("the layers are int8 already", where=_WHERE, fix="Load the checkpoint anew.")


def _no_kernel() -> BackendError:
    return BackendError(
        "this PyTorch has no product of int8 matrices for this CPU",
        where=_WHERE,
        fix="Leave --quantize out: float32 runs everywhere.",
    )


def _has_fbgemm() -> bool:
    # x86 stands for a choice between two libraries, and linear layers get FBGEMM
    return torch.backends.quantized.engine in ("x86", "fbgemm")


@torch.inference_mode()
def _is_exact() -> bool:
    """Whether oneDNN's sums of bytes are exact: without VNNI pairs of products saturate at 16 bits (and are slow)."""
    weight = torch.ones(32, 64)
    return bool((OneDNNMatrix(weight)(torch.ones(2, 64)) == 64).all())
