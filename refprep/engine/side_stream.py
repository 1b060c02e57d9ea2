"""Work beside the talker: a queue of its own on a GPU, nothing at all on a CPU. The same code runs on both.

What goes wrong with a second stream, and how this avoids it:

- Work on the legacy default stream waits for everything, and everything for it: the codec would stand behind a whole talker
  step (17 ms instead of 3). All of it is enqueued inside ``entered``.
- PyTorch gives freed memory back to the stream it came from. Tensors that are made inside ``entered`` and used nowhere
  else are safe without ``record_stream``; the weights come from another stream and are never freed; nothing else crosses.
- A stream does not wait for another by itself: it waits once for the weights, and for an event where codes were written by the
  device. Codes that the host has seen need none.
- A copy to pageable memory blocks the host. ``upload`` and ``fetch`` go through pinned memory, whose allocator takes it back
  only after the copy. Pinned allocation and event queries break a capture: nothing here runs inside one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch


@dataclass(frozen=True, slots=True, eq=False)
class Fetched:
    """A tensor on its way to the host.

    Attributes:
        host: On the CPU; its numbers are there when ``is_ready``.
        event: That says so; None: they are.
    """

    host: torch.Tensor
    event: torch.cuda.Event | None = None

    def is_ready(self) -> bool:
        """Whether the copy is done; does not wait."""
        return self.event is None or bool(self.event.query())  # type: ignore[no-untyped-call]

    def wait(self) -> torch.Tensor:
        """The tensor, when it is there."""
        if self.event is not None:
            self.event.synchronize()
        return self.host


class SideStream:
    """A high-priority stream of a CUDA device, which has seen what was enqueued before; of a CPU, nothing."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self._stream: torch.cuda.Stream | None = None
        if device.type == "cuda":
            self._stream = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]
            self._stream.wait_stream(torch.cuda.current_stream(device))

    @contextmanager
    def entered(self, after: torch.cuda.Event | None = None) -> Iterator[None]:
        """What is enqueued within goes to this stream.

        Args:
            after: Recorded behind what this work reads; None where the host has seen it.
        """
        if self._stream is None:
            yield
            return
        if after is not None:
            self._stream.wait_event(after)
        with torch.cuda.stream(self._stream):
            yield

    def upload(self, array: npt.NDArray[np.int64]) -> torch.Tensor:
        """To the device, inside ``entered``; the host does not wait."""
        tensor = torch.from_numpy(array)
        if self._stream is None:
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)

    def fetch(self, tensor: torch.Tensor) -> Fetched:
        """To the host, inside ``entered``; nobody waits."""
        if self._stream is None:
            return Fetched(tensor)
        host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        host.copy_(tensor, non_blocking=True)
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record(self._stream)
        return Fetched(host, event)
