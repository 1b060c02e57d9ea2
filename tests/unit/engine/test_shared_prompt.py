"""What a prompt shares with every other one of its voice, and what it is known by."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from refprep.engine.model import load_checkpoint
from refprep.engine.prefix_cache import Prefix, PrefixCache
from refprep.engine.prompt import MIN_SHARED, build_prompt, embed_prompt, plan_prompt
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = "The quick brown fox jumps over the lazy dog and rests a while before it goes on to the next hill."
TEXTS = st.sampled_from(["Hi.", "Guten Tag", "一二三四五", "Of all of it, 12.", WORDS, WORDS * 3])
HEAD = 9  # role, tags with a language, speaker, end


@cache
def loaded(name):
    return load_checkpoint(tiny_checkpoint(name), device=torch.device("cpu"), dtype=torch.float32)


def voice(name, reference=WORDS, frames=30, seed=1):
    width = loaded(name).config.talker_config.hidden_size
    draws = np.random.default_rng(seed)
    vector = draws.standard_normal(width).astype(np.float32)
    codes = draws.integers(0, 2048, (frames, 16)).astype(np.int32)
    return VoicePrompt(CloneMode.ICL, vector, reference, codes)


def by_vector(name):
    return VoicePrompt(CloneMode.X_VECTOR, voice(name).speaker_embedding)


def plan(name, request):
    return plan_prompt(request, loaded(name).config, loaded(name).tokenizer)


def embedded(name, request):
    with torch.inference_mode():
        return build_prompt(request, loaded(name).config, loaded(name).talker, loaded(name).tokenizer).embeds


def tokens(name, text):
    return len(loaded(name).tokenizer.reference(text))


VOICES = {
    "base-0.6b": [
        {"voice": by_vector("base-0.6b")},
        {"voice": voice("base-0.6b", "Short words.", 40)},
        {"voice": voice("base-0.6b", WORDS, 30)},
        {"voice": voice("base-0.6b", WORDS * 2, 12)},
        {"voice": voice("base-0.6b", "One", 1)},
    ],
    "custom-1.7b": [{"speaker": "ryan"}, {"speaker": "Eric", "instruct": "Speak slowly, and as low as you can."}],
    "design-1.7b": [{"instruct": "An old man with a rough, low voice, who is never in any hurry."}, {}],
}  # fmt: skip
ASKED = st.sampled_from([(name, parts) for name, several in VOICES.items() for parts in several])


@settings(deadline=None, max_examples=60)  # the first example loads a checkpoint
@given(
    asked=ASKED,
    pair=st.tuples(TEXTS, TEXTS).filter(lambda pair: pair[0] != pair[1]),
    language=st.sampled_from([None, "German", "Chinese"]),
    whole_text=st.sampled_from([None, False, True]),
)
def test_two_texts_of_a_voice_share_what_is_said_to_be_shared(asked, pair, language, whole_text):
    name, parts = asked
    requests = [SpeechRequest(text, language=language, whole_text=whole_text, **parts) for text in pair]
    plans = [plan(name, r) for r in requests]
    shared = plans[0].shared
    assert plans[1].shared == shared
    assert all(0 < shared < p.num_positions for p in plans)
    split, frames = plans[0].split, plans[0].frames(0, shared)
    assert plans[0].text[:shared] == plans[1].text[:shared]
    assert plans[0].control[:shared] == plans[1].control[:shared]
    assert np.array_equal(frames, plans[1].frames(0, shared))
    assert plans[0].key() == plans[1].key()
    one, other = (embedded(name, r) for r in requests)
    assert torch.equal(one[:split], other[:split])
    torch.testing.assert_close(one[:shared], other[:shared], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("reference", "frames", "whole_text", "shared"),
    [
        ("Short words.", 40, False, lambda words, frames: words),
        (WORDS * 2, 12, False, lambda words, frames: frames),  # the last of F + 1 gives the first code
        (WORDS, 0, False, lambda words, frames: frames),  # as many words as positions, see below
        ("Short words.", 40, True, lambda words, frames: words),
        (WORDS * 2, 12, True, lambda words, frames: words),
    ],
)
def test_a_reference_is_shared_up_to_the_target(reference, frames, whole_text, shared):
    name = "base-0.6b"
    words = tokens(name, reference)
    frames = frames or words - 1
    asked = [
        SpeechRequest(text, voice=voice(name, reference, frames), language="German", whole_text=whole_text)
        for text in ("Hi.", "Guten Tag")
    ]
    count = HEAD + shared(words, frames)
    assert [plan(name, a).shared for a in asked] == [count] * 2
    one, other = (embedded(name, a) for a in asked)
    if words < frames + 1 or whole_text:
        assert not torch.equal(one[count], other[count])
    else:
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


@pytest.mark.parametrize("whole_text", [False, True])
def test_the_head_alone_is_shared_without_a_reference(whole_text):
    name = "base-0.6b"
    asked = [
        SpeechRequest(text, voice=by_vector(name), language="German", whole_text=whole_text)
        for text in ("Hi.", "Guten Tag")
    ]
    assert [(plan(name, a).shared, plan(name, a).split) for a in asked] == [(HEAD, 0)] * 2
    assert HEAD < MIN_SHARED
    one, other = (embedded(name, a) for a in asked)
    assert not torch.equal(one[HEAD], other[HEAD])


def test_another_content_has_another_key():
    name = "base-0.6b"
    one = voice(name)
    codes = one.codes.copy()
    codes[3, 15] ^= 1
    request = SpeechRequest("Hi.", voice=one, language="German")
    changed = [
        request,
        replace(request, language="Chinese"),
        replace(request, language=None),
        replace(request, whole_text=True),
        replace(request, voice=replace(one, codes=codes)),
        replace(request, voice=replace(one, text="The quick brown cat" + WORDS[19:])),
        replace(request, voice=replace(one, speaker_embedding=np.nextafter(one.speaker_embedding, np.float32(9)))),
    ]  # fmt: skip
    keys = {plan(name, r).key() for r in changed}
    assert len(keys) == len(changed)
    same = replace(one, codes=one.codes.astype(np.int64), speaker_embedding=one.speaker_embedding.copy())
    assert plan(name, replace(request, text="Other.", voice=same, seed=7)).key() == plan(name, request).key()


def test_what_stands_behind_the_target_is_not_in_the_key():
    name = "base-0.6b"
    one = voice(name, frames=60)
    codes = one.codes.copy()
    codes[-1] ^= 1
    request = SpeechRequest("Hi.", voice=one)
    other = replace(request, voice=replace(one, codes=codes))
    assert plan(name, request).key() == plan(name, other).key()
    assert not torch.equal(embedded(name, request)[-1], embedded(name, other)[-1])


@pytest.mark.parametrize("whole_text", [False, True])
def test_a_hit_embeds_the_rest_alone_and_to_the_bit(whole_text):
    name = "base-0.6b"
    talker = loaded(name).talker
    laid = plan(name, SpeechRequest("Hi there.", voice=voice(name), whole_text=whole_text))
    kept = PrefixCache(1 << 20)
    part = torch.zeros(1, 1, 1, laid.split, 2)
    with torch.inference_mode():
        cold = embed_prompt(laid, talker, kept)
        kept.put(cold.key, Prefix(part, part))
        warm = embed_prompt(laid, talker, kept)
    assert cold.prefix is None
    assert warm.prefix is not None
    assert warm.num_positions == cold.num_positions == laid.num_positions == len(warm.embeds) + laid.split
    assert torch.equal(warm.embeds, cold.embeds[laid.split :])
    assert torch.equal(warm.trailing, cold.trailing)
    assert torch.equal(warm.pad, cold.pad)
    assert len(warm.trailing) == laid.num_later
    assert (kept.stats.hits, kept.stats.misses) == (1, 1)


def test_too_short_a_beginning_asks_no_cache():
    name = "base-0.6b"
    kept = PrefixCache(1 << 20)
    with torch.inference_mode():
        prompt = embed_prompt(
            plan(name, SpeechRequest("Hi.", voice=by_vector(name))), loaded(name).talker, kept
        )
    assert (prompt.split, prompt.key, kept.stats.misses) == (0, b"", 0)
