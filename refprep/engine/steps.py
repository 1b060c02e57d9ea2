"""Three ways to run one and the same frame: eagerly, compiled, and captured in a CUDA graph (``cuda_graph.py``).

All of them run ``runner.write_frame`` on the first or on single rows of the slots. What they may read is in the slots;
what the host learns is ``slots.report``.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from refprep.engine.runner import choose_first, complete_frame, write_frame
from refprep.engine.slots import Slots
from refprep.engine.talker import Talker
from refprep.errors import BackendError

CONTEXTS = (256, 512, 1024, 2048, 4096)
"""Positions that a compiled or captured frame looks at; beyond the last, its multiples."""


class StepMode(StrEnum):
    """How frames are run."""

    EAGER = "eager"
    COMPILED = "compiled"
    GRAPH = "graph"


class FrameStep(Protocol):
    """Runs one frame."""

    def __call__(self, rows: slice, *, limit: int) -> None:
        """Write a frame of the requests in some rows.

        Args:
            rows: Of the slots.
            limit: One above the highest position among them; a single row is at ``limit - 1``.
        """
        ...


class EagerStep:
    """One operation after the other."""

    def __init__(self, talker: Talker, slots: Slots, suppressed: torch.Tensor) -> None:
        self._talker, self._slots, self._suppressed = talker, slots, suppressed

    def __call__(self, rows: slice, *, limit: int) -> None:
        """See ``FrameStep``."""
        slots = self._slots.rows(rows)
        # On a GPU a row that stopped unseen is not where the host believes it to be.
        is_exact = rows.stop - rows.start == 1 and slots.stop.is_cpu
        first = choose_first(self._talker, slots, self._suppressed)
        if slots.stop.is_cpu and bool(slots.stop.all()):
            return
        complete_frame(self._talker, slots, first, limit=limit, is_exact=is_exact)


class CompiledStep:
    """The whole frame as one program, made by ``torch.compile`` at the first call for a number of rows and a context.

    On a CPU that takes minutes, and a C++ compiler; PyTorch keeps the outcome for later processes. It pays where calls
    cost more than what they do: small models.
    """

    def __init__(
        self, talker: Talker, slots: Slots, suppressed: torch.Tensor, *, backend: str = "inductor"
    ) -> None:
        self._talker, self._slots, self._suppressed, self._backend = talker, slots, suppressed, backend
        self._programs: dict[tuple[object, ...], Callable[..., None]] = {}

    def __call__(self, rows: slice, *, limit: int) -> None:
        """See ``FrameStep``.

        Raises:
            BackendError: There is no compiler, or it failed.
        """
        slots = self._slots.rows(rows)
        context = context_of(limit, self._slots.cache.capacity)
        # All that decides about shapes and operations. The cache's strides follow its capacity, so it is one of them.
        key = (
            rows.stop - rows.start,
            context,
            self._slots.version,
            slots.first.profile,
            slots.rest.profile,
        )
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._compiled(key)
        try:
            program(self._talker, slots, self._suppressed, limit=context, is_exact=False)
        except torch._dynamo.exc.BackendCompilerFailed as error:  # it has no public name
            raise BackendError(
                f"the frame does not compile: {str(error).strip().splitlines()[0]}",
                where="torch.compile",
                fix="Install a C++ compiler (g++), or run eagerly.",
            ) from error

    def _compiled(self, key: tuple[object, ...]) -> Callable[..., None]:
        # torch.compile counts and looks up its programs by code object: with one of its own, each is found at once.
        code = write_frame.__code__.replace(co_name=f"write_frame_{len(self._programs)}")
        own = types.FunctionType(code, write_frame.__globals__, code.co_name)
        own.__kwdefaults__ = write_frame.__kwdefaults__
        options: dict[str, str | int | bool | Callable[..., Any]] = {}
        if self._backend == "inductor" and self._talker.device.type == "cpu":
            options = {"cpp_wrapper": True}  # Python between the kernels costs more than they do
        compiled: Callable[..., None] = torch.compile(
            own, fullgraph=True, dynamic=False, backend=self._backend, options=options or None
        )
        return compiled


def context_of(limit: int, capacity: int) -> int:
    """The shortest context of ``CONTEXTS`` that reaches ``limit``, within a cache's capacity."""
    last = CONTEXTS[-1]
    return min(next((c for c in CONTEXTS if c >= limit), -(-limit // last) * last), capacity)


class Report:
    """What the host learns of one launched frame: on a CPU at once, from a GPU when its copy has arrived.

    The copy follows the frame on the same stream, before the next frame overwrites what it reads; the host waits for it
    only after it has launched that next frame.
    """

    def __init__(self, report: torch.Tensor) -> None:
        self._event: torch.cuda.Event | None = None
        if report.is_cpu:
            self._numbers = report.clone()
            return
        self._numbers = torch.empty(report.shape, dtype=report.dtype, pin_memory=True)
        self._numbers.copy_(report, non_blocking=True)
        self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._event.record()

    def read(self) -> npt.NDArray[np.int64]:
        """(rows, 18): stop, ids likelier than EOS, the codes."""
        if self._event is not None:
            self._event.synchronize()
        numbers: npt.NDArray[np.int64] = self._numbers.numpy()
        return numbers
