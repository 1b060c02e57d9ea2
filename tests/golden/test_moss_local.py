"""MOSS-TTS Local v1.5 against upstream's classes; ``moss_tts/generators.json`` says how they were recorded."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from moss_kit import RECORDED, RecordingEngine, case_requests, cases, loaded, recorded, tiny_generator

from refprep.engine.loader import open_weights
from refprep.moss.prompt import build_prompt
from refprep.moss.sampling import Chain, penalize, tempered, trimmed
from refprep.moss.teacher import force_local
from refprep.types import StopReason

NAMES = ("local-1.5", "local-1.5-rope")
CASES = [(name, case) for name in NAMES for case in cases(name)]
SLOT = 486

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def close(ours, known, atol):
    torch.testing.assert_close(ours, known, rtol=0, atol=atol)


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_those_of_the_recording(name):
    sidecar = json.loads((RECORDED / "generators.json").read_text(encoding="utf-8"))
    assert open_weights(tiny_generator(name)).sha256() == sidecar["weights_sha256"][name]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_prompts_are_the_same(name, case):
    checkpoint, truth = loaded(name), recorded(name)
    for row, request in enumerate(case_requests(name, case)):
        prompt = build_prompt(request, checkpoint.config, checkpoint.tokenizer)
        ids, mask = truth[f"{case}.input_ids"][row].numpy(), truth[f"{case}.attention_mask"][row].numpy()
        assert np.array_equal(prompt.rows, ids[mask.astype(bool)])


@pytest.mark.parametrize("name", NAMES)
def test_embeddings_are_the_same(name):
    truth = recorded(name)
    with torch.inference_mode():
        ours = loaded(name).model.embed(truth["clone.input_ids"][0].long())
    close(ours, truth["clone.inputs_embeds"], 1e-5)


@pytest.mark.parametrize(("name", "case"), [c for c in CASES if f"{c[1]}.local_hidden" in recorded(c[0])])
def test_forced_logits_are_the_same(name, case):
    truth = recorded(name)
    rows = np.concatenate([truth[f"{case}.input_ids"][0].numpy(), truth[f"{case}.new_rows"][0].numpy()])
    forced = force_local(loaded(name).model, rows, truth[f"{case}.new_rows"].shape[1])
    for key, ours, atol in (
        ("hidden", forced.hidden, 1e-5),
        ("local_inputs", forced.depth_inputs, 1e-5),
        ("local_hidden", forced.depth_states, 1e-5),
        ("audio_logits", forced.audio_logits, 1e-4),
    ):
        if f"{case}.{key}" in truth:
            known = truth[f"{case}.{key}"]
            close(ours[: len(known)], known, atol)
    binary = truth[f"{case}.binary_logits"][0]
    close(forced.binary_logits, binary[: len(forced.binary_logits)], 1e-4)


@pytest.mark.parametrize("rows_together", [False, True])
@pytest.mark.parametrize(("name", "case"), CASES)
def test_greedy_frames_are_the_same(name, case, rows_together):
    truth = recorded(name)
    results = RecordingEngine(loaded(name), max_batch=2, rows_together=rows_together).generate(
        case_requests(name, case)
    )
    for row, result in enumerate(results):
        known = truth[f"{case}.new_rows"][row].numpy()
        known = known[known[:, 0] == SLOT]  # an ended row is filled up while others run
        assert np.array_equal(result.codes, known[:, 1:])
        steps = truth[f"{case}.binary_logits"][row]
        if len(results) == 1 and len(steps) > len(known):
            assert result.stop is StopReason.EOS


@pytest.mark.parametrize(
    ("name", "settings"),
    {
        "binary_default": (1.0, 50, 1.0, 1.0),
        "audio_default": (1.7, 25, 0.8, 1.0),
        "audio_top_p_only": (1.0, 0, 0.6, 1.0),
        "audio_penalty": (1.7, 25, 0.8, 1.3),
    }.items(),
)
def test_sampling_distributions_are_the_same(name, settings):
    truth = recorded("local-1.5")
    logits = truth["sampling.binary_logits" if name == "binary_default" else "sampling.audio_logits"]
    chain = Chain.of([settings] * len(logits), ids=logits.shape[1])
    scores = logits
    if name == "audio_penalty":
        seen = torch.zeros(2, 1025, dtype=torch.bool).scatter(1, truth["sampling.history"].long(), True)
        scores = penalize(scores, seen[:, :1024], chain.penalty[:, 0])
    ours = trimmed(tempered(scores, chain), chain, keeps_ties=True).softmax(-1)
    close(ours, truth[f"sampling.{name}.probs"], 1e-6)
