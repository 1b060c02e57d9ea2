"""Streams come, go and are cancelled at any time: each one's audio is the whole decode of its own codes, and nothing else."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.chunk_ramp import CPU_RAMP, MANY_STREAMS, SHARED_RAMP, ChunkRamp
from refprep.engine.codec import CodecDecoder, load_codec_decoder
from refprep.engine.model import load_checkpoint
from refprep.engine.speech import SpeechEngine
from refprep.errors import DeviceError, TextInputError, UsageError
from refprep.types import CloneMode, SpeechRequest, StopReason, StreamEnd, VoicePrompt

pytestmark = pytest.mark.usefixtures("one_torch_thread")

NAME = "base-0.6b"


@cache
def checkpoint():
    return load_checkpoint(tiny_checkpoint(NAME), device=torch.device("cpu"), dtype=torch.float32)


@cache
def decoder():
    return load_codec_decoder(tiny_checkpoint(NAME), "cpu")


@cache
def voice(number):
    """0: by its embedding alone; others in context."""
    generator = np.random.default_rng(number)
    vector = generator.standard_normal(checkpoint().config.talker_config.hidden_size).astype(np.float32)
    if number == 0:
        return VoicePrompt(CloneMode.X_VECTOR, vector)
    codes = generator.integers(0, 2048, (3 + 8 * number, 16)).astype(np.int32)
    return VoicePrompt(CloneMode.ICL, vector, "The words of the reference.", codes)


def request(seed=0, frames=9, voice_number=0, text="Hi."):
    return SpeechRequest(text, voice=voice(voice_number), seed=seed, max_frames=frames)


def engine(**options):
    return SpeechEngine(checkpoint(), decoder(), **options)


def whole(asked, generated):
    """The codes of a request at one go, behind its reference."""
    state = decoder().fresh()
    if asked.voice.mode is CloneMode.ICL:
        decoder().decode(torch.from_numpy(asked.voice.codes.copy()), state=state)
    codes = torch.from_numpy(generated.codes.astype(np.int64).reshape(-1, 16))
    return decoder().decode(codes, state=state, chunk_frames=max(len(codes), 1)).numpy()


def joined(parts):
    return np.concatenate([*parts, np.zeros(0, np.float32)])


def is_whole(stream, parts):
    """Every frame's 1920 samples, within one step of 16-bit PCM of the whole decode."""
    samples, truth = joined(parts), whole(stream.request, stream.generated)
    assert len(samples) == stream.num_samples == 1920 * stream.generated.num_frames
    steps = np.abs(np.rint(samples * 32767) - np.rint(truth * 32767))
    return steps.max(initial=0) <= 1


RAMPS = st.builds(
    ChunkRamp,
    st.lists(st.integers(1, 8), min_size=1, max_size=4).map(tuple),
    busy_rungs=st.just(()),
    follows_slack=st.booleans(),
)
REQUESTS = st.builds(
    request, seed=st.integers(0, 3), frames=st.integers(1, 12), voice_number=st.integers(0, 2)
)
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("open"), REQUESTS),
        st.tuples(st.just("step"), st.integers(1, 5)),
        st.tuples(st.just("cancel"), st.integers(0, 5)),
        st.tuples(st.just("take"), st.integers(0, 5)),
        st.tuples(st.just("pass"), st.floats(0, 0.3)),
    ),
    max_size=12,
)


class HandClock:
    """Moves when it is moved."""

    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        self.now_s += 0.001
        return self.now_s


@settings(max_examples=25, deadline=None)
@given(st.booleans(), RAMPS, st.lists(REQUESTS, min_size=1, max_size=3), MOVES)
def test_any_chunks_joins_and_cancellations_lose_no_sample(together, ramp, first, moves):
    clock = HandClock()
    speech = engine(max_batch=3, rows_together=together, ramp=ramp, clock=clock)
    streams = [speech.open(asked) for asked in first]
    parts = {s: [] for s in streams}
    for move, what in [*moves, ("step", 6)]:
        if move == "open":
            streams.append(speech.open(what))
            parts[streams[-1]] = []
        elif move == "step":
            for _ in range(what):
                speech.step()
        elif move == "pass":
            clock.now_s += what
        elif what < len(streams):
            if move == "cancel":
                streams[what].cancel()
                assert streams[what].is_done
            parts[streams[what]] += streams[what].take()
    while not speech.is_idle:
        speech.step()
    for stream in streams:
        parts[stream] += stream.take()
        assert stream.is_done
        assert stream.take() == []
        assert is_whole(stream, parts[stream])
        if not together and not ramp.follows_slack and stream.generated.stop is not StopReason.CANCELLED:
            *alone, end = engine(ramp=ramp).stream(stream.request)
            assert np.array_equal(end.generated.codes, stream.generated.codes)
            assert np.array_equal(joined(alone), joined(parts[stream]))
    assert speech._open == {}
    assert len(speech._chunks._free) == speech._chunks.num_rows


def test_a_stream_is_spoken_in_growing_chunks_and_ends_with_its_record():
    *parts, end = engine().stream(request(frames=30))
    assert isinstance(end, StreamEnd)
    assert [len(p) // 1920 for p in parts] == [1, 4, 12, 12, 1]
    assert end.num_samples == 30 * 1920
    assert end.duration_s == pytest.approx(2.4)
    assert 0 < end.first_audio_s < end.wall_s
    (spoken,) = engine().speak([request(frames=30)])
    assert np.array_equal(end.generated.codes, spoken.generated.codes)
    assert np.abs(joined(parts) - spoken.samples).max() * 32767 < 1


def test_audio_comes_with_the_first_frame():
    speech = engine()
    stream = speech.open(request())
    assert stream.take() == []
    speech.step()
    assert [len(p) for p in stream.take()] == [1920]
    assert stream.first_audio_s is not None
    assert not stream.is_done


@pytest.mark.parametrize("together", [False, True])
def test_many_at_once_are_spoken_whole(together):
    requests = [request(seed=n, frames=1 + 2 * n, voice_number=n % 3) for n in range(MANY_STREAMS + 2)]
    speech = engine(rows_together=together, ramp=SHARED_RAMP if together else CPU_RAMP)
    results = speech.speak(requests)
    for asked, result in zip(requests, results, strict=True):
        assert len(result.samples) == 1920 * result.generated.num_frames
        assert np.abs(result.samples - whole(asked, result.generated)).max() * 32767 < 1
    if not together:
        for number in (0, 3, MANY_STREAMS + 1):
            (alone,) = engine().speak([requests[number]])
            assert np.array_equal(alone.samples, results[number].samples)


class Hears:
    """A guard that stops at some frame, or when it has heard some audio."""

    def __init__(self, *, at_frame=10**6, at_samples=10**6):
        self.at_frame, self.at_samples, self.frames, self.samples = at_frame, at_samples, 0, 0

    def on_frame(self, frame, eos_rank):
        self.frames += 1
        return StopReason.REPEATING if self.frames == self.at_frame else None

    def on_audio(self, samples):
        self.samples += len(samples)
        return StopReason.NOT_SPEECH if self.samples >= self.at_samples else None


def test_a_guard_ends_a_request_by_a_frame_or_by_its_audio():
    by_frame, by_audio = Hears(at_frame=7), Hears(at_samples=5 * 1920)
    streamed = (
        list(engine().stream(request(frames=40), by_frame)),
        list(engine().stream(request(frames=40), by_audio)),
    )
    for (*parts, end), stop, frames in zip(
        streamed, (StopReason.REPEATING, StopReason.NOT_SPEECH), (7, 6), strict=True
    ):
        assert (end.generated.stop, end.generated.num_frames) == (stop, frames)
        assert len(joined(parts)) == end.num_samples == frames * 1920
    (spoken,) = engine().speak([request(frames=40)], [Hears(at_samples=12 * 1920)])
    assert (spoken.generated.stop, spoken.generated.num_frames) == (StopReason.NOT_SPEECH, 13)
    assert len(spoken.samples) == 13 * 1920


def test_a_request_that_nobody_needs_any_more_is_cancelled():
    clock = HandClock()
    speech = engine(clock=clock, max_batch=1)
    running, waiting = speech.open(request(frames=40), deadline_s=2.0), speech.open(request(), deadline_s=9.0)
    speech.step()
    clock.now_s += 2.0
    speech.step()
    assert running.is_done
    assert running.generated.stop is StopReason.CANCELLED
    assert is_whole(running, running.take())
    assert not waiting.is_done
    clock.now_s += 9.0
    speech.step()
    assert waiting.is_done
    assert speech.is_idle


def test_a_closed_stream_leaves_nothing_behind():
    speech = engine(max_batch=1)
    stream = speech.stream(request(frames=40))
    next(stream)
    stream.close()
    assert speech.is_idle
    assert speech._open == {}
    *parts, end = speech.stream(request(seed=3))
    assert len(joined(parts)) == end.num_samples


def test_what_is_refused_leaves_nothing_behind():
    speech = engine()
    with pytest.raises(UsageError):
        speech.speak([request(), SpeechRequest("Hi.", speaker="ryan")])
    with pytest.raises(TextInputError):
        speech.speak([request(), request(frames=32_768)])
    assert speech.is_idle
    assert speech._open == {}


class OutOfMemory(CodecDecoder):
    """Fails at one call."""

    fails_at = -1

    def step(self, *args, **more):
        self.fails_at -= 1
        if self.fails_at == 0:
            raise DeviceError("the device ran out of memory", where="codec decoder", fix="none")
        return super().step(*args, **more)


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("fails_at", [1, 2, 4])
def test_a_codec_that_fails_ends_requests_with_whole_frames(together, fails_at):
    healthy = decoder()
    failing = OutOfMemory(healthy.network, healthy.config, healthy._weights, healthy.device)
    speech = SpeechEngine(checkpoint(), failing, rows_together=together)
    streams = [speech.open(request(seed=n, frames=20)) for n in range(2)]
    failing.fails_at = fails_at
    parts, errors = [[], []], 0
    while not speech.is_idle:
        try:
            speech.step()
        except DeviceError:
            errors += 1
        for own, stream in zip(parts, streams, strict=True):
            own += stream.take()
    assert errors == 1
    assert speech._open == {}
    for own, stream in zip(parts, streams, strict=True):
        assert is_whole(stream, own)
    assert any(s.generated.stop is StopReason.CANCELLED for s in streams)
    *again, end = speech.stream(request(seed=7))
    assert len(joined(again)) == end.num_samples == 9 * 1920


def test_a_voice_is_decoded_once():
    speech = engine()
    asked = request(voice_number=2)
    speech.speak([asked, asked])
    state = speech._chunks.voices.after(asked.voice.codes)
    speech.speak([asked])
    assert speech._chunks.voices.after(asked.voice.codes) is state
    assert state.frames.tolist() == [len(asked.voice.codes)]
