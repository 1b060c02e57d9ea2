"""`refprep audit` and `refprep compare` as processes, on tiny checkpoints of random weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
import soundfile
from build_kit import ordinary_scene
from engine_kit import tiny_checkpoint
from moss_codec_kit import tiny_codec
from moss_kit import tiny_generator
from process import ROOT, clean, refprep
from safetensors.torch import load_file, save_file

QUICK = (
    "--generator",
    "float32",
    "--encoder",
    "bfloat16,int8",
    "--decoder",
    "int8",
    "--frames",
    "4",
    "--seconds",
    "2",
)


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    ordinary_scene(folder / "clips").build(folder / "voice")
    return folder / "voice"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"REFPREP_CACHE": str(tmp_path_factory.mktemp("cache")), "OMP_NUM_THREADS": "1"}


def check(document: dict, name: str) -> None:
    schema = json.loads((ROOT / "manifests" / f"{name}.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)


def moss(folder: Path) -> Path:
    shutil.copytree(tiny_generator("delay"), folder)
    shutil.copytree(tiny_codec(), folder / "audio_tokenizer")
    return folder


def test_an_audit_of_qwen3_writes_a_document_and_a_page_and_keeps_nothing(voice, env, tmp_path):
    before = sorted(voice.rglob("*"))
    page = tmp_path / "audit.html"
    arguments = ["audit", voice, "--model", tiny_checkpoint("base-0.6b"), "--device", "cpu", *QUICK]
    done = clean(refprep(*arguments, "--report", page, "--format", "json", env=env), 0)
    document = json.loads(done.out)
    check(document, "audit")
    assert [r["verdict"]["kind"] for r in document["encoders"]] == ["equal", "rounding", "rounding"]
    for row in document["encoders"][1:]:
        curve = row["agreement"]["per_codebook"]
        assert curve[0] > sum(curve[-4:]) / 4
    assert len(document["cells"]) == 1 * 3 * 2
    assert any("likeness was skipped" in note for note in document["notes"])
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert sorted(voice.rglob("*")) == before
    assert not (Path(env["REFPREP_CACHE"]) / "codes").exists()


def test_an_audit_of_moss_in_words(voice, env, tmp_path):
    model = moss(tmp_path / "moss")
    done = clean(refprep("audit", voice, "--model", model, "--device", "cpu", *QUICK, env=env), 0)
    assert "moss-audio-tokenizer" in done.out
    assert "encoder int8: rounding" in done.out
    assert "random numbers" in done.out
    codec = clean(refprep("audit", model / "audio_tokenizer", "--model", model, env=env), 2)
    assert "no voice.json there" in codec.err


def test_weights_that_encode_refuses_are_exit_1(voice, env, tmp_path):
    folder = tmp_path / "narrow"
    shutil.copytree(tiny_checkpoint("base-0.6b"), folder)
    path = folder / "speech_tokenizer" / "model.safetensors"
    save_file({k: v.bfloat16() for k, v in load_file(path).items()}, path)
    arguments = ["audit", voice, "--model", folder, "--device", "cpu", *QUICK]
    done = clean(refprep(*arguments, env=env), 1)
    assert "RP501" in done.out


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (("--encoder", "int3"), 2, "precision 'int3' is unknown"),
        (("--generator", "float16"), 2, "precision 'float16' is unknown"),
        (("--decoder", "tf32"), 2, "precision 'tf32' is unknown"),
        (("--seconds", "0"), 2, "too little to compare"),
    ],
)
def test_bad_options_are_one_clear_error(voice, env, more, code, said):
    done = clean(refprep("audit", voice, "--model", tiny_checkpoint("base-0.6b"), *more, env=env), code)
    assert said in done.err
    assert done.err.count("refprep:") == 1


def test_a_model_without_a_codec_and_a_voice_that_is_none(voice, env, tmp_path):
    done = clean(refprep("audit", voice, "--model", tiny_generator("delay"), env=env), 3)
    assert "--codec" in done.err
    done = clean(refprep("audit", tmp_path, "--model", tiny_checkpoint("base-0.6b"), env=env), 2)
    assert "no voice.json there" in done.err


def spoken(voice: Path, *more: str | Path) -> list[str | Path]:
    return [
        "compare", voice, "--model", tiny_checkpoint("base-0.6b"), "--mode", "x-vector", "--language", "en",
        "--device", "cpu", "--text", "A short text.", *more,
    ]  # fmt: skip


def test_beginnings_of_a_voice_are_compared(voice, env):
    done = clean(refprep(*spoken(voice, "--nested", "3,30", "--seeds", "3", "--format", "json"), env=env), 0)
    document = json.loads(done.out)
    check(document, "compare")
    assert document["weights"] == "random"
    assert len(document["references"]) == 2
    assert all([o["seed"] for o in r["outputs"]] == [0, 1, 2] for r in document["references"])
    assert any("skipped" in note for note in document["notes"])


def test_a_voice_differs_from_itself_by_nothing(voice, env, tmp_path):
    shutil.copytree(voice, tmp_path / "copy")
    done = clean(refprep(*spoken(voice, tmp_path / "copy", "--seeds", "3"), env=env), 0)
    assert "no difference shown (A - B +0.00 s" in done.out
    assert "does not measure accent" in done.out


@pytest.mark.weights
@pytest.mark.speech
@pytest.mark.slow
def test_models_that_listen_are_asked_where_they_are_here(whisper_folder, ge2e_folder, two_cities, tmp_path):
    """The voice is real speech: its reader is measured; what is spoken is noise, and said to be."""
    samples, rate = soundfile.read(two_cities / "two_cities.wav", dtype="int16")
    (tmp_path / "clips").mkdir()
    for number in range(5):  # a scene leaves clips alone that are there
        piece = samples[round(3.4 * number * rate) : round(3.4 * (number + 1) * rate)]
        soundfile.write(tmp_path / "clips" / f"a_{number}.wav", piece, rate, subtype="PCM_16")
    ordinary_scene(tmp_path / "clips").build(tmp_path / "voice")
    done = clean(refprep(*spoken(tmp_path / "voice", "--nested", "3,30", "--seeds", "1")), 0)
    assert "scores of noise" in done.out
    assert "edges with reference words" in done.out
    arguments = ["audit", tmp_path / "voice", "--model", moss(tmp_path / "moss"), "--device", "cpu"]
    done = clean(refprep(*arguments, *QUICK, "--generator", "none", "--format", "json"), 0)
    document = json.loads(done.out)
    check(document, "audit")
    own, back = document["original"][0], document["encoders"][0]["likeness"][0]
    assert own["windows"][0]["score"] > back["windows"][0]["score"]
    assert document["cells"] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "1 voices"),
        (("--nested", "3,three"), "are no numbers"),
        (("--nested", "3,3"), "one reference"),
        (("--nested", "3,30", "--seeds", "0"), "no seeds"),
        (("--nested", "3,30", "--text", "..."), "no words"),
    ],
)
def test_bad_comparisons_are_one_clear_error(voice, env, more, said):
    done = clean(refprep(*spoken(voice, *more), env=env), 2)
    assert said in done.err
