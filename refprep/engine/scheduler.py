"""Which requests run: the queue, the slots, and who is next.

Policy alone: no tensors, and no clock but the ``now_s`` that every call is given. Between two frames an engine calls, in
this order, ``expired`` (what is too late), ``admit`` (what starts) and perhaps ``compaction`` (a move to a smaller batch).

Clients take turns; within one, first come is first served. A request that waits as number p of its client sees every
other client start at most p requests before it does: hundreds of texts of one client do not hold up another's single
one. With nothing else running every free slot is filled at once; beside running requests only ``prefills_per_step``
prompts are read between two frames, so that a stream keeps its 80 ms a frame.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass

from refprep.errors import BusyError

BUCKETS = (1, 2, 4, 8, 16, 32)
"""Batch sizes that a step is compiled and captured for."""

_RECENT = 32
"""Departures that the time to the next one is estimated from."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A request that starts now.

    Attributes:
        ticket: Its number.
        slot: It runs in; free until now.
        waited_s: Since it was submitted.
    """

    ticket: int
    slot: int
    waited_s: float


@dataclass(frozen=True, slots=True)
class SchedulerStats:
    """Of a moment, and since the start.

    Attributes:
        waiting: Requests in the queue.
        running: Requests in slots.
        admitted: That were given a slot so far.
        finished: That ran to their end.
        cancelled: That were ended before, waiting or running.
        expired: That missed their deadline, waiting or running.
        refused: That found the queue full.
        longest_wait_s: Of those that were admitted and those that wait still.
    """

    waiting: int
    running: int
    admitted: int
    finished: int
    cancelled: int
    expired: int
    refused: int
    longest_wait_s: float


@dataclass(slots=True)
class _Entry:
    ticket: int
    client: Hashable
    submitted_s: float
    deadline_s: float | None
    slot: int | None = None
    started_s: float = 0.0

    def is_late(self, now_s: float) -> bool:
        return self.deadline_s is not None and now_s >= self.deadline_s


class Scheduler:
    """Queue and slots of one engine.

    Attributes:
        slots: Requests that run side by side.
        max_waiting: Requests that may wait beyond those a slot is free for; None: any number.
        prefills_per_step: Admissions between two frames while others run.
    """

    def __init__(self, slots: int, *, max_waiting: int | None = None, prefills_per_step: int = 1) -> None:
        assert slots >= 1, "nothing could run"
        assert prefills_per_step >= 1, "nothing could start beside a running request"
        assert max_waiting is None or max_waiting >= 0
        self.slots = slots
        self.max_waiting = max_waiting
        self.prefills_per_step = prefills_per_step
        self._entries: dict[int, _Entry] = {}
        # The clients that wait, the next one first; each with its tickets, the oldest first.
        self._turns: OrderedDict[Hashable, OrderedDict[int, _Entry]] = OrderedDict()
        self._running: dict[int, _Entry] = {}  # by slot
        self._free = list(range(slots))  # a heap: the lowest slot is given first
        self._stays_s: deque[float] = deque(maxlen=_RECENT)
        self._admitted = self._finished = self._cancelled = self._expired = self._refused = 0
        self._longest_wait_s = 0.0

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return len(self._entries) - len(self._running)

    @property
    def running(self) -> dict[int, int]:
        """Slot -> ticket of what runs."""
        return {slot: entry.ticket for slot, entry in self._running.items()}

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or runs."""
        return not self._entries

    @property
    def rows(self) -> int:
        """Slots up to the highest that runs: what a step over the first slots must cover."""
        return max(self._running) + 1 if self._running else 0

    def submit(
        self, ticket: int, *, now_s: float, deadline_s: float | None = None, client: Hashable = None
    ) -> None:
        """Put a request into the queue.

        Args:
            ticket: A number that no request in the books has.
            now_s: The present.
            deadline_s: Moment, on the clock of ``now_s``, from which nobody needs its result; None: never.
            client: Requests of one client are served in their order, clients in turn.

        Raises:
            BusyError: The queue is full.
        """
        assert ticket not in self._entries, f"ticket {ticket} is in the books"
        if self.max_waiting is not None and self.waiting >= self.max_waiting + len(self._free):
            self._refused += 1
            raise self._busy()
        entry = _Entry(ticket, client, now_s, deadline_s)
        self._entries[ticket] = entry
        self._turns.setdefault(client, OrderedDict())[ticket] = entry

    def expired(self, now_s: float) -> list[int]:
        """Take out everything past its deadline, waiting or running; each ticket is given once."""
        late = [entry for entry in self._entries.values() if entry.is_late(now_s)]
        for entry in late:
            self._remove(entry, now_s)
        self._expired += len(late)
        return [entry.ticket for entry in late]

    def admit(self, now_s: float) -> list[Admission]:
        """Give free slots, the lowest first, to those whose turn it is; call it once a frame.

        A request past its deadline is passed over: ``expired`` gives it.
        """
        most = self.prefills_per_step if self._running else self.slots
        given: list[Admission] = []
        while self._free and len(given) < most:
            entry = self._next(now_s)
            if entry is None:
                break
            self._leave_queue(entry, served=True)
            entry.slot = heapq.heappop(self._free)
            entry.started_s = now_s
            self._running[entry.slot] = entry
            waited_s = now_s - entry.submitted_s
            self._longest_wait_s = max(self._longest_wait_s, waited_s)
            given.append(Admission(entry.ticket, entry.slot, waited_s))
        self._admitted += len(given)
        return given

    def finish(self, ticket: int, now_s: float) -> int:
        """A running request wrote its last frame.

        Returns:
            The slot that is free now.

        Raises:
            KeyError: No such request runs.
        """
        entry = self._entries[ticket]
        if entry.slot is None:
            raise KeyError(f"ticket {ticket} waits")
        self._remove(entry, now_s)
        self._finished += 1
        return entry.slot

    def cancel(self, ticket: int, now_s: float) -> int | None:
        """End a request that waits or runs.

        Returns:
            The slot that is free now; None where it waited.

        Raises:
            KeyError: No such request is in the books.
        """
        entry = self._entries[ticket]
        self._remove(entry, now_s)
        self._cancelled += 1
        return entry.slot

    def bucket(self, rows: int) -> int:
        """Rows of the smallest step that covers the first ``rows`` slots."""
        assert 0 <= rows <= self.slots
        return min(bucket_of(rows), self.slots)

    def compaction(self) -> tuple[int, int] | None:
        """A move that helps the running requests into a smaller bucket.

        Returns:
            (from slot, to slot); None where it would not help, or where who waits fills the gap anyway.
        """
        if self.waiting or self.bucket(len(self._running)) == self.bucket(self.rows):
            return None
        return self.rows - 1, self._free[0]

    def move(self, from_slot: int, to_slot: int) -> None:
        """A request was moved to a free slot.

        Raises:
            KeyError: Nothing runs in the one, or the other is not free.
        """
        if to_slot not in self._free:
            raise KeyError(f"slot {to_slot} is not free")
        entry = self._running.pop(from_slot)
        self._free.remove(to_slot)
        self._free.append(from_slot)
        heapq.heapify(self._free)
        entry.slot = to_slot
        self._running[to_slot] = entry

    def stats(self, now_s: float) -> SchedulerStats:
        """What happened so far."""
        waits = [now_s - e.submitted_s for queue in self._turns.values() for e in queue.values()]
        return SchedulerStats(
            waiting=self.waiting,
            running=len(self._running),
            admitted=self._admitted,
            finished=self._finished,
            cancelled=self._cancelled,
            expired=self._expired,
            refused=self._refused,
            longest_wait_s=max([self._longest_wait_s, *waits]),
        )

    def retry_after_s(self) -> float | None:
        """Seconds until a slot is likely to become free, by how long the last requests kept theirs; None: unknown."""
        if not self._stays_s:
            return None
        return sum(self._stays_s) / len(self._stays_s) / self.slots

    def _busy(self) -> BusyError:
        after_s = self.retry_after_s()
        fix = "Try again later" if after_s is None else f"Try again in about {max(after_s, 0.1):.1f} s"
        return BusyError(
            f"all {self.slots} slots are taken and {self.waiting} requests wait, which is the most that may",
            where="the engine's queue",
            fix=f"{fix}, or let more wait.",
            retry_after_s=after_s,
        )

    def _next(self, now_s: float) -> _Entry | None:
        for queue in self._turns.values():
            for entry in queue.values():
                if not entry.is_late(now_s):
                    return entry
        return None

    def _leave_queue(self, entry: _Entry, *, served: bool) -> None:
        queue = self._turns[entry.client]
        del queue[entry.ticket]
        if not queue:
            del self._turns[entry.client]
        elif served:
            self._turns.move_to_end(entry.client)

    def _remove(self, entry: _Entry, now_s: float) -> None:
        del self._entries[entry.ticket]
        if entry.slot is None:
            self._leave_queue(entry, served=False)
            return
        del self._running[entry.slot]
        heapq.heappush(self._free, entry.slot)
        self._stays_s.append(now_s - entry.started_s)


def bucket_of(rows: int) -> int:
    """The smallest batch size of ``BUCKETS`` with so many rows; above them, multiples of the largest; 0 for none."""
    if rows == 0:
        return 0
    largest = BUCKETS[-1]
    return next((size for size in BUCKETS if size >= rows), -(-rows // largest) * largest)
