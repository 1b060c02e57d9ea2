"""The whole matrix on tiny models of both kinds, its document and its page."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import torch
from engine_kit import tiny_checkpoint
from moss_codec_kit import fixed_wave, tiny_codec
from moss_kit import tiny_generator

from refprep.audit.codecs import open_audit_codec
from refprep.audit.generators import Saying, logit_shift, open_generator
from refprep.audit.matrix import Choices, run_audit
from refprep.audit.report import audit_json, audit_lines, cell_table, encoder_table

SCHEMA = json.loads((Path(__file__).parents[3] / "manifests" / "audit.schema.json").read_text("utf-8"))
SAYING = Saying("A short text.", "The words of the reference.", fixed_wave()[: 2 * 24_000], 4)
CHOICES = Choices(("float32", "bfloat16"), ("float32", "bfloat16", "int8"), ("float32", "int8"))
MODELS = {"qwen3": ("base-0.6b", None), "delay": ("delay", tiny_codec)}


@cache
def audited(name):
    model, codec = MODELS[name]
    folder = tiny_checkpoint(model) if codec is None else tiny_generator(model)
    opened = open_audit_codec(folder, codec=None if codec is None else codec())
    audit = run_audit(opened, SAYING, CHOICES, model=folder)
    return audit, audit_json(audit, voice="voice", model="<model>", weights="random", device="cpu")


@pytest.mark.parametrize("name", MODELS)
def test_the_matrix_is_whole_and_its_document_fits_its_schema(name):
    audit, document = audited(name)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert audit.passed
    assert [(c.generator, c.encoder, c.decoder) for c in audit.cells] == [
        (g, e, d) for g in CHOICES.generators for e in CHOICES.encoders for d in CHOICES.decoders
    ]
    kinds = [row["verdict"]["kind"] for row in document["encoders"]]
    assert kinds == ["equal", "rounding", "rounding"]


@pytest.mark.parametrize("name", MODELS)
def test_a_factor_moves_what_is_its_own(name):
    audit, _ = audited(name)
    cells = {(c.generator, c.encoder, c.decoder): c for c in audit.cells}
    exact = cells["float32", "float32", "float32"]
    assert (exact.shift.rel_diff, exact.shift.same_choice, exact.written.mean) == (0.0, 1.0, 1.0)
    assert exact.decoder_db == -np.inf
    only_decoder = cells["float32", "float32", "int8"]
    assert only_decoder.shift == exact.shift
    assert only_decoder.written == exact.written
    assert only_decoder.decoder_db is not None
    assert -60.0 < only_decoder.decoder_db < -20.0
    assert cells["bfloat16", "float32", "float32"].shift.rel_diff > 0.0
    assert cells["float32", "int8", "float32"].shift.rel_diff > 0.0


def test_the_lines_and_tables_say_what_the_document_says():
    _, document = audited("delay")
    text = "\n".join(audit_lines(document))
    assert "random numbers" in text
    assert "encoder int8: rounding" in text
    for header, rows in (encoder_table(document), cell_table(document)):
        assert rows
        assert all(len(row) == len(header) for row in rows)


def test_a_codec_alone_has_no_matrix():
    audit = run_audit(open_audit_codec(tiny_codec()), SAYING, CHOICES, model=tiny_codec())
    assert audit.cells == ()
    assert any("a codec alone" in note for note in audit.notes)


def test_a_generator_of_another_codec_is_left_out_and_said():
    audit = run_audit(open_audit_codec(tiny_codec()), SAYING, CHOICES, model=tiny_generator("local-1.5"))
    assert audit.cells == ()
    assert any("48000 Hz" in note for note in audit.notes)


def test_a_local_generator_is_forced_and_writes():
    codes = np.random.default_rng(0).integers(0, 1024, (9, 12)).astype(np.int32)
    exact, rounded = (
        open_generator(tiny_generator("local-1.5"), precision, SAYING, device="cpu")
        for precision in ("float32", "bfloat16")
    )
    one, two = (loaded.logits(codes, codes[:5]) for loaded in (exact, rounded))
    assert [part.shape[0] for part in one] == [5, 5 * 12]
    assert 0.0 < logit_shift(one, two).rel_diff < 0.1
    assert logit_shift(one, exact.logits(codes, codes[:5])).rel_diff == 0.0
    assert exact.write(codes).shape[1] == 12


def test_a_checkpoint_of_other_voices_has_no_matrix():
    folder = tiny_checkpoint("custom-1.7b")
    audit = run_audit(open_audit_codec(folder), SAYING, CHOICES, model=folder)
    assert any("takes no recorded voice" in note for note in audit.notes)


def test_logits_that_are_never_chosen_are_left_out():
    one = torch.tensor([[1.0, 2.0, -torch.inf]])
    found = logit_shift([one], [one + 0.1])
    assert (round(found.rel_diff, 4), found.same_choice) == (0.0632, 1.0)
    assert logit_shift([], []).same_choice == 1.0
