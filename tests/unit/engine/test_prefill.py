"""A prompt read in two passes, cold, warm, padded: the same states, and nothing of what the slot held before."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from hypothesis import given
from hypothesis import strategies as st
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from refprep.engine.config import read_config
from refprep.engine.kv_cache import KVCache
from refprep.engine.model import TalkerTree, load_checkpoint
from refprep.engine.prefill import BUCKETS, bucket_length, prompt_capacity, read_prompt, read_second
from refprep.engine.prefix_cache import PrefixCache
from refprep.engine.prompt import TalkerPrompt, embed_prompt, plan_prompt
from refprep.types import CloneMode, SpeechRequest, VoicePrompt

pytestmark = pytest.mark.usefixtures("one_torch_thread")

WORDS = "The quick brown fox jumps over the lazy dog and rests a while before it goes on."
OTHER = "Another text, which is spoken by the same voice."
CASES = {
    "icl.stream": ("base-0.6b", "icl", {}),
    "icl.stream.long": ("base-1.7b", "long", {"language": "German"}),
    "icl.whole": ("base-0.6b", "icl", {"whole_text": True}),
    "xvec.stream": ("base-1.7b", "vector", {}),
    "xvec.whole": ("base-0.6b", "vector", {"whole_text": True}),
    "instruct.whole": ("custom-1.7b", None, {"speaker": "ryan", "instruct": "Speak slowly, " * 5}),
    "instruct.stream": ("design-1.7b", None, {"instruct": "A low voice, " * 6, "whole_text": False}),
    "speaker": ("custom-1.7b", None, {"speaker": "eric"}),
}
SHARING = [c for c in CASES if c.startswith(("icl", "instruct"))]


@cache
def loaded(name, dtype=torch.float32):
    return load_checkpoint(tiny_checkpoint(name), device=torch.device("cpu"), dtype=dtype)


def voice(name, kind):
    width = loaded(name).config.talker_config.hidden_size
    draws = np.random.default_rng(1)
    vector = draws.standard_normal(width).astype(np.float32)
    if kind == "vector":
        return VoicePrompt(CloneMode.X_VECTOR, vector)
    frames = {"icl": 50, "long": 9}[kind]
    codes = draws.integers(0, 2048, (frames, 16)).astype(np.int32)
    return VoicePrompt(CloneMode.ICL, vector, WORDS, codes)


def asked(case, text=OTHER):
    name, kind, parts = CASES[case]
    return SpeechRequest(text, voice=kind and voice(name, kind), **parts)


def checkpoint(case, dtype=torch.float32):
    return loaded(CASES[case][0], dtype)


def prompt(case, kept=None, text=OTHER, dtype=torch.float32):
    there = checkpoint(case, dtype)
    return embed_prompt(plan_prompt(asked(case, text), there.config, there.tokenizer), there.talker, kept)


def empty(case, capacity=512, dtype=torch.float32):
    talker = checkpoint(case, dtype).talker
    return KVCache.empty(talker.config, slots=1, capacity=capacity, dtype=dtype, device=talker.device)


def read(case, prompt, slot, kept=None, buckets=None):
    talker = checkpoint(case, slot.keys.dtype).talker
    return read_prompt(talker, slot, prompt, talker.rotary(slot.capacity), kept, buckets=buckets)


def filled(slot, prompt):
    """Keys and values of a prompt's positions."""
    return slot.keys[:, :, :, : prompt.num_positions], slot.values[:, :, :, : prompt.num_positions]


@pytest.mark.parametrize("buckets", [None, BUCKETS], ids=["exact", "buckets"])
@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_a_cached_beginning_gives_the_same_to_the_bit(case, buckets):
    kept = PrefixCache(1 << 24)
    alone = prompt(case)
    slot = empty(case)
    hidden = read(case, alone, slot, buckets=buckets)
    read(case, prompt(case, kept, "Hi."), empty(case), kept, buckets)
    warm = prompt(case, kept)
    assert (warm.prefix is not None) == (case in SHARING)
    again = empty(case)
    assert torch.equal(read(case, warm, again, kept, buckets), hidden)
    for one, other in zip(filled(again, warm), filled(slot, alone), strict=True):
        assert torch.equal(one, other)
    assert (kept.stats.hits, kept.stats.entries) == ((1, 1) if case in SHARING else (0, 0))


@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_two_passes_give_what_one_gives(case):
    talker, one = checkpoint(case).talker, prompt(case)
    slot, whole = empty(case), empty(case)
    hidden = read(case, one, slot)
    states = talker.prefill(one.embeds[None], talker.rotary(512), whole)
    torch.testing.assert_close(hidden, states[:, -1], rtol=0, atol=1e-5)
    for two, known in zip(filled(slot, one), filled(whole, one), strict=True):
        torch.testing.assert_close(two, known, rtol=0, atol=1e-5)


@pytest.mark.parametrize("buckets", [BUCKETS, (7,), (3, 100)])
@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_padding_changes_nothing(case, buckets):
    talker, one = checkpoint(case).talker, prompt(case)
    slot = empty(case, prompt_capacity(one.num_positions, one.split, buckets))
    exact = empty(case)
    padded, plain = read(case, one, slot, buckets=buckets), read(case, one, exact)
    torch.testing.assert_close(padded, plain, rtol=0, atol=1e-5)
    assert talker.logits(padded).argmax() == talker.logits(plain).argmax()
    for two, known in zip(filled(slot, one), filled(exact, one), strict=True):
        torch.testing.assert_close(two, known, rtol=0, atol=1e-5)


@pytest.mark.parametrize("buckets", [None, BUCKETS], ids=["exact", "buckets"])
@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_what_a_slot_held_before_is_not_read(case, buckets):
    one = prompt(case)
    fresh, used, poisoned = empty(case), empty(case), empty(case)
    read(case, prompt(case, text=WORDS * 2), used, buckets=buckets)
    for part in (poisoned.keys, poisoned.values):
        part.fill_(1e4)
    hidden = read(case, one, fresh, buckets=buckets)
    assert torch.equal(read(case, one, used, buckets=buckets), hidden)
    assert torch.equal(read(case, one, poisoned, buckets=buckets), hidden)


@pytest.mark.parametrize("buckets", [None, BUCKETS], ids=["exact", "buckets"])
@torch.inference_mode()
def test_bfloat16_stays_bfloat16(buckets):
    case, dtype = "icl.stream", torch.bfloat16
    kept, cold = PrefixCache(1 << 24), empty("icl.stream", dtype=torch.bfloat16)
    hidden = read(case, prompt(case, kept, dtype=dtype), cold, kept, buckets)
    warm = prompt(case, kept, dtype=dtype)
    assert warm.prefix is not None
    assert warm.prefix.keys.dtype is hidden.dtype is warm.embeds.dtype is dtype
    assert torch.equal(read(case, warm, empty(case, dtype=dtype), kept, buckets), hidden)
    known = read(case, prompt(case), empty(case))
    assert (hidden.float() - known).norm() <= 0.02 * known.norm()


@torch.inference_mode()
def test_an_entry_too_large_for_the_cache_changes_nothing():
    case, kept = "icl.whole", PrefixCache(100)
    hidden = read(case, prompt(case), empty(case))
    for _ in range(2):
        assert torch.equal(read(case, prompt(case, kept), empty(case), kept), hidden)
    assert (kept.stats.entries, kept.stats.hits) == (0, 0)


@torch.inference_mode()
def test_an_entry_in_hand_outlives_its_place_in_the_cache():
    case, kept = "icl.stream", PrefixCache(1 << 24)
    hidden = read(case, prompt(case, kept), empty(case), kept)
    warm = prompt(case, kept)
    kept.clear()
    assert torch.equal(read(case, warm, empty(case), kept), hidden)


@given(tokens=st.integers(1, 5000), buckets=st.sampled_from([BUCKETS, (7,), (3, 100)]))
def test_a_bucket_holds_what_it_is_for(tokens, buckets):
    length = bucket_length(tokens, buckets)
    assert length >= tokens
    assert length in buckets or length % buckets[-1] == 0
    assert bucket_length(length, buckets) == length
    assert bucket_length(tokens, None) == tokens


@given(split=st.integers(0, 2000), rest=st.integers(1, 2000))
def test_the_room_holds_both_passes_padded(split, rest):
    capacity = prompt_capacity(split + rest, split, BUCKETS)
    assert capacity >= split + bucket_length(rest) >= split + rest
    assert split == 0 or capacity >= bucket_length(split)
    assert prompt_capacity(split + rest, split, None) == split + rest


class StaysThere(TorchDispatchMode):
    """Refuses copies between kinds of devices, and single numbers that become tensors."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        assert "lift" not in str(func), f"{func} makes a tensor of numbers of the host"
        flat = torch.utils._pytree.tree_leaves((args, kwargs or {}))
        kinds = {t.device.type for t in flat if isinstance(t, torch.Tensor)}
        if isinstance(out, torch.Tensor) and kinds and "copy" in str(func):
            kinds.add(out.device.type)
        assert len(kinds) < 2, f"{func} mixes {kinds}"
        return out


def fake(name):
    torch.set_default_dtype(torch.bfloat16)
    try:
        with torch.device("cuda"):
            tree = TalkerTree(read_config(tiny_checkpoint(name))).eval().requires_grad_(False)
    finally:
        torch.set_default_dtype(torch.float32)
    tree.talker.prepare()
    return tree.talker


@pytest.mark.parametrize("split", [0, 40])
@pytest.mark.parametrize("name", ["base-0.6b", "base-1.7b"])
def test_reading_stays_on_the_device(name, split):
    with FakeTensorMode(), torch.inference_mode():
        talker = fake(name)
        embeds = torch.zeros(70, talker.config.hidden_size, dtype=talker.dtype, device="cuda")
        laid = TalkerPrompt(embeds, embeds[:8], embeds[0], split, b"key" if split else b"")
        kept, rotary = PrefixCache.default(talker.device), talker.rotary(256)
        slot = KVCache.empty(talker.config, slots=2, capacity=256, dtype=talker.dtype, device=talker.device)
        with StaysThere():
            row = slot.slots(slice(1, 2))
            hidden = [read_prompt(talker, row, laid, rotary, kept, buckets=BUCKETS)]
            if split:
                warm = replace(laid, embeds=embeds[split:], prefix=kept.get(laid.key))
                hidden.append(read_prompt(talker, row, warm, rotary, kept, buckets=BUCKETS))
        assert kept.stats.entries == kept.stats.hits == (split > 0)
        for one in hidden:
            assert (one.shape, one.device.type) == ((1, talker.config.hidden_size), "cuda")
            assert one.dtype is torch.bfloat16


class Second(torch.nn.Module):
    """The second pass, as a graph would capture it: where it starts and ends are tensors."""

    def __init__(self, talker, slot):
        super().__init__()
        self.talker, self.slot, self.rotary = talker, slot, talker.rotary(512)

    def forward(self, embeds, last, start):
        return read_second(self.talker, self.slot, embeds, last, self.rotary, start=start, limit=256)


@pytest.mark.slow
@torch.inference_mode()
def test_the_second_pass_traces_as_one_graph_for_every_start():
    case = "icl.whole"
    one, slot = prompt(case), empty(case)
    hidden = read(case, one, slot, buckets=BUCKETS)
    step = Second(checkpoint(case).talker, slot)
    traced = torch.compile(step, backend="eager", fullgraph=True)
    for start in (one.split, one.split + 5):
        part = one.embeds[start:]
        padded = torch.nn.functional.pad(part, (0, 0, 0, 128 - len(part)))[None]
        found = traced(padded, torch.tensor([len(part) - 1]), torch.tensor([start]))
        torch.testing.assert_close(found, hidden, rtol=0, atol=1e-5)
