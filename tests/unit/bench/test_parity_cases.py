"""Which modes are compared, and the job that a peer gets for them."""

from __future__ import annotations

import numpy as np
import pytest
from engine_kit import tiny_checkpoint

from refprep.bench.parity_cases import parity_cases, peer_job, reference_wave, texts_of, weights_label
from refprep.engine.config import read_config
from refprep.engine.prompt import check_request
from refprep.engine.tokenizer import load_tokenizer

EXPECTED = {
    "base-0.6b": ["xvec.stream", "xvec.full", "icl.stream", "icl.stream.short", "icl.full", "batch"],
    "custom-1.7b": [
        "plain.full",
        "plain.stream",
        "instruct.full",
        "instruct.stream",
        "dialect.full",
        "dialect.stream",
        "batch",
    ],
    "design-1.7b": ["instruct.full", "instruct.stream", "plain.full", "plain.stream", "batch"],
}


def cases_of(name, ref_frames=32):
    folder = tiny_checkpoint(name)
    config = read_config(folder)
    tokenizer = load_tokenizer(folder, config)
    vector = np.zeros(config.talker_config.hidden_size, np.float32)
    codes = np.zeros((ref_frames, 16), np.int32)
    return parity_cases(config, tokenizer, frames=5, embedding=vector, codes=codes), config, tokenizer


@pytest.mark.parametrize("name", EXPECTED)
def test_every_mode_of_a_kind_is_there_and_fits_the_checkpoint(name):
    cases, config, _ = cases_of(name)
    assert [case.name for case in cases] == EXPECTED[name]
    for request in (r for case in cases for r in case.requests):
        check_request(request, config)
        assert request.max_frames == 5
        assert not request.sampling.do_sample


def test_a_checkpoint_that_drops_instructions_gets_none(tmp_path):
    from refprep.engine.random_checkpoint import write_random_checkpoint

    write_random_checkpoint(tmp_path / "c", "custom_voice", "0b6")
    config = read_config(tmp_path / "c")
    cases = parity_cases(config, load_tokenizer(tmp_path / "c", config), frames=2)
    assert not any("instruct" in case.name or any(r.instruct for r in case.requests) for case in cases)


@pytest.mark.parametrize("ref_frames", [13, 32, 150])
def test_both_halves_of_the_overlay_are_met_whatever_the_length(ref_frames):
    cases, _, tokenizer = cases_of("base-0.6b", ref_frames)
    by_name = {case.name: case.requests[0] for case in cases}

    def text_is_longer(request):
        track = len(tokenizer.reference(request.voice.text)) + len(tokenizer.target(request.text)[1]) + 1
        return track > request.voice.num_frames + 1

    assert text_is_longer(by_name["icl.stream"])
    if ref_frames >= 20:
        assert not text_is_longer(by_name["icl.stream.short"])


def test_a_batch_has_prompts_of_several_lengths():
    for name in EXPECTED:
        cases, _, tokenizer = cases_of(name)
        lengths = {len(tokenizer.target(r.text)[1]) for r in cases[-1].requests}
        assert len(lengths) > 1


def test_the_job_holds_every_text_once_with_the_ids_that_are_fed():
    cases, _, tokenizer = cases_of("base-0.6b")
    job = peer_job(cases, tokenizer)
    listed = [(t["kind"], t["text"]) for t in job["texts"]]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set().union(*(texts_of(case) for case in cases))
    for text in job["texts"]:
        role, words = tokenizer.target(text["text"])
        ids = tokenizer.reference(text["text"]) if text["kind"] == "reference" else [*role, *words]
        assert text["ids"] == ids


def test_rows_of_the_job_say_how_the_voice_is_given():
    cases, _, tokenizer = cases_of("base-0.6b")
    rows = {c["name"]: c for c in peer_job(cases, tokenizer)["cases"]}
    assert rows["xvec.full"]["whole_text"] is True
    assert (rows["xvec.full"]["rows"][0]["voice"], rows["xvec.full"]["rows"][0]["ref_frames"]) == ("xvec", 0)
    assert rows["icl.stream"]["whole_text"] is False
    assert rows["icl.stream"]["rows"][0]["voice"] == "icl"
    assert len(rows["batch"]["rows"]) == 3


def test_the_reference_is_the_same_every_time_and_no_silence():
    wave = reference_wave(1.5)
    assert wave.dtype == np.float32
    assert wave.shape == (36_000,)
    assert np.array_equal(wave, reference_wave(1.5))
    assert 0.05 < np.sqrt((wave**2).mean()) < np.abs(wave).max() < 1


def test_weights_are_called_random_only_where_the_folder_says_so(tmp_path):
    assert weights_label(tiny_checkpoint("base-0.6b")) == "random"
    assert weights_label(tmp_path) == "unknown"
