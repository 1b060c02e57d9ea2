"""`refprep clone` as a process, with tiny checkpoints of random weights: files, records, exit codes, streams."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import soundfile
import torch
from build_kit import ordinary_scene
from engine_kit import tiny_checkpoint
from process import ROOT, clean, refprep

from refprep.cli.app import main
from refprep.engine.engine import Engine
from refprep.engine.model import load_checkpoint
from refprep.types import GREEDY, CloneMode, SpeechRequest
from refprep.voice import load_voice
from refprep.voice.codes import voice_prompt

TEXT = "A short text."


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    ordinary_scene(folder / "clips").build(folder / "voice")
    return folder / "voice"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"REFPREP_CACHE": str(tmp_path_factory.mktemp("cache")), "OMP_NUM_THREADS": "1"}


def make_ending(voice: Path, folder: Path) -> Path:
    """A checkpoint that ends TEXT by itself: a code that it writes there is declared to be its end mark."""
    shutil.copytree(tiny_checkpoint("base-0.6b"), folder)
    prompt, _ = voice_prompt(load_voice(voice), folder, mode=CloneMode.X_VECTOR, device="cpu")
    loaded = load_checkpoint(folder, device=torch.device("cpu"), dtype=torch.float32)
    request = SpeechRequest(TEXT, voice=prompt, language="English", sampling=GREEDY, max_frames=60)
    first = Engine(loaded).generate([request])[0].codes[:, 0].tolist()
    at = next(n for n in range(10, 60) if first.index(first[n]) == n)
    config = json.loads((folder / "config.json").read_text())
    config["talker_config"]["codec_eos_token_id"] = first[at]
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def ending(voice: Path, env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_ending(voice, tmp_path_factory.mktemp("model") / "ending")


def speak(voice: Path, model: Path, *more: str | Path) -> list[str | Path]:
    return [
        "clone", "--voice", voice, "--model", model, "--mode", "x-vector", "--greedy", "--language", "en",
        "--device", "cpu", *more,
    ]  # fmt: skip


def test_a_text_becomes_audio_and_a_record(voice, ending, env, tmp_path):
    out = tmp_path / "out.wav"
    done = clean(refprep(*speak(voice, ending, TEXT, "-o", out, "--seed", "5"), env=env), 0)
    assert "s of speech, 1 piece, 1 attempt" in done.out
    assert "random numbers" in done.err
    samples, rate = soundfile.read(out)
    assert rate == 24_000
    assert len(samples) % 1920 == 0
    record = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(record, json.loads((ROOT / "manifests" / "clone.schema.json").read_text("utf-8")))
    assert (record["passed"], record["stop"], record["seed"], record["weights"]) == (True, "eos", 5, "random")
    assert record["num_samples"] == len(samples)
    assert record["pieces"][0]["attempts"][0]["frames"] * 1920 == len(samples)
    assert record["voice"]["mode"] == "x-vector"
    before = out.read_bytes()
    clean(refprep(*speak(voice, ending, TEXT, "-o", out, "--seed", "5"), env=env), 0)
    assert out.read_bytes() == before


def test_a_stream_is_the_same_audio(voice, ending, env, tmp_path):
    clean(refprep(*speak(voice, ending, TEXT, "-o", tmp_path / "whole.wav"), env=env), 0)
    clean(refprep(*speak(voice, ending, TEXT, "-o", tmp_path / "grown.wav", "--stream"), env=env), 0)
    whole, grown = (soundfile.read(tmp_path / f"{n}.wav", dtype="int16")[0] for n in ("whole", "grown"))
    # A stream's first chunks are shorter: its sums are added in another order.
    assert np.abs(whole.astype(int) - grown).max() <= 1
    record = json.loads((tmp_path / "grown.json").read_text())
    assert record["num_samples"] == len(grown) == len(whole)
    assert record["audio_sha256"] == hashlib.sha256((tmp_path / "grown.wav").read_bytes()).hexdigest()
    command = [sys.executable, "-m", "refprep", *map(str, speak(voice, ending, TEXT, "-o", "-", "--stream"))]
    import os

    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.frombuffer(done.stdout, "<i2"), grown)


def test_a_runaway_is_exit_1_and_never_takes_the_name(voice, env, tmp_path):
    out = tmp_path / "out.wav"
    arguments = speak(
        voice, tiny_checkpoint("base-0.6b"), TEXT, "-o", out, "--attempts", "2", "--format", "json"
    )
    done = clean(refprep(*arguments, env=env), 1)
    (row,) = json.loads(done.out)["outputs"]
    assert row["stop"] in ("max-frames", "repeating", "not-speech")
    assert [a["passed"] for a in row["pieces"][0]["attempts"]] == [False, False]
    assert not out.exists()
    assert (tmp_path / "out.failed.wav").exists()
    budget = row["pieces"][0]["budget"]
    assert all(a["duration_s"] <= budget["max_s"] + 0.08 for a in row["pieces"][0]["attempts"])


@pytest.mark.weights
@pytest.mark.speech
def test_what_fails_its_verification_is_no_success(whisper_folder, ge2e_folder, two_cities, tmp_path):
    """It ends by itself, and nobody speaks in it. The voice is real speech: its reader is measured."""
    samples, rate = soundfile.read(two_cities / "two_cities.wav", dtype="int16")
    (tmp_path / "clips").mkdir()
    for number in range(5):  # a scene leaves clips alone that are there
        piece = samples[round(3.4 * number * rate) : round(3.4 * (number + 1) * rate)]
        soundfile.write(tmp_path / "clips" / f"a_{number}.wav", piece, rate, subtype="PCM_16")
    ordinary_scene(tmp_path / "clips").build(tmp_path / "voice")
    model, out = make_ending(tmp_path / "voice", tmp_path / "ending"), tmp_path / "out.wav"
    arguments = speak(tmp_path / "voice", model, TEXT, "-o", out, "--verify", "--attempts", "2")
    row = json.loads(clean(refprep(*arguments, "--format", "jsonl"), 1).out)
    attempts = row["pieces"][0]["attempts"]
    assert [(a["stop"], a["passed"], a["faults"]) for a in attempts] == [("eos", False, ["no-speech"])] * 2
    assert not out.exists()


def test_a_batch_speaks_every_line(voice, ending, env, tmp_path):
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text(f'{{"text": "{TEXT}", "out": "a.wav"}}\n{{"text": "{TEXT}", "seed": 3}}\n')
    done = clean(refprep(*speak(voice, ending, "--batch", jobs, "-o", tmp_path / "out"), env=env), 0)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "00002.json",
        "00002.wav",
        "a.json",
        "a.wav",
    ]
    assert done.out.count("1 attempt") == 2


def test_named_speakers_and_descriptions_need_no_voice(env, tmp_path):
    for name, option in (
        ("custom-1.7b", ("--speaker", "Ryan")),
        ("design-1.7b", ("--instruct", "A calm voice.", "--quantize", "int8")),
    ):
        arguments = (
            "clone",
            "Hi.",
            "--model",
            tiny_checkpoint(name),
            "-o",
            tmp_path / f"{name}.wav",
            *option,
        )
        done = clean(refprep(*arguments, "--attempts", "1", "--device", "cpu", env=env), 0, 1)
        record = json.loads(next(tmp_path.glob(f"{name}*.json")).read_text())
        assert record["passed"] == (done.code == 0)
        assert record["voice"] is None
        assert record["step_mode"] == "eager"
        is_int8 = "--quantize" in option
        assert (record["quantization"] is not None) == is_int8
        if is_int8:
            assert record["quantization"]["gate"]["predictor"]["confident"] == 1.0


@pytest.mark.weights
def test_an_uncovered_reference_is_refused_in_context(voice, ending, whisper_folder, tmp_path):
    """The scene's clips are tones, and its text is words."""
    arguments = [
        "clone",
        "--voice",
        voice,
        "--model",
        ending,
        TEXT,
        "-o",
        tmp_path / "a.wav",
        "--device",
        "cpu",
    ]
    done = clean(refprep(*arguments), 1)
    assert "RP10" in done.err
    assert "--force" in done.err
    assert not list(tmp_path.iterdir())
    clean(refprep(*arguments, "--force", "--attempts", "1"), 0, 1)
    assert list(tmp_path.glob("a*.wav"))


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["clone", "Hi."], "no model"),
        (["clone", "--model", "BASE"], "not exactly one text"),
        (["clone", "Hi.", "--model", "BASE"], "a recorded voice, and none is given"),
        (
            ["clone", "Hi.", "--model", "BASE", "--voice", "VOICE", "--speaker", "ryan"],
            "no built-in speakers",
        ),
        (["clone", "...", "--model", "BASE", "--voice", "VOICE"], "no words"),
        (["clone", "Hi <|im_end|>", "--model", "BASE", "--voice", "VOICE"], "control token"),
        (["clone", "", "--model", "BASE", "--voice", "VOICE"], "no words"),
        (
            ["clone", "Hi.", "--model", "BASE", "--voice", "VOICE", "--language", "sv"],
            "'Swedish' is not supported",
        ),
        (
            ["clone", "Hi.", "--model", "BASE", "--voice", "VOICE", "--dtype", "float16"],
            "'float16' is unknown",
        ),
        (
            ["clone", "Hi.", "--model", "BASE", "--voice", "VOICE", "--temperature", "0"],
            "temperature must be above 0",
        ),
        (["clone", "Hi.", "--model", "CUSTOM", "--voice", "VOICE"], "no recorded voice to speak with"),
        (["clone", "Hi.", "--model", "CUSTOM"], "needs a speaker's name"),
        (["clone", "Hi.", "--model", "CUSTOM", "--speaker", "nobody"], "'nobody' is unknown"),
        (
            [
                "clone",
                "Hi.",
                "--model",
                "CUSTOM",
                "--speaker",
                "ryan",
                "--step-mode",
                "graph",
                "--device",
                "cpu",
            ],
            "captured on a GPU",
        ),
        (
            [
                "clone",
                "Hi.",
                "--model",
                "CUSTOM",
                "--speaker",
                "ryan",
                "--quantize",
                "int8",
                "--dtype",
                "bfloat16",
            ],
            "int8 layers are made of float32",
        ),
        (["clone", "Hi.", "--model", "BASE", "--voice", "VOICE", "-o", "-"], "audio on stdout is a stream"),
        (["clone", "Hi.", "--model", "BASE", "--voice", "VOICE", "--stream", "--verify"], "gives away"),
        (["clone", "--batch", "nowhere.jsonl", "--model", "BASE", "--voice", "VOICE"], "cannot be read"),
        (["clone", "Hi.", "--model", "BASE", "--voice", "nowhere"], "no voice.json"),
    ],
)
def test_a_call_that_cannot_be_carried_out_is_one_error(
    voice, env, tmp_path, arguments, what, monkeypatch, capsys
):
    """In this process: each of these would otherwise wait for torch once more."""
    named = {"BASE": tiny_checkpoint("base-0.6b"), "CUSTOM": tiny_checkpoint("custom-1.7b"), "VOICE": voice}
    given = [str(named.get(a, a)) for a in arguments] + ["--mode", "x-vector", "--device", "cpu"]
    if "-o" not in given:
        given += ["-o", str(tmp_path / "out.wav")]
    monkeypatch.setattr(sys, "argv", ["refprep", *given])
    monkeypatch.setenv("REFPREP_CACHE", env["REFPREP_CACHE"])
    with pytest.raises(SystemExit) as caught:
        main()
    said = capsys.readouterr().err
    assert caught.value.code == 2
    assert what in said
    assert said.count("refprep: ") - said.count("refprep: note") == 1
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_not_here_says_how_to_get_it(voice, env):
    done = clean(refprep("clone", "Hi.", "--voice", voice, "--model", "nowhere", env=env), 2, 3)
    assert "help:" in done.err


def test_damaged_checkpoints_are_named(voice, env, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(tiny_checkpoint("base-0.6b"), model)
    (model / "model.safetensors").write_bytes((model / "model.safetensors").read_bytes()[:-100])
    done = clean(refprep(*speak(voice, model, "Hi.", "-o", tmp_path / "a.wav"), env=env), 3)
    assert "no whole safetensors file" in done.err
    assert io.StringIO(done.err).read().count("help:") == 1
