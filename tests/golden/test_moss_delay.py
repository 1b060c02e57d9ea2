"""MOSS-TTS Delay against upstream's classes; ``moss_tts/generators.json`` says how they were recorded."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from moss_kit import (
    RECORDED,
    RecordingEngine,
    case_requests,
    cases,
    has_all,
    loaded,
    recorded,
    tiny_generator,
)

from refprep.engine.loader import open_weights
from refprep.moss.normalize import normalize_text
from refprep.moss.pattern import delayed, undelayed
from refprep.moss.prompt import build_prompt
from refprep.moss.sampling import Chain, penalize, tempered, trimmed
from refprep.moss.teacher import force_delay
from refprep.types import StopReason

NAME = "delay"
CASES = cases(NAME)
SINGLES = [case for case in CASES if case != "batch"]
TRUTH = recorded(NAME)

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def whole_rows(case):
    return np.concatenate([TRUTH[f"{case}.input_ids"][0].numpy(), TRUTH[f"{case}.new_rows"][0].numpy()])


def close(ours, known, atol):
    torch.testing.assert_close(ours, known, rtol=0, atol=atol)


def test_the_weights_are_those_of_the_recording():
    sidecar = json.loads((RECORDED / "generators.json").read_text(encoding="utf-8"))
    assert open_weights(tiny_generator(NAME)).sha256() == sidecar["weights_sha256"][NAME]


@pytest.mark.parametrize("case", CASES)
def test_prompts_are_the_same(case):
    checkpoint = loaded(NAME)
    for row, request in enumerate(case_requests(NAME, case)):
        prompt = build_prompt(request, checkpoint.config, checkpoint.tokenizer)
        ids, mask = TRUTH[f"{case}.input_ids"][row].numpy(), TRUTH[f"{case}.attention_mask"][row].numpy()
        assert np.array_equal(prompt.rows, ids[mask.astype(bool)])
        assert (ids[~mask.astype(bool)][:, 1:] == 1024).all()  # upstream pads on the left


def test_embeddings_are_the_same():
    with torch.inference_mode():
        ours = loaded(NAME).model.embed(TRUTH["clone.input_ids"][0].long())
    close(ours, TRUTH["clone.inputs_embeds"], 1e-5)


@pytest.mark.parametrize("case", SINGLES)
def test_forced_logits_are_the_same(case):
    written = TRUTH[f"{case}.new_rows"].shape[1]
    forced = force_delay(loaded(NAME).model, whole_rows(case), written)
    text = TRUTH[f"{case}.text_logits"]
    close(forced.text_logits[: len(text)], text, 1e-4)
    if f"{case}.hidden" in TRUTH:
        close(forced.hidden, TRUTH[f"{case}.hidden"], 1e-5)
    if f"{case}.audio_logits" in TRUTH:
        start = TRUTH[f"{case}.input_ids"].shape[1] - 1
        ours = forced.audio_logits[TRUTH[f"{case}.audio_logit_rows"].long() - start]
        assert torch.isinf(ours[..., 1024]).all()
        close(ours, TRUTH[f"{case}.audio_logits"], 1e-4)
    else:
        assert not has_all()


@pytest.mark.parametrize("rows_together", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_greedy_rows_are_the_same(case, rows_together):
    requests = case_requests(NAME, case)
    engine = RecordingEngine(loaded(NAME), max_batch=2, rows_together=rows_together)
    results = engine.generate(requests)
    for ticket, result in enumerate(results):
        known = TRUTH[f"{case}.new_rows"][ticket].numpy()
        ours = np.stack(engine.rows[ticket])
        assert np.array_equal(ours, known[: len(ours)])
        assert (known[len(ours) :, 0] == 480).all()  # upstream fills an ended row up while others run
        has_ended = bool((known[:, 0] == 482).any())
        assert result.stop is (StopReason.EOS if has_ended else StopReason.MAX_FRAMES)


@pytest.mark.parametrize("case", [c for c in SINGLES if f"{c}.codes" in TRUTH])
def test_codes_are_the_same_and_the_prefix_is_cut_off_exactly(case):
    (request,) = case_requests(NAME, case)
    (result,) = RecordingEngine(loaded(NAME), max_batch=1).generate([request])
    known = TRUTH[f"{case}.codes"].numpy()
    assert np.array_equal(np.concatenate([result.context, result.codes]), known)
    # Upstream counts the row of audio_start, too, and so cuts one frame too many.
    given = 0 if request.prefix is None else len(request.prefix)
    assert result.num_frames == max(0, len(known) - given)
    assert int(TRUTH[f"{case}.start_length"]) == (given + 1 if given else 0)


def test_a_cut_run_keeps_its_whole_frames():
    """Upstream raises on the first of these, and gives no audio without an error on the second."""
    (result,) = RecordingEngine(loaded(NAME)).generate(case_requests(NAME, "fields"))
    assert (result.stop, result.num_frames, result.cut_frames) == (StopReason.MAX_FRAMES, 0, 7)
    (result,) = RecordingEngine(loaded(NAME)).generate(case_requests(NAME, "both"))
    assert (result.stop, result.num_frames, result.cut_frames) == (StopReason.MAX_FRAMES, 0, 5)
    (result,) = RecordingEngine(loaded(NAME)).generate(case_requests(NAME, "clone.penalty"))
    assert (result.stop, result.num_frames, result.cut_frames) == (StopReason.MAX_FRAMES, 8, 6)


def test_the_delay_pattern_is_the_same():
    codes = TRUTH["pattern.codes"].numpy()
    assert np.array_equal(delayed(codes, 1024), TRUTH["pattern.delayed"].numpy())
    assert np.array_equal(undelayed(TRUTH["pattern.delayed"].numpy()), codes)


@pytest.mark.parametrize(
    ("name", "settings"),
    {
        "text_default": (1.5, 50, 1.0, 1.0),
        "audio_default": (1.7, 25, 0.8, 1.0),
        "audio_top_p_only": (1.0, 0, 0.6, 1.0),
        "audio_top_k_only": (0.7, 5, 1.0, 1.0),
        "first_head_penalty": (1.7, 25, 0.8, 1.3),
        "later_heads_penalty": (1.7, 25, 0.8, 1.3),
    }.items(),
)
def test_sampling_distributions_are_the_same(name, settings):
    logits = TRUTH["sampling.text_logits" if name == "text_default" else "sampling.audio_logits"]
    history = TRUTH["sampling.history"][0].long()
    books = {"first_head_penalty": slice(0, 1), "later_heads_penalty": slice(1, None)}.get(name)
    logits = logits if books is None else logits[books]
    chain = Chain.of([settings] * len(logits), ids=logits.shape[1])
    scores = tempered(logits, chain)
    if books is not None:
        seen = torch.zeros_like(logits, dtype=torch.bool)
        seen[:, history[:, books].reshape(-1)] = True  # one history for all heads but the first
        scores = penalize(scores, seen, chain.penalty[:, 0])
    ours = trimmed(scores, chain, keeps_ties=False).softmax(-1)
    close(ours, TRUTH[f"sampling.{name}.probs"], 1e-6)


def test_the_normaliser_gives_the_recorded_texts():
    for pair in json.loads((RECORDED / "normalizer.json").read_text(encoding="utf-8")):
        assert normalize_text(pair["text"]) == pair["normalized"], pair["text"]
