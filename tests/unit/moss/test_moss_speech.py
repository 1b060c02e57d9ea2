"""Text in, audio out: streams, contexts, guards, batches, and what is refused before anything runs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from moss_voice_kit import key_with, moss_request, moss_voice, synthesizer

from refprep.cloning.audio import pcm16
from refprep.engine.chunk_ramp import ChunkRamp
from refprep.errors import TextInputError, UsageError
from refprep.guard.budget import frame_budget
from refprep.guard.runaway import RunawayGuard
from refprep.types import CloneMode, MossSampling, SamplingParams, StopReason, StreamEnd

pytestmark = pytest.mark.usefixtures("one_torch_thread")

MODES = (CloneMode.CLONE, CloneMode.CONTINUATION, CloneMode.BOTH)
HOT = MossSampling(text_temperature=1.2, text_top_k=0, audio_temperature=1.3, audio_top_k=0, audio_top_p=0.9)


def streamed(request, ramp=None):
    engine = synthesizer()
    if ramp is not None:
        stream = engine.open(request, ramp=ramp)
        parts = []
        while not stream.is_done:
            engine.step()
            parts += stream.take()
        return np.concatenate([*parts, *stream.take()]), stream.outcome()
    *parts, end = engine.stream(request)
    assert isinstance(end, StreamEnd)
    return np.concatenate(parts), end


def requests_of_every_kind():
    found = [moss_request(voice=None), moss_request("Hi.", instruct="slowly", language="Spanish", tokens=12)]
    for mode in MODES:
        found.append(moss_request(voice=moss_voice(mode)))
        found.append(moss_request(voice=moss_voice(mode, frames=140), sampling=HOT, seed=4, max_frames=30))
    return found


@pytest.mark.parametrize("number", range(8))
def test_a_stream_is_the_whole_audio_to_one_step_of_16_bits(number):
    request = requests_of_every_kind()[number]
    (whole,) = synthesizer().speak([request])
    for ramp in (None, ChunkRamp((1,)), ChunkRamp((5, 3))):
        samples, end = streamed(request, ramp)
        assert np.array_equal(end.generated.codes, whole.generated.codes)
        assert len(samples) == end.num_samples == 1920 * end.generated.num_frames == whole.num_samples > 0
        one, other = (np.frombuffer(pcm16(s), "<i2").astype(int) for s in (samples, whole.samples))
        assert np.abs(one - other).max() <= 1
    assert synthesizer().is_idle
    assert not synthesizer()._states
    assert not synthesizer()._contexts


@pytest.mark.parametrize("mode", [CloneMode.CONTINUATION, CloneMode.BOTH])
def test_the_audio_follows_on_the_prefix(mode):
    engine = synthesizer()
    (spoken,) = engine.speak([moss_request(voice=moss_voice(mode, frames=50))])
    context, codes = spoken.generated.context, spoken.generated.codes
    assert len(context) == 50
    joined = engine.decoder.decode(torch.from_numpy(np.concatenate((context, codes))))
    assert np.allclose(spoken.samples, joined.numpy()[50 * 1920 :], atol=1e-5)
    alone = engine.decoder.decode(torch.from_numpy(codes)).numpy()
    assert not np.allclose(spoken.samples[:1920], alone[:1920], atol=1e-4)


def test_several_requests_are_what_each_is_alone():
    requests = requests_of_every_kind()
    together = synthesizer().speak(requests)
    for request, one in zip(requests, together, strict=True):
        (alone,) = synthesizer().speak([request])
        assert np.array_equal(alone.samples, one.samples)
        assert alone.generated.stop is one.generated.stop


class Watcher:
    """Stops after so many frames, or samples."""

    def __init__(self, frames=None, samples=None):
        self.limits, self.frames, self.samples, self.ranks = (frames, samples), 0, 0, set()

    def on_frame(self, frame, eos_rank):
        self.frames += 1
        self.ranks.add(eos_rank)
        return StopReason.REPEATING if self.frames == self.limits[0] else None

    def on_audio(self, samples):
        self.samples += len(samples)
        limit = self.limits[1]
        return StopReason.NOT_SPEECH if limit is not None and self.samples >= limit else None


@pytest.mark.parametrize("limits", [{"frames": 5}, {"samples": 1920}])
def test_a_guard_ends_it_and_hears_no_rank_of_eos(limits):
    watcher = Watcher(**limits)
    request = moss_request(sampling=HOT, seed=4, max_frames=60)
    *parts, end = synthesizer().stream(request, watcher)
    assert end.generated.stop in (StopReason.REPEATING, StopReason.NOT_SPEECH)
    assert watcher.ranks == {None}
    assert sum(map(len, parts)) == 1920 * end.generated.num_frames
    assert watcher.samples <= end.num_samples


def test_the_rule_about_eos_is_off():
    guard = RunawayGuard(frame_budget("Hi.", "en"))
    rng = np.random.default_rng(0)
    for _ in range(60):
        assert guard.on_frame(rng.integers(0, 1024, 32).astype(np.int32), None) is None
    assert guard.signs.lowest_eos_rank is None


def test_closing_a_stream_or_cancelling_it_leaves_nothing_behind():
    engine = synthesizer()
    items = engine.stream(moss_request(sampling=HOT, seed=4, max_frames=60))
    next(items)
    items.close()
    stream = engine.open(moss_request(sampling=HOT, seed=4, max_frames=60))
    for _ in range(40):
        engine.step()
    stream.cancel()
    assert stream.outcome().generated.stop in (StopReason.CANCELLED, StopReason.EOS)
    assert stream.outcome().num_samples == 1920 * stream.generated.num_frames
    assert engine.is_idle
    assert not engine._states


def test_a_rounded_decoder_speaks_the_same_codes_and_other_samples():
    request = moss_request()
    (exact,) = synthesizer().speak([request])
    (rounded,) = synthesizer("plain-int8").speak([request])
    assert np.array_equal(exact.generated.codes, rounded.generated.codes)
    assert not np.array_equal(exact.samples, rounded.samples)
    assert synthesizer("plain-int8").facts["decoder_precision"] == "plain-int8"


CODES = moss_voice().codes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"codes": "voices/ana/reference.wav"}, "it reads no audio"),
        ({"codes": CODES.astype(np.float32)}, "holds float32"),
        ({"codes": CODES[:, :16]}, "shape"),
        ({"codes": CODES[0]}, "shape"),
        ({"codes": CODES[:0]}, "shape"),
        ({"codes": CODES + 1000}, "a codebook has 1024"),
        ({"codes": CODES - 1024}, "codes from -1"),
        ({"key": None}, "do not say what made them"),
        ({"key": key_with(encoder_dtype="bfloat16")}, "RP501"),
        ({"key": key_with(encoder_dtype="int8")}, "in int8"),
        ({"key": key_with(codec="qwen3_tts_tokenizer_12hz", num_codebooks=16)}, "of the codec qwen3_tts"),
        ({"mode": CloneMode.X_VECTOR, "speaker_embedding": np.ones(4, np.float32)}, "one of Qwen3-TTS"),
    ],
)
def test_codes_that_are_not_its_own_are_one_error(changes, words):
    voice = dataclasses.replace(moss_voice(), **changes)
    with pytest.raises(UsageError, match=words):
        synthesizer().check(moss_request(voice=voice))
    with pytest.raises(UsageError, match=words):
        synthesizer().speak([moss_request(), moss_request(voice=voice)])
    assert synthesizer().is_idle


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"text": " "}, TextInputError, "empty"),
        ({"text": "Hi <|im_end|>"}, TextInputError, "control token"),
        ({"speaker": "ryan"}, UsageError, "no built-in speakers"),
        ({"whole_text": False}, UsageError, "the whole text"),
        ({"sampling": SamplingParams()}, UsageError, "Qwen3-TTS"),
    ],
)
def test_what_it_cannot_do_is_one_error(changes, error, words):
    with pytest.raises(error, match=words):
        synthesizer().check(moss_request(**changes))


def test_auto_is_no_language():
    synthesizer().check(moss_request(language="auto"))
    one, other = synthesizer().speak([moss_request(language="auto"), moss_request(language=None)])
    assert np.array_equal(one.samples, other.samples)
