"""Queue and slots on a virtual clock: nothing leaks, nobody starves, everything ends exactly once."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.scheduler import BUCKETS, Scheduler, bucket_of
from refprep.errors import BusyError

FRAME_S = 0.08


@dataclasses.dataclass
class Load:
    """Random arrivals; times in frames, so that the clock is exact."""

    seed: int
    arrivals: int
    slots: int
    per_step: int = 1
    max_waiting: int | None = None
    clients: int = 4
    per_frame: float = 0.5
    longest: int = 40
    cancelled: float = 0.0
    hurried: float = 0.0
    compacts: bool = True


@dataclasses.dataclass
class Journey:
    """One request of a run; ``place`` is its number among its client's waiting ones."""

    ticket: int
    client: int
    arrives: int
    length: int
    cancel_at: int | None
    deadline_s: float | None
    place: int = 0
    started: int | None = None
    before: Counter = dataclasses.field(default_factory=Counter)
    ends: list[str] = dataclasses.field(default_factory=list)


def drawn(load: Load) -> list[Journey]:
    rng = np.random.default_rng(load.seed)
    arrives = np.floor(np.cumsum(rng.exponential(1 / load.per_frame, load.arrivals))).astype(int)
    journeys = []
    for ticket, at in enumerate(arrives.tolist()):
        # the first client asks for half of everything
        client = 0 if rng.random() < 0.5 else int(rng.integers(0, load.clients))
        cancel_at = at + int(rng.integers(0, 80)) if rng.random() < load.cancelled else None
        late = (at + int(rng.integers(0, 80))) * FRAME_S if rng.random() < load.hurried else None
        length = int(rng.integers(1, load.longest + 1))
        journeys.append(Journey(ticket, client, at, length, cancel_at, late))
    return journeys


class Run:
    """Drives a scheduler as an engine does, and looks at its books after every call."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.scheduler = Scheduler(load.slots, max_waiting=load.max_waiting, prefills_per_step=load.per_step)
        self.journeys = drawn(load)
        self.queues: dict[int, list[int]] = {c: [] for c in range(load.clients)}
        self.held: dict[int, int] = {}  # slot -> ticket
        self.left: dict[int, int] = {}  # ticket -> frames still to write
        self.frame = 0
        self.moves = 0

    def until_idle(self) -> list[Journey]:
        coming = list(self.journeys)
        while coming or not self.scheduler.is_idle:
            while coming and coming[0].arrives <= self.frame:
                self.submit(coming.pop(0))
            self.cancel()
            self.expire()
            self.admit()
            self.compact()
            self.write()
            self.frame += 1
        assert not self.held
        assert sorted(self.scheduler._free) == list(range(self.load.slots))
        return self.journeys

    @property
    def now_s(self) -> float:
        return self.frame * FRAME_S

    def submit(self, journey: Journey) -> None:
        try:
            self.scheduler.submit(
                journey.ticket, now_s=self.now_s, deadline_s=journey.deadline_s, client=journey.client
            )
        except BusyError:
            journey.ends.append("refused")
            assert self.scheduler.waiting >= self.load.max_waiting + self.load.slots - len(self.held)
            return
        self.queues[journey.client].append(journey.ticket)
        journey.place = len(self.queues[journey.client])
        self.look()

    def cancel(self) -> None:
        for journey in self.journeys:
            if journey.cancel_at is not None and journey.cancel_at <= self.frame and not journey.ends:
                slot = self.scheduler.cancel(journey.ticket, self.now_s)
                self.end(journey, "cancelled", slot)
        self.look()

    def expire(self) -> None:
        for ticket in self.scheduler.expired(self.now_s):
            journey = self.journeys[ticket]
            assert journey.deadline_s is not None
            assert journey.deadline_s <= self.now_s
            slot = next((s for s, t in self.held.items() if t == ticket), None)
            self.end(journey, "expired", slot)
        assert self.scheduler.expired(self.now_s) == []
        self.look()

    def admit(self) -> None:
        running = len(self.held)
        admitted = self.scheduler.admit(self.now_s)
        bound = self.load.per_step if running else self.load.slots
        assert len(admitted) <= bound
        for a in admitted:
            journey = self.journeys[a.ticket]
            assert a.slot not in self.held, "a slot was given twice"
            assert a.slot == min(set(range(self.load.slots)) - set(self.held)), "not the lowest free slot"
            assert self.queues[journey.client][0] == a.ticket, "not first come, first served"
            assert journey.deadline_s is None or journey.deadline_s > self.now_s
            assert a.waited_s == pytest.approx((self.frame - journey.arrives) * FRAME_S)
            self.queues[journey.client].remove(a.ticket)
            self.held[a.slot] = a.ticket
            self.left[a.ticket] = journey.length
            journey.started = self.frame
            for queue in self.queues.values():
                for waiting in queue:
                    self.journeys[waiting].before[journey.client] += 1
        is_full = len(self.held) == self.load.slots
        assert is_full or len(admitted) == bound or not self.scheduler.waiting, "a slot lies idle"
        self.look()

    def compact(self) -> None:
        while self.load.compacts and (move := self.scheduler.compaction()):
            source, target = move
            before = self.scheduler.rows
            self.scheduler.move(source, target)
            assert target not in self.held
            self.held[target] = self.held.pop(source)
            assert self.scheduler.rows < before
            self.moves += 1
            self.look()

    def write(self) -> None:
        for slot, ticket in sorted(self.held.items()):
            self.left[ticket] -= 1
            if self.left[ticket] == 0:
                assert self.scheduler.finish(ticket, self.now_s + FRAME_S) == slot
                self.end(self.journeys[ticket], "done", slot)
        self.look()

    def end(self, journey: Journey, how: str, slot: int | None) -> None:
        journey.ends.append(how)
        if slot is None:
            self.queues[journey.client].remove(journey.ticket)
        else:
            assert self.held.pop(slot) == journey.ticket

    def look(self) -> None:
        """The scheduler's books are ours."""
        assert self.scheduler.running == self.held
        assert sorted(self.scheduler._free) == sorted(set(range(self.load.slots)) - set(self.held))
        assert self.scheduler.waiting == sum(len(q) for q in self.queues.values())
        assert self.scheduler.rows == max(self.held, default=-1) + 1


def check_turns(load: Load, journeys: list[Journey]) -> None:
    """Nobody starves: the bound in starts, and by it the one in time."""
    for j in (j for j in journeys if j.started is not None):
        others = {c: n for c, n in j.before.items() if c != j.client}
        assert all(n <= j.place for n in others.values()), "a client was passed over"
        ahead = sum(j.before.values())
        assert ahead <= j.place * load.clients
        # Every slot is free again after the longest request, and reading a prompt takes a turn of per_step a frame.
        most = (math.ceil(ahead / load.slots) + 1) * load.longest + math.ceil((ahead + 1) / load.per_step)
        assert j.started - j.arrives <= most


def check_ends(load: Load, run: Run, journeys: list[Journey]) -> None:
    ends = Counter()
    for j in journeys:
        assert len(j.ends) == 1, f"{j.ticket} ended as {j.ends}"
        ends[j.ends[0]] += 1
    stats = run.scheduler.stats(run.now_s)
    assert (stats.waiting, stats.running) == (0, 0)
    found = {
        "done": stats.finished,
        "cancelled": stats.cancelled,
        "expired": stats.expired,
        "refused": stats.refused,
    }
    assert found == {name: ends[name] for name in found}
    started = [j for j in journeys if j.started is not None]
    assert stats.admitted == len(started)
    longest = max(((j.started - j.arrives) * FRAME_S for j in started), default=0.0)
    assert stats.longest_wait_s == pytest.approx(longest)
    assert all(j.started is not None for j in journeys if j.ends == ["done"])


@pytest.mark.parametrize(
    ("slots", "per_step", "max_waiting"), [(8, 1, 12), (32, 2, None), (3, 1, 5), (1, 1, None)]
)
def test_a_thousand_random_arrivals(slots, per_step, max_waiting):
    load = Load(
        seed=slots,
        arrivals=1000,
        slots=slots,
        per_step=per_step,
        max_waiting=max_waiting,
        clients=6,
        per_frame=slots / 16,
        cancelled=0.2,
        hurried=0.2,
    )
    run = Run(load)
    journeys = run.until_idle()
    check_turns(load, journeys)
    check_ends(load, run, journeys)
    ends = Counter(j.ends[0] for j in journeys)
    assert min(ends["done"], ends["cancelled"], ends["expired"]) > 50
    assert (ends["refused"] > 0) == (max_waiting is not None)
    assert run.moves > 0 or slots == 1


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    slots=st.integers(1, 33),
    per_step=st.integers(1, 4),
    max_waiting=st.none() | st.integers(0, 20),
    clients=st.integers(1, 8),
    per_frame=st.floats(0.02, 5.0),
    longest=st.integers(1, 60),
    cancelled=st.sampled_from([0.0, 0.3]),
    hurried=st.sampled_from([0.0, 0.3]),
    compacts=st.booleans(),
)
def test_any_load_keeps_the_books(seed, **parts):
    load = Load(seed=seed, arrivals=60, **parts)
    run = Run(load)
    journeys = run.until_idle()
    check_turns(load, journeys)
    check_ends(load, run, journeys)


def test_one_request_beside_a_flood_waits_its_turn():
    """500 texts of one client: another's single text starts after at most two departures."""
    scheduler = Scheduler(4, prefills_per_step=1)
    for ticket in range(500):
        scheduler.submit(ticket, now_s=0.0, client="flood")
    started = {a.ticket: 0 for a in scheduler.admit(0.0)}
    assert len(started) == 4
    scheduler.submit(1000, now_s=0.0, client="single")
    length = 50
    for frame in range(1, 3 * length):
        for ticket in [t for t in scheduler.running.values() if frame - started[t] == length]:
            scheduler.finish(ticket, frame * FRAME_S)
        started |= {a.ticket: frame for a in scheduler.admit(frame * FRAME_S)}
        if 1000 in started:
            break
    assert started[1000] <= length + 1


def test_clients_take_turns_and_keep_their_order():
    scheduler = Scheduler(1)
    for ticket, client in enumerate("aaabbc"):
        scheduler.submit(ticket, now_s=0.0, client=client)
    order = []
    while not scheduler.is_idle:
        (admission,) = scheduler.admit(1.0)
        order.append(admission.ticket)
        scheduler.finish(admission.ticket, 1.0)
    assert order == [0, 3, 5, 1, 4, 2]


def test_an_empty_engine_starts_all_and_a_busy_one_a_prompt_a_frame():
    scheduler = Scheduler(4, prefills_per_step=1)
    for ticket in range(3):
        scheduler.submit(ticket, now_s=0.0)
    assert [(a.ticket, a.slot) for a in scheduler.admit(0.0)] == [(0, 0), (1, 1), (2, 2)]
    scheduler.finish(0, 1.0)
    for ticket in (3, 4):
        scheduler.submit(ticket, now_s=1.0)
    assert [(a.ticket, a.slot) for a in scheduler.admit(1.0)] == [(3, 0)]
    assert [(a.ticket, a.slot) for a in scheduler.admit(1.1)] == [(4, 3)]
    assert scheduler.admit(1.2) == []


def test_a_full_queue_says_when_to_come_back():
    scheduler = Scheduler(2, max_waiting=1)
    for ticket in range(2):
        scheduler.submit(ticket, now_s=0.0)
    scheduler.submit(2, now_s=0.0)
    with pytest.raises(BusyError, match="all 2 slots are taken") as caught:
        scheduler.submit(3, now_s=0.0)
    assert caught.value.retry_after_s is None
    scheduler.admit(0.0)
    scheduler.finish(0, 6.0)
    scheduler.submit(4, now_s=6.0)
    with pytest.raises(BusyError, match=r"Try again in about 3\.0 s") as caught:
        scheduler.submit(5, now_s=6.0)
    assert caught.value.retry_after_s == pytest.approx(3.0)
    assert caught.value.exit_code == 3
    assert scheduler.stats(6.0).refused == 2


def test_without_a_queue_only_free_slots_are_given():
    scheduler = Scheduler(2, max_waiting=0)
    scheduler.submit(0, now_s=0.0)
    scheduler.submit(1, now_s=0.0)
    with pytest.raises(BusyError):
        scheduler.submit(2, now_s=0.0)


def test_deadlines_end_what_waits_and_what_runs():
    scheduler = Scheduler(1)
    scheduler.submit(0, now_s=0.0, deadline_s=2.0)
    scheduler.submit(1, now_s=0.0, deadline_s=1.0)
    scheduler.submit(2, now_s=0.0)
    assert [a.ticket for a in scheduler.admit(0.0)] == [0]
    assert scheduler.expired(0.99) == []
    assert scheduler.expired(1.0) == [1]
    assert scheduler.expired(2.5) == [0]
    assert [(a.ticket, a.slot) for a in scheduler.admit(2.5)] == [(2, 0)]
    assert scheduler.stats(2.5).expired == 2


def test_a_late_request_is_never_started_even_if_nobody_asked_for_it():
    scheduler = Scheduler(1)
    scheduler.submit(0, now_s=0.0, deadline_s=1.0)
    scheduler.submit(1, now_s=0.0)
    assert [a.ticket for a in scheduler.admit(3.0)] == [1]
    assert scheduler.expired(3.0) == [0]


def test_unknown_tickets_are_an_error_and_a_slot_is_freed_once():
    scheduler = Scheduler(2)
    scheduler.submit(7, now_s=0.0)
    with pytest.raises(AssertionError):
        scheduler.submit(7, now_s=0.0)
    with pytest.raises(KeyError, match="waits"):
        scheduler.finish(7, 0.0)
    scheduler.admit(0.0)
    assert scheduler.finish(7, 1.0) == 0
    for call in (scheduler.finish, scheduler.cancel):
        with pytest.raises(KeyError):
            call(7, 1.0)
    assert scheduler.expired(1e9) == []
    scheduler.submit(8, now_s=1.0)
    assert scheduler.cancel(8, 1.0) is None
    assert scheduler.is_idle


def test_buckets_cover_their_rows():
    assert [bucket_of(n) for n in (0, 1, 2, 3, 4, 5, 9, 17, 32, 33, 65)] == [
        0, 1, 2, 4, 4, 8, 16, 32, 32, 64, 96,
    ]  # fmt: skip
    assert all(bucket_of(size) == size for size in BUCKETS)
    assert [Scheduler(3).bucket(n) for n in range(4)] == [0, 1, 2, 3]


def test_a_move_is_proposed_only_where_it_reaches_a_smaller_bucket():
    scheduler = Scheduler(8, prefills_per_step=8)
    for ticket in range(6):
        scheduler.submit(ticket, now_s=0.0)
    scheduler.admit(0.0)
    assert scheduler.compaction() is None
    scheduler.finish(1, 1.0)
    assert (scheduler.rows, scheduler.compaction()) == (6, None), "five rows need the bucket of eight"
    scheduler.finish(3, 1.0)
    assert scheduler.compaction() == (5, 1)
    scheduler.submit(6, now_s=1.0)
    assert scheduler.compaction() is None, "who waits takes the gap"
    assert scheduler.cancel(6, 1.0) is None
    scheduler.move(5, 1)
    assert scheduler.compaction() == (4, 3)
    scheduler.move(4, 3)
    assert (scheduler.rows, scheduler.compaction()) == (4, None)
    assert scheduler.running == {0: 0, 1: 5, 2: 2, 3: 4}
    with pytest.raises(KeyError):
        scheduler.move(0, 1)
    with pytest.raises(KeyError):
        scheduler.move(6, 7)


def test_who_waits_counts_towards_the_longest_wait():
    scheduler = Scheduler(1)
    scheduler.submit(0, now_s=0.0)
    scheduler.admit(0.5)
    scheduler.submit(1, now_s=1.0)
    assert scheduler.stats(1.2).longest_wait_s == pytest.approx(0.5)
    assert scheduler.stats(9.0).longest_wait_s == pytest.approx(8.0)
