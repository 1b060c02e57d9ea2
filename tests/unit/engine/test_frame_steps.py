"""One frame, four ways: alone, in a batch, compiled, and replayed with late looks, as on a GPU. All give the same codes."""

from __future__ import annotations

import dataclasses
import shutil

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from engine_requests import eight_requests, loaded, same, voice

from refprep.engine.config import read_config
from refprep.engine.cuda_graph import CapturedStep
from refprep.engine.engine import Engine
from refprep.engine.model import TalkerTree
from refprep.engine.prompt import TalkerPrompt
from refprep.engine.runner import suppressed_ids
from refprep.engine.slots import Slots, Stop
from refprep.engine.steps import CompiledStep, EagerStep, StepMode, context_of
from refprep.errors import BackendError, BusyError, UsageError
from refprep.types import GREEDY, CloneMode, SamplingParams, SpeechRequest, StopReason

pytestmark = pytest.mark.usefixtures("one_torch_thread")

NAME = "base-0.6b"


class Recorder:
    """Stands in for a GPU: a recording runs the frame, as warm-ups do, and a replay runs it again."""

    def __init__(self):
        self.records = self.replays = 0

    def __call__(self, run):
        self.records += 1
        for _ in range(2):
            run()

        def replay():
            self.replays += 1
            run()

        return replay


def alone(requests, name=NAME):
    return [Engine(loaded(name), max_batch=1).generate([request])[0] for request in requests]


def replaying(name=NAME, **options):
    return Engine(
        loaded(name), mode=StepMode.GRAPH, record=Recorder(), **({"max_batch": 8, "context": 256} | options)
    )


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
@pytest.mark.parametrize("max_batch", [1, 3, 8])
def test_replayed_frames_are_those_of_a_request_alone(name, max_batch):
    requests = eight_requests(name)
    engine = replaying(name, max_batch=max_batch)
    assert all(same(a, t) for a, t in zip(alone(requests, name), engine.generate(requests), strict=True))
    assert engine.is_idle


def test_codes_do_not_depend_on_slot_bucket_or_company():
    (request,) = eight_requests(NAME)[1:2]
    (expected,) = alone([request])
    filler = [dataclasses.replace(request, seed=s, max_frames=30) for s in range(100, 107)]
    for before in (0, 1, 3, 7):
        for engine in (replaying(), Engine(loaded(NAME), rows_together=True)):
            tickets = [engine.add(f) for f in filler[:before]]
            assert same(engine.generate([request])[0], expected), before
            for ticket in tickets:
                engine.cancel(ticket)


def test_everything_usual_is_captured_before_the_first_request():
    engine = replaying()
    before = engine.captures
    assert before == 4  # 1, 2, 4 and 8 rows of one context
    usual = [dataclasses.replace(r, sampling=loaded(NAME).sampling) for r in eight_requests(NAME)]
    greedy = dataclasses.replace(usual[0], sampling=GREEDY)
    engine.generate([*usual, greedy])
    assert engine.captures == before


def test_graphs_need_a_gpu():
    with pytest.raises(UsageError, match="captured on a GPU"):
        Engine(loaded(NAME), mode=StepMode.GRAPH)


def test_graphs_wait_until_they_are_needed():
    engine = replaying(captures_ahead=False)
    assert engine.captures == 0
    request = eight_requests(NAME)[1]
    assert same(engine.generate([request])[0], alone([request])[0])
    assert engine.captures == 1


def test_a_capture_between_frames_disturbs_nobody():
    """A request with top-p joins three that run: its sampler is captured over their rows."""
    usual = [dataclasses.replace(r, sampling=SamplingParams()) for r in eight_requests(NAME)[1:4]]
    hot = dataclasses.replace(
        eight_requests(NAME)[0], sampling=SamplingParams(top_p=0.7, subtalker_top_p=0.9, top_k=77)
    )
    engine = replaying()
    tickets = [engine.add(r) for r in usual]
    for _ in range(5):
        engine.step()
    before = engine.captures
    tickets.append(engine.add(hot))
    while not engine.is_idle:
        engine.step()
    assert engine.captures > before
    for ticket, expected in zip(tickets, alone([*usual, hot]), strict=True):
        assert same(engine.take(ticket), expected)


def test_graphs_are_made_anew_when_the_slots_grow():
    requests = [dataclasses.replace(r, max_frames=300) for r in eight_requests(NAME)[1:2]]
    engine = replaying(max_batch=2)
    first = eight_requests(NAME)[0]
    assert same(engine.generate([first])[0], alone([first])[0])
    before = engine.captures
    assert same(engine.generate(requests)[0], alone(requests)[0])
    assert engine.captures > before


def test_running_rows_move_into_a_smaller_bucket():
    base = eight_requests(NAME)[1]
    requests = [dataclasses.replace(base, seed=n, max_frames=6 if n < 7 else 40) for n in range(8)]
    engine = replaying(never_ends=True)
    tickets = [engine.add(r) for r in requests]
    rows = []
    while not engine.is_idle:
        engine.step()
        rows.append(engine.scheduler.rows)
    assert rows[0] == 8
    assert rows[-5] == 1
    expected = [Engine(loaded(NAME), never_ends=True).generate([r])[0] for r in requests]
    assert all(same(engine.take(t), e) for t, e in zip(tickets, expected, strict=True))


def test_a_cancelled_slot_is_given_to_the_next_while_its_last_frame_is_under_way():
    requests = eight_requests(NAME)
    engine = replaying(max_batch=1)
    one, two = engine.add(requests[1]), engine.add(requests[6])
    for _ in range(4):
        engine.step()
    engine.cancel(one)
    while not engine.is_idle:
        engine.step()
    cut, expected = engine.take(one), alone(requests[1:2])[0]
    assert cut.stop is StopReason.CANCELLED
    assert np.array_equal(cut.codes, expected.codes[: cut.num_frames])
    assert same(engine.take(two), alone(requests[6:7])[0])


def test_a_row_that_stopped_keeps_its_place():
    engine = Engine(loaded(NAME), max_batch=2, rows_together=True)
    short, long = (dataclasses.replace(eight_requests(NAME)[0], max_frames=n) for n in (2, 40))
    engine.generate([short, long])
    assert engine._slots.stop.tolist() == [Stop.EMPTY, Stop.EMPTY]
    assert engine._slots.position.tolist() == [0, 0]


def test_a_full_queue_refuses_and_a_late_request_is_cancelled():
    now = [0.0]
    engine = Engine(loaded(NAME), max_batch=1, max_waiting=1, clock=lambda: now[0])
    requests = eight_requests(NAME)
    running = engine.add(requests[1])
    late = engine.add(requests[2], deadline_s=5.0)
    with pytest.raises(BusyError):
        engine.add(requests[3])
    engine.step()
    now[0] = 6.0
    engine.step()
    assert engine.take(late).stop is StopReason.CANCELLED
    assert engine.take(late) is None
    while not engine.is_idle:
        engine.step()
    assert same(engine.take(running), alone(requests[1:2])[0])


def test_the_second_request_of_a_voice_reads_its_text_alone():
    engine = Engine(loaded(NAME))
    requests = [
        SpeechRequest(text, voice=voice(NAME, CloneMode.ICL, frames=61), whole_text=True, max_frames=3)
        for text in ("Once.", "And once more.")
    ]
    results = engine.generate(requests)
    assert engine.prefixes.stats.hits == 1
    assert all(same(r, a) for r, a in zip(results, alone(requests), strict=True))


@pytest.mark.parametrize(
    ("limit", "capacity", "context"), [(1, 4096, 256), (257, 4096, 512), (300, 300, 300)]
)
def test_contexts_are_few(limit, capacity, context):
    assert context_of(limit, capacity) == context


def test_a_long_context_is_a_multiple_of_the_longest_bucket():
    assert context_of(4097, 100_000) == 8192


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
def test_traced_whole_the_frame_gives_the_same_codes(name):
    """fullgraph raises at any graph break: a branch on data, a look from the host, an unknown call."""
    requests = eight_requests(name)[1:5]
    engine = Engine(loaded(name), max_batch=4, rows_together=True, context=256)
    engine._step = CompiledStep(
        engine._talker, engine._slots, suppressed_ids(engine._talker), backend="eager"
    )
    assert all(same(a, t) for a, t in zip(alone(requests, name), engine.generate(requests), strict=True))


def small_talker():
    """One layer each and three codebooks: a frame that compiles in seconds."""
    config = read_config(tiny_checkpoint(NAME))
    shape = config.talker_config
    predictor = dataclasses.replace(shape.code_predictor_config, num_hidden_layers=1, num_code_groups=3)
    config = dataclasses.replace(
        config,
        talker_config=dataclasses.replace(
            shape, num_hidden_layers=1, num_code_groups=3, code_predictor_config=predictor
        ),
    )
    tree = TalkerTree(config).eval().requires_grad_(False)
    generator = torch.Generator().manual_seed(5)
    for parameter in tree.parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    tree.talker.prepare()
    return tree.talker


def occupied(talker, sampling):
    slots = Slots.empty(talker, slots=len(sampling))
    slots.reserve(talker, tokens=64, frames=32, steps=8)
    slots.set_sampling(sampling, talker.config)
    generator = torch.Generator().manual_seed(6)
    for row, params in enumerate(sampling):
        embeds = torch.randn(10 + row, talker.config.hidden_size, generator=generator)
        slots.occupy(row, TalkerPrompt(embeds, embeds[:5], embeds[0]), params, seed=row, frames=20)
        view = slots.rows(slice(row, row + 1))
        view.hidden.copy_(talker.prefill(embeds[None], slots.rotary, view.cache)[:, -1])
    return slots


def written(step, slots, frames=12):
    limit = int(slots.position.max()) + 1
    reports = []
    for n in range(frames):
        step(slice(0, slots.row.shape[0]), limit=limit + n)
        reports.append(slots.report.clone())
    return torch.stack(reports)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing: nothing compiles on a CPU")
@pytest.mark.filterwarnings("ignore")  # of the compiler's own modules
@torch.inference_mode()
def test_compiled_the_frame_gives_the_same_codes():
    talker = small_talker()
    sampling = [SamplingParams(), GREEDY, SamplingParams(top_p=0.8, temperature=1.3)]
    found = []
    for kind in (EagerStep, CompiledStep):
        slots = occupied(talker, sampling)
        found.append(written(kind(talker, slots, suppressed_ids(talker)), slots))
    assert torch.equal(*found)
    assert len(found[0][:, 0].unique(dim=0)) > 6  # it does speak


@torch.inference_mode()
def test_a_general_sampler_draws_what_the_exact_one_draws():
    talker = small_talker()
    sampling = [SamplingParams(), SamplingParams(top_k=0), GREEDY]
    slots = occupied(talker, sampling)
    expected = written(EagerStep(talker, slots, suppressed_ids(talker)), slots)
    slots = occupied(talker, sampling)
    usual = (slots.first.profile, slots.rest.profile)
    narrow = tuple(dataclasses.replace(p, max_top_k=1) for p in usual)
    step = CapturedStep(talker, slots, suppressed_ids(talker), usual=narrow, record=Recorder())
    assert torch.equal(written(step, slots), expected)


@torch.inference_mode()
def test_what_does_not_compile_says_so(monkeypatch):
    talker = small_talker()
    slots = occupied(talker, [GREEDY])

    def broken(graph, inputs):
        raise RuntimeError("no compiler")

    step = CompiledStep(talker, slots, suppressed_ids(talker), backend=broken)
    with pytest.raises(BackendError, match="does not compile"):
        step(slice(0, 1), limit=20)
