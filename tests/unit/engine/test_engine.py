"""What a request gets does not depend on its neighbours; what it cannot get is said before it starts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from engine_requests import eight_requests, loaded, same, voice

from refprep.engine.engine import Engine
from refprep.errors import TextInputError, UsageError
from refprep.types import (
    GREEDY,
    CloneMode,
    SpeechRequest,
    StopReason,
)

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
@pytest.mark.parametrize("max_batch", [8, 3])
@pytest.mark.parametrize("rows_together", [False, True])
def test_a_request_gets_together_what_it_gets_alone(name, max_batch, rows_together):
    requests = eight_requests(name)
    alone = [Engine(loaded(name), max_batch=1).generate([r])[0] for r in requests]
    engine = Engine(loaded(name), max_batch=max_batch, rows_together=rows_together)
    together = engine.generate(requests)
    assert all(same(a, t) for a, t in zip(alone, together, strict=True))
    assert engine.is_idle
    assert same(together[0], together[7])
    back_to_front = Engine(loaded(name), max_batch=max_batch, rows_together=rows_together).generate(
        requests[::-1]
    )
    assert all(same(a, t) for a, t in zip(alone[::-1], back_to_front, strict=True))


def test_a_slot_that_is_used_again_remembers_nothing():
    engine = Engine(loaded("base-0.6b"), max_batch=1)
    requests = eight_requests("base-0.6b")
    first = engine.generate(requests[:1])[0]
    engine.generate(requests[1:7])
    assert same(first, engine.generate(requests[:1])[0])


def test_another_seed_gives_other_codes():
    requests = [dataclasses.replace(eight_requests("base-0.6b")[1], seed=s) for s in (0, 1)]
    one, other = Engine(loaded("base-0.6b")).generate(requests)
    assert not np.array_equal(one.codes, other.codes)


def test_the_budget_counts_frames():
    for frames in (1, 2, 7):
        request = SpeechRequest(
            "Hi.", voice=voice("base-0.6b", CloneMode.X_VECTOR), max_frames=frames, sampling=GREEDY
        )
        (result,) = Engine(loaded("base-0.6b")).generate([request])
        assert (result.num_frames, result.stop) == (frames, StopReason.MAX_FRAMES)
        assert result.codes.dtype == np.int32
        assert len(result.eos_ranks) == frames


def test_a_watch_ends_its_request_alone():
    requests = eight_requests("base-0.6b")[:3]
    seen = []

    def watch(frame, eos_rank):
        seen.append((frame.copy(), eos_rank))
        return StopReason.REPEATING if len(seen) == 5 else None

    results = Engine(loaded("base-0.6b")).generate(requests, [None, watch, None])
    assert [r.stop for r in results] == [StopReason.MAX_FRAMES, StopReason.REPEATING, StopReason.MAX_FRAMES]
    assert np.array_equal(results[1].codes, np.stack([f for f, _ in seen]))
    assert results[1].num_frames == 5


def test_a_stream_gives_the_same_frames_one_by_one():
    request = eight_requests("base-0.6b")[1]
    (whole,) = Engine(loaded("base-0.6b")).generate([request])
    *frames, result = Engine(loaded("base-0.6b")).stream(request)
    assert np.array_equal(np.stack(frames), whole.codes)
    assert same(result, whole)


def test_a_closed_stream_frees_its_slot():
    engine = Engine(loaded("base-0.6b"), max_batch=1)
    stream = engine.stream(eight_requests("base-0.6b")[1])
    next(stream)
    stream.close()
    assert engine.is_idle


def test_a_cancelled_request_keeps_its_frames():
    engine = Engine(loaded("base-0.6b"), max_batch=1)
    running, waiting = (engine.add(r) for r in eight_requests("base-0.6b")[:2])
    engine.step()
    engine.step()
    engine.cancel(running)
    engine.cancel(waiting)
    results = [engine.take(running), engine.take(waiting)]
    assert [(r.num_frames, r.stop) for r in results] == [(2, StopReason.CANCELLED), (0, StopReason.CANCELLED)]
    assert engine.is_idle
    assert engine.take(running) is None


def request(**parts):
    return SpeechRequest(**({"text": "Hi."} | parts))


@pytest.mark.parametrize(
    ("name", "asked", "what"),
    [
        ("base-0.6b", {}, "recorded voice, and none"),
        ("base-0.6b", {"speaker": "ryan"}, "recorded voice, and none"),
        (
            "custom-1.7b",
            {"voice": ("base-1.7b", CloneMode.X_VECTOR), "speaker": "ryan"},
            "given to a custom_voice",
        ),
        ("custom-1.7b", {}, "needs a speaker"),
        ("custom-1.7b", {"speaker": "nobody"}, "'nobody' is unknown"),
        ("custom-1.7b", {"speaker": "ryan", "language": "Klingon"}, "'Klingon' is not supported"),
        ("custom-1.7b", {"speaker": "eric", "language": "sichuan_dialect"}, "not supported"),
        ("design-1.7b", {"speaker": "ryan"}, "no built-in speakers"),
        ("base-1.7b", {"voice": ("base-0.6b", CloneMode.X_VECTOR)}, "shape (24,), this talker takes (32,)"),
        ("base-1.7b", {"voice": ("base-1.7b", CloneMode.X_VECTOR), "instruct": "Slowly."}, "no instruction"),
    ],
)
def test_a_request_that_does_not_fit_is_refused(name, asked, what):
    if "voice" in asked:
        asked = asked | {"voice": voice(*asked["voice"])}
    with pytest.raises(UsageError) as caught:
        Engine(loaded(name)).generate([request(**asked)])
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda codes: codes[:, :8], "this model takes (frames, 16)"),
        (lambda codes: codes + 2048, "a codebook has 2048"),
        (lambda codes: codes[:0], "this model takes (frames, 16)"),
        (lambda codes: codes - 3000, "a codebook has 2048"),
    ],
)
def test_codes_of_another_codec_are_refused(change, what):
    good = voice("base-0.6b", CloneMode.ICL)
    bad = dataclasses.replace(good, codes=change(good.codes))
    with pytest.raises(UsageError) as caught:
        Engine(loaded("base-0.6b")).generate([request(voice=bad)])
    assert what in caught.value.what


@pytest.mark.parametrize("text", ["", "   \n ", "<|im_end|> and on"])
def test_texts_without_words_or_with_control_tokens_are_refused(text):
    with pytest.raises(TextInputError):
        Engine(loaded("base-0.6b")).generate(
            [request(text=text, voice=voice("base-0.6b", CloneMode.X_VECTOR))]
        )


def test_a_text_beyond_the_context_is_refused_before_anything_runs():
    engine = Engine(loaded("base-0.6b"))
    with pytest.raises(TextInputError, match="32768"):
        engine.add(
            request(text="word " * 10, voice=voice("base-0.6b", CloneMode.X_VECTOR), max_frames=32_768)
        )
    assert engine.is_idle


def test_a_newline_at_the_edge_changes_nothing():
    """It would merge with the newline of the chat frame and shift the slices."""
    asked = voice("base-0.6b", CloneMode.X_VECTOR)
    plain, spaced = (request(text=t, voice=asked, max_frames=5) for t in ("Hi.", "\n\nHi.\n"))
    one, other = Engine(loaded("base-0.6b")).generate([plain, spaced])
    assert np.array_equal(one.codes, other.codes)
