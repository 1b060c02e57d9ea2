"""Runaways are stopped in time; slow speech, long pauses and real readings are not."""

from __future__ import annotations

import csv

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.dsp.resample import resample
from refprep.engine.codec import load_codec_encoder
from refprep.guard.budget import frame_budget
from refprep.guard.runaway import RunawayGuard
from refprep.pipeline.decode import decode_file
from refprep.types import StopReason

TEXT = "A text of some length, which takes a reader about four seconds."
BUDGET = frame_budget(TEXT, "en")
RATE = 24_000


def speech_codes(frames, seed=0):
    """Codes that change as those of speech do: now and then one stands for a few frames."""
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2048, (frames, 16)).astype(np.int32)
    for start in range(0, frames - 8, 16):
        codes[start : start + int(generator.integers(1, 7)), 0] = codes[start, 0]
    return codes


def run(codes, *, budget=BUDGET, ranks=None):
    """Frames that are let through, and why it ended: as the engine asks, frame by frame, up to the budget."""
    guard = RunawayGuard(budget)
    ranks = np.full(len(codes), 500) if ranks is None else ranks
    for number, (frame, rank) in enumerate(zip(codes[: budget.max_frames], ranks, strict=False), start=1):
        reason = guard.on_frame(frame, int(rank))
        if reason is not None:
            return number, reason
    return min(len(codes), budget.max_frames), StopReason.MAX_FRAMES


def attractor(codes, start, period):
    stuck = codes.copy()
    cycle = np.arange(period) * 7 + 3
    stuck[start:, 0] = np.resize(cycle, len(codes) - start)
    return stuck


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1000), start=st.integers(0, 150), period=st.integers(1, 12))
def test_every_attractor_ends_within_its_budget(seed, start, period):
    codes = attractor(speech_codes(4000, seed), start, period)
    frames, reason = run(codes)
    assert frames / 12.5 <= BUDGET.max_s + 0.08
    if 2 <= period <= 8 and start < 40:
        assert reason is StopReason.REPEATING
        assert frames <= start + 61


def test_a_repeated_frame_is_stopped_sooner_when_it_is_late():
    early, late = speech_codes(400), speech_codes(400)
    early[10:], late[80:] = early[10], late[80]
    assert run(early) == (41, StopReason.REPEATING)
    assert run(late) == (99, StopReason.REPEATING)


def test_one_code_of_codebook_0_is_stopped_though_the_others_move_on():
    frames, reason = run(attractor(speech_codes(400), 20, 1))
    assert (frames, reason) == (90, StopReason.REPEATING)


def test_speech_that_never_ends_is_stopped_by_the_budget():
    frames, reason = run(speech_codes(4000))
    assert reason is StopReason.MAX_FRAMES
    assert frames == BUDGET.max_frames


def test_eos_that_is_near_and_never_drawn_is_an_end_too():
    ranks = np.full(400, 500)
    ranks[80:] = 1
    frames, reason = run(speech_codes(400), ranks=ranks)
    assert (frames, reason) == (105, StopReason.REPEATING)


@given(seed=st.integers(0, 200), pause=st.integers(2, 29))
@settings(max_examples=30, deadline=None)
def test_a_long_pause_within_the_text_is_let_through(seed, pause):
    """Silence repeats a code: 2.4 s of it stand between two sentences."""
    codes = speech_codes(50, seed)
    codes[15 : 15 + pause] = codes[15]
    assert run(codes)[0] == 50


def tone(seconds, level=0.1):
    return (level * np.sin(2 * np.pi * 120 * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)


def syllables(seconds, seed=0):
    """Noise whose level goes up and down four times a second, as speech does."""
    time = np.arange(round(seconds * RATE)) / RATE
    carrier = np.sin(2 * np.pi * 150 * time) + 0.5 * np.sin(2 * np.pi * 450 * time)
    return (0.2 * carrier * np.sin(2 * np.pi * 2 * time) ** 2).astype(np.float32)


@pytest.mark.parametrize(
    ("tail", "word"),
    [
        (np.zeros(20 * RATE, np.float32), "silent"),
        (tone(20), "steady"),
        ((1e-3 * np.random.default_rng(0).standard_normal(20 * RATE)).astype(np.float32), "noise"),
        ((0.05 * np.random.default_rng(0).standard_normal(20 * RATE)).astype(np.float32), "noise"),
        (
            (0.05 * np.random.default_rng(0).standard_normal(20 * RATE)).astype(np.float32)
            * (0.5 + 0.45 * np.sin(np.arange(20 * RATE) / RATE * 9)).astype(np.float32),
            "noise",
        ),
    ],
)
def test_a_tail_that_is_no_speech_is_stopped(tail, word):
    audio = np.concatenate((syllables(4.5), tail))
    guard = RunawayGuard(BUDGET)
    for start in range(0, len(audio), 1920 * 4):
        if guard.on_audio(audio[start : start + 1920 * 4]) is not None:
            break
    assert guard.signs.reason is StopReason.NOT_SPEECH
    assert word in guard.signs.why
    assert (start + 1920 * 4) / RATE <= 4.5 + 3.5
    assert (start + 1920 * 4) / RATE <= BUDGET.max_s + 1.5


def test_slow_syllables_go_on():
    guard = RunawayGuard(BUDGET)
    assert guard.on_audio(syllables(12)) is None


def test_the_first_reason_stays():
    guard = RunawayGuard(BUDGET)
    for frame in attractor(speech_codes(90), 0, 1):
        guard.on_frame(frame, 3)
    guard.on_audio(np.zeros(20 * RATE, np.float32))
    assert guard.signs.reason is StopReason.REPEATING
    assert guard.signs.longest_repeat_frames == 90
    assert guard.signs.lowest_eos_rank == 3


@pytest.mark.speech
@pytest.mark.slow
@pytest.mark.usefixtures("one_torch_thread")
def test_no_labelled_reading_is_stopped_and_every_runaway_behind_one_is(speech_pack):
    """Recorded streams: the labelled clips through a codec of random weights, as they are and with an attractor behind."""
    encoder = load_codec_encoder(tiny_checkpoint("base-0.6b"), "cpu")
    with (speech_pack / "manifest.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["transcript"] and r["kind"] == "original"]
    assert len(rows) > 100
    for row in rows:
        clip = decode_file(speech_pack / row["path"])
        samples = resample(clip.samples, clip.sample_rate_hz, RATE)
        codes = encoder.encode(torch.from_numpy(samples.copy())).numpy()
        budget = frame_budget(row["transcript"], row["language"])
        guard = RunawayGuard(budget)
        for number, frame in enumerate(codes):
            assert guard.on_frame(frame, 500) is None, (row["path"], guard.signs)
            assert guard.on_audio(samples[number * 1920 : (number + 1) * 1920]) is None, (
                row["path"],
                guard.signs,
            )
        endless = np.concatenate((codes, np.repeat(codes[-1:], 3000, axis=0)))
        frames, _ = run(endless, budget=budget)
        assert frames / 12.5 <= max(budget.max_s, len(codes) / 12.5) + 1.5
        assert frames <= budget.max_frames
