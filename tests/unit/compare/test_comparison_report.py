"""Outputs of several references as differences in words; beginnings of a voice as voices."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from build_kit import ordinary_scene

from refprep.compare.measures import Output, measure_of, plain_values
from refprep.compare.prefixes import nearest_prefixes, write_prefix
from refprep.compare.report import comparison_json, comparison_lines, statement
from refprep.compare.statistics import Difference
from refprep.errors import UsageError
from refprep.types import StopReason
from refprep.voice import load_voice

SCHEMA = json.loads((Path(__file__).parents[3] / "manifests" / "compare.schema.json").read_text("utf-8"))


def outputs(similarities):
    return [
        Output(
            "A text.",
            seed,
            StopReason.EOS,
            {**plain_values(2.0, StopReason.EOS), "similarity:ge2e": value, "error_rate": None},
        )
        for seed, value in enumerate(similarities)
    ]


def compared(**conditions):
    return comparison_json(
        {name: outputs(values) for name, values in conditions.items()},
        model="tiny",
        weights="random",
        seconds=dict.fromkeys(conditions, 3.0),
        notes=["a note"],
    )


def test_every_pair_of_references_is_compared():
    document = compared(
        a=[0.9, 0.91, 0.9, 0.92, 0.9], b=[0.5, 0.52, 0.5, 0.51, 0.5], c=[0.9, 0.5, 0.9, 0.5, 0.9]
    )
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert [(p["a"], p["b"]) for p in document["comparisons"]] == [("a", "b"), ("a", "c"), ("b", "c")]
    first = {d["measure"]: d for d in document["comparisons"][0]["differences"]}
    assert "error_rate" not in first  # nobody measured it
    assert first["similarity:ge2e"]["is_shown"]
    assert first["similarity:ge2e"]["statement"].startswith("A is higher")
    assert first["duration_s"]["statement"].startswith("no difference shown")
    text = "\n".join(comparison_lines(document))
    assert "scores of noise" in text
    assert "does not measure accent" in text
    assert "a note" in text


def test_conditions_of_other_seeds_are_no_comparison():
    with pytest.raises(ValueError, match="other texts or seeds"):
        compared(a=[0.9, 0.9], b=[0.9])


def test_too_few_pairs_make_no_interval():
    assert "too few" in statement(Difference(0.5, None, None, 2), unit="s", digits=2)
    assert "B is higher" in statement(Difference(-0.5, -0.6, -0.4, 5), unit="", digits=2)


def test_every_measure_has_a_label():
    for name in ("duration_s", "error_rate", "similarity:x", "control:x", "margin:x", "late_less_early:x"):
        assert measure_of(name).label


def test_beginnings_are_whole_clips_and_voices(tmp_path):
    ordinary_scene(tmp_path / "clips").build(tmp_path / "voice")
    voice = load_voice(tmp_path / "voice")
    reference = voice.read_reference()
    assert nearest_prefixes(reference, (30.0, 3.0)) == (1, len(reference.clips))
    with pytest.raises(UsageError, match="one reference") as found:
        nearest_prefixes(reference, (3.0, 3.1))
    assert found.value.where == "--nested"
    short = load_voice(write_prefix(voice, reference, 1, tmp_path / "short"))
    again = short.read_reference()
    assert len(again.clips) == 1
    assert again.text == reference.clips[0].text
    assert np.array_equal(again.samples, reference.samples[: len(again.samples)])
    assert len(again.samples) >= reference.clips[0].end_sample
