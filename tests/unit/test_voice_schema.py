"""manifests/*.schema.json say exactly what refprep writes."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "manifests"


def load_schema(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((MANIFESTS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def voice_kit() -> Any:
    """The kit of the report's tests, which lies in another folder."""
    spec = importlib.util.spec_from_file_location(
        "voice_kit", Path(__file__).parent / "report" / "voice_kit.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def document(tmp_path):
    kit = voice_kit()
    written = kit.written_document(kit.built_voice(tmp_path), tmp_path)
    return json.loads(json.dumps(written))  # tuples are arrays in JSON only


@pytest.fixture(scope="module")
def schema():
    return load_schema("voice.schema.json")


def test_a_written_voice_is_valid(document, schema):
    schema.validate(document)


def test_a_voice_without_the_optional_parts_is_valid(tmp_path, schema):
    kit = voice_kit()
    voice = kit.built_voice(tmp_path, controls=False, only_chosen=True)
    schema.validate(json.loads(json.dumps(kit.written_document(voice, tmp_path, speaker=""))))


def test_every_key_at_the_top_is_required(document, schema):
    for key in document:
        rest = {k: v for k, v in document.items() if k != key}
        assert not schema.is_valid(rest), key


BREAKS: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("version", lambda d: d.update(schema_version="1")),
    ("duration", lambda d: d["audio"].update(duration_s="8.2")),
    ("hash", lambda d: d["audio"].update(pcm_sha256="ABC")),
    ("format", lambda d: d["audio"].update(sample_format="PCM_8")),
    ("gap", lambda d: d.update(gap_policy="a breath")),
    ("clips", lambda d: d.update(clips=[])),
    ("start", lambda d: d["clips"][0].update(start_sample=0.5)),
    ("no range", lambda d: d["clips"][0].pop("end_sample")),
    ("no identity", lambda d: d["clips"][0].pop("identity")),
    ("word", lambda d: d["clips"][0]["coverage"]["words"].append(["word", "0.1", 0.2])),
    ("short word", lambda d: d["clips"][0]["coverage"]["words"].append(["word", 0.1])),
    ("score", lambda d: d["similarity"]["scores"][0].append("high")),
    ("severity", lambda d: d["clips"][0]["findings"][0].update(severity="fatal")),
    ("code", lambda d: d["refused"][0].update(code="101")),
    ("verdict", lambda d: d["joined_check"].update(verdict="maybe")),
    ("half decoded", lambda d: d["refused"][0].pop("codec")),
    ("no reason", lambda d: d["refused"][0].pop("reason")),
    ("nested provenance", lambda d: d["clips"][0]["provenance"].update(more={"a": 1})),
    ("model", lambda d: d["models"].update(speaker_encoder=None)),
    ("origin", lambda d: d["clips"][0].update(text_origin="somebody")),
]


@pytest.mark.parametrize(("name", "breaks"), BREAKS, ids=[n for n, _ in BREAKS])
def test_a_changed_type_is_invalid(document, schema, name, breaks):
    changed = copy.deepcopy(document)
    breaks(changed)
    assert not schema.is_valid(changed)


PLACES: list[tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]] = [
    ("top", lambda d: d),
    ("audio", lambda d: d["audio"]),
    ("text_file", lambda d: d["text_file"]),
    ("clip", lambda d: d["clips"][0]),
    ("coverage", lambda d: d["clips"][0]["coverage"]),
    ("quality", lambda d: d["clips"][0]["quality"]),
    ("identity", lambda d: d["clips"][0]["identity"]),
    ("finding", lambda d: d["clips"][0]["findings"][0]),
    ("refused", lambda d: d["refused"][0]),
    ("not chosen", lambda d: d["not_chosen"][0]),
    ("selection", lambda d: d["selection"]),
    ("joined_check", lambda d: d["joined_check"]),
    ("similarity", lambda d: d["similarity"]),
]


@pytest.mark.parametrize(("name", "place"), PLACES, ids=[n for n, _ in PLACES])
def test_an_extra_key_is_invalid(document, schema, name, place):
    place(document)["surprise"] = 1
    assert not schema.is_valid(document)


@pytest.mark.parametrize("part", ["provenance", "evidence"])
def test_provenance_and_evidence_are_open(document, schema, part):
    clip = document["clips"][0]
    (clip["provenance"] if part == "provenance" else clip["findings"][0]["evidence"])["surprise"] = 1
    schema.validate(document)


def test_the_example_manifest_is_what_split_writes_and_can_be_read():
    from refprep.manifest import read_utterances

    rows = [json.loads(line) for line in (MANIFESTS / "two-cities.jsonl").read_text("utf-8").splitlines()]
    validator = load_schema("utterances.schema.json")
    for row in rows:
        validator.validate(row)
        assert row["end_s"] - row["start_s"] == pytest.approx(row["duration_s"], abs=1e-3)
    utterances = read_utterances([MANIFESTS / "two-cities.jsonl"])
    assert [u.text for u in utterances] == [row["text"] for row in rows]
    assert all(u.extra["package"] == "moonshine-voice" for u in utterances)


def test_split_rows_are_valid(tmp_path):
    from refprep.pipeline.split import Utterance
    from refprep.utterances import write_utterances

    kit = voice_kit()
    clip = kit.tone("long.wav", 200.0, 2.0)
    start = clip.sample_rate_hz
    utterance = Utterance(clip, start, "It was.", kit.text_check("It was.", 2.0))
    rows = write_utterances(tmp_path / "out", [utterance], source=Path("long.wav"), speaker="a/b/f/c")
    validator = load_schema("utterances.schema.json")
    validator.validate(rows[0])
    voices = {"voice", "voice_score", "voice_is_sure", "mixed", "encoder", "scale"}
    assert set(rows[0]) == set(validator.schema["properties"]) - voices  # type: ignore[index]
    assert (rows[0]["start_s"], rows[0]["start_sample"]) == (1.0, start)
    assert rows[0]["end_sample"] - start == clip.num_samples
    assert not validator.is_valid({**rows[0], "start_s": "1.0"})
    assert not validator.is_valid({**rows[0], "pcm_sha256": "0"})
    assert not validator.is_valid({**rows[0], "consent": {"nested": True}})


def test_the_readme_names_every_key_and_column_that_is_read():
    from refprep.bench import identity, lint
    from refprep.manifest.row import KNOWN_KEYS

    readme = (MANIFESTS / "README.md").read_text(encoding="utf-8")
    for name in (*KNOWN_KEYS, *lint._REQUIRED, *identity._REQUIRED):
        assert f"`{name}`" in readme, name
