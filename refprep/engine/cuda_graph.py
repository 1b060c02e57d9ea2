"""Capture and replay of one frame as a CUDA graph: a launch instead of a thousand.

A graph is bound to the addresses it was captured with, to a number of rows, to a context and to what its sampler can do.
All of them are captured before the first request, the largest first, from one pool of memory:

    rows        of ``scheduler.BUCKETS`` up to the number of slots
    context     of ``steps.CONTEXTS`` up to the slots' capacity
    sampler     what the checkpoint's own settings need, for any mixture of drawing and greedy rows; anything else (top-p,
                a larger top-k) gets a general one, captured when first asked for

A capture runs frames. Whoever is in the slots must not notice: their rows are put back afterwards. The keys and values
at their next position need not be, as the next frame writes them before it reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from refprep.engine.runner import write_frame
from refprep.engine.sampler import Profile
from refprep.engine.scheduler import BUCKETS, bucket_of
from refprep.engine.slots import Slots
from refprep.engine.steps import CONTEXTS, context_of
from refprep.engine.talker import Talker

_WARM_UPS = 3
"""Frames before a capture: libraries choose their kernels and take their workspaces in the first ones."""

Key = tuple[int, int, Profile, Profile]

Recorder = Callable[[Callable[[], None]], Callable[[], None]]
"""Runs a frame and gives back what runs it again."""


class GraphRecorder:
    """Records on a GPU; all its graphs share one pool of memory."""

    def __init__(self) -> None:
        # A stream of its own: what stands on the legacy default stream waits for everything else.
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, run: Callable[[], None]) -> Callable[[], None]:
        """Capture ``run``; its replay goes to the stream that is current then."""
        here = torch.cuda.current_stream()
        # Buffers were filled on the current stream: the other one must not read them before.
        self._stream.wait_stream(here)
        with torch.cuda.stream(self._stream):
            for _ in range(_WARM_UPS):
                run()
        here.wait_stream(self._stream)
        graph = torch.cuda.CUDAGraph()
        # thread_local: another thread may allocate meanwhile. Our random numbers are tensors that were made beforehand,
        # so no generator's state is captured, and none can repeat itself.
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
            run()
        return graph.replay


class CapturedStep:
    """Replays frames; see ``steps.FrameStep``.

    Attributes:
        captures: Graphs made so far; a measurement checks that none falls into it.
    """

    def __init__(
        self,
        talker: Talker,
        slots: Slots,
        suppressed: torch.Tensor,
        *,
        usual: tuple[Profile, Profile],
        record: Recorder,
    ) -> None:
        """Capture nothing yet.

        Args:
            talker: Prepared, on a GPU.
            slots: With room for whatever will come: a graph is void when they grow.
            suppressed: Of ``suppressed_ids``.
            usual: What the samplers of most requests need, for the first codebook and for the others.
            record: Makes the graphs.
        """
        self._talker, self._slots, self._suppressed, self._usual = talker, slots, suppressed, usual
        self._record = record
        self._graphs: dict[Key, Callable[[], None]] = {}
        self._version = slots.version
        self.captures = 0

    def capture(self, rows: Sequence[int] = BUCKETS, contexts: Sequence[int] = CONTEXTS) -> None:
        """Capture every combination; the largest first, so that the smaller ones fit into its memory."""
        most, capacity = self._slots.row.shape[0], self._slots.cache.capacity
        for count in sorted({min(n, most) for n in rows}, reverse=True):
            for context in sorted({min(c, capacity) for c in contexts}, reverse=True):
                self._graph((count, context, *self._usual))

    def __call__(self, rows: slice, *, limit: int) -> None:
        """See ``steps.FrameStep``; the graph covers the smallest bucket of rows from the first one on."""
        count = min(bucket_of(rows.stop), self._slots.row.shape[0])
        context = context_of(limit, self._slots.cache.capacity)
        self._graph((count, context, *self._profiles()))()

    def _profiles(self) -> tuple[Profile, Profile]:
        asked = (self._slots.first.profile, self._slots.rest.profile)
        if all(usual.covers(one) for usual, one in zip(self._usual, asked, strict=True)):
            return self._usual
        config = self._talker.config
        sizes = (config.vocab_size, config.code_predictor_config.vocab_size)
        first, rest = (Profile(size, cuts_top_p=True, draws=True, is_even=False) for size in sizes)
        return first, rest

    def _graph(self, key: Key) -> Callable[[], None]:
        if self._version != self._slots.version:
            self._graphs.clear()
            self._version = self._slots.version
        if key not in self._graphs:
            self._graphs[key] = self._captured(key)
            self.captures += 1
        return self._graphs[key]

    def _captured(self, key: Key) -> Callable[[], None]:
        count, context, first, rest = key
        view = self._slots.rows(slice(0, count))
        slots = replace(view, first=replace(view.first, profile=first), rest=replace(view.rest, profile=rest))
        saved = slots.saved()
        graph = self._record(lambda: self._run(slots, context))
        slots.restore(saved)
        return graph

    def _run(self, slots: Slots, context: int) -> None:
        write_frame(self._talker, slots, self._suppressed, limit=context, is_exact=False)


def usual_profiles(slots: Slots) -> tuple[Profile, Profile]:
    """Of slots that hold a checkpoint's own sampling: row by row, so that greedy requests mix in."""
    first, rest = (replace(s.profile, draws=True, is_even=False) for s in (slots.first, slots.rest))
    return first, rest
