"""Prompts, logits and greedy frames against what the published code gave; ``qwen3_tts/talker.json`` says how."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from safetensors.torch import load_file
from talker_cases import CHECKPOINTS, LONG, RECORDED, REFERENCE, SHORT, recorded, requests

from refprep.engine.engine import Engine
from refprep.engine.model import load_checkpoint
from refprep.engine.prompt import build_prompt
from refprep.engine.sampler import Settings, filter_logits, penalize
from refprep.engine.teacher import force_codes
from refprep.types import StopReason

pytestmark = pytest.mark.usefixtures("one_torch_thread")


@cache
def checkpoint(name, dtype=torch.float32):
    return load_checkpoint(tiny_checkpoint(name), device=torch.device("cpu"), dtype=dtype)


@cache
def truth(name):
    return recorded(name)


def singles(name):
    return {k: r for k, r in requests(name, truth(name)).items() if not isinstance(r, tuple)}


CASES = [(n, case) for n in CHECKPOINTS for case in singles(n)]


BF16 = load_file(RECORDED / "talker.bf16.safetensors")


def prompt_of(name, case, dtype=torch.float32):
    loaded = checkpoint(name, dtype)
    with torch.inference_mode():
        return build_prompt(singles(name)[case], loaded.config, loaded.talker, loaded.tokenizer)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_texts_become_the_same_ids(name):
    tokenizer = checkpoint(name).tokenizer
    for key, text in (("short", SHORT), ("long", LONG)):
        role, ids = tokenizer.target(text)
        assert [*role, *ids] == truth(name)[f"tokens.{key}"][0, :-5].tolist()
    assert tokenizer.reference(REFERENCE) == truth(name)["tokens.reference"][0, 3:-2].tolist()
    assert tokenizer.instruction("Speak slowly.") == truth(name)["tokens.instruct"][0].tolist()


@pytest.mark.parametrize(("name", "case"), CASES)
def test_prompts_are_the_same(name, case):
    prompt = prompt_of(name, case)
    torch.testing.assert_close(prompt.embeds, truth(name)[f"{case}.inputs_embeds"][0], rtol=0, atol=1e-5)
    torch.testing.assert_close(
        prompt.trailing, truth(name)[f"{case}.trailing_text_hidden"][0], rtol=0, atol=1e-5
    )


@pytest.mark.parametrize(("name", "case"), CASES)
def test_forced_logits_are_the_same_in_float32(name, case):
    known = truth(name)
    codes = known[f"{case}.greedy_codes"][0]
    forced = force_codes(checkpoint(name).talker, prompt_of(name, case), codes)
    torch.testing.assert_close(forced.hidden, known[f"{case}.talker_hidden"][0], rtol=0, atol=5e-5)
    for key, ours in (
        (f"{case}.talker_logits", forced.talker),
        (f"{case}.predictor_logits", forced.predictor),
    ):
        if key in known:
            logits = known[key][0]
            assert (ours[: len(logits)] - logits).abs().max() <= 1e-4 * logits.abs().max()


@pytest.mark.parametrize(("name", "case"), CASES)
def test_greedy_frames_are_the_same_in_float32(name, case):
    (result,) = Engine(checkpoint(name), max_batch=1).generate([singles(name)[case]])
    assert np.array_equal(result.codes, truth(name)[f"{case}.greedy_codes"][0].numpy())
    assert result.stop is StopReason.MAX_FRAMES


@pytest.mark.parametrize("rows_together", [False, True])
@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n in CHECKPOINTS for c in requests(n, truth(n)) if "batch" in c]
)
def test_batches_are_the_same(name, case, rows_together):
    """The published code pads on the left; here every row keeps its own positions."""
    pair = requests(name, truth(name))[case]
    results = Engine(checkpoint(name), max_batch=2, rows_together=rows_together).generate(pair)
    known = truth(name)[f"{case}.greedy_codes"].numpy()
    assert all(np.array_equal(r.codes, k) for r, k in zip(results, known, strict=True))


@pytest.mark.parametrize(
    "key", sorted(k.removesuffix(".talker_logits") for k in BF16 if k.endswith(".talker_logits"))
)
def test_forced_logits_are_near_in_bf16(key):
    """Against the published code in bf16: on one machine the two were equal to the bit."""
    name, case = next((n, key.removeprefix(f"{n}.")) for n in CHECKPOINTS if key.startswith(f"{n}."))
    codes = truth(name)[f"{case}.greedy_codes"][0]
    prompt = prompt_of(name, case, torch.bfloat16)
    forced = force_codes(checkpoint(name, torch.bfloat16).talker, prompt, codes)
    assert prompt.embeds.dtype is forced.hidden.dtype is torch.bfloat16
    for part, ours in (("talker", forced.talker), ("predictor", forced.predictor)):
        logits = BF16[f"{key}.{part}_logits"][0].float()
        ours = ours[: len(logits)]
        assert (ours - logits).norm() <= 0.01 * logits.norm()
        best = logits.topk(2, dim=-1).values
        is_clear = best[..., 0] - best[..., 1] > 1
        assert torch.equal(ours.argmax(-1)[is_clear], logits.argmax(-1)[is_clear])


def test_scores_after_every_chain_of_processors_are_the_same():
    known = truth("base-1.7b")
    logits = known["processors.logits"]
    vocab = logits.shape[1]
    for name, extra in {
        "first": {},
        "second": {},
        "later": {},
        "top_p": {"top_p": 0.8},
        "hot": {"t": 1.3, "k": 5},
    }.items():
        history = known[f"processors.{name}.history"]
        seen = torch.zeros_like(logits, dtype=torch.bool)
        if history.shape[1]:
            seen.scatter_(1, history, True)
        scores = penalize(logits, seen, torch.full((2,), 1.05))
        scores[:, 2048:2150] = scores[:, 2151:] = -torch.inf
        if history.shape[1] < 2:
            scores[:, 2150] = -torch.inf
        row = (True, extra.get("t", 0.9), extra.get("k", 50), extra.get("top_p", 1.0))
        ours = filter_logits(scores, Settings.of([row, row], vocab=vocab, device="cpu"))
        assert torch.equal(ours, known[f"processors.{name}.scores"]), name


def test_eos_ends_a_request_where_it_ended_the_recorded_one():
    """The recorded run declared one of its own codes to be EOS."""
    import dataclasses

    known = truth("base-1.7b")
    loaded = load_checkpoint(tiny_checkpoint("base-1.7b"), device=torch.device("cpu"), dtype=torch.float32)
    loaded.talker.config = dataclasses.replace(
        loaded.talker.config, codec_eos_token_id=int(known["eos_override.token"])
    )
    asked = requests("base-1.7b", known)["xvec.stream.english"]
    (result,) = Engine(loaded, max_batch=1).generate([asked])
    assert result.stop is StopReason.EOS
    assert np.array_equal(result.codes, known["eos_override.codes"].numpy())
