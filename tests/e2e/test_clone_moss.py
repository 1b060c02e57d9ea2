"""`refprep encode` and `refprep clone` with MOSS-TTS: one voice for both engines, tiny checkpoints of random weights."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import soundfile
from build_kit import ordinary_scene
from engine_kit import tiny_checkpoint
from moss_kit import tiny_generator
from moss_voice_kit import tiny_moss
from process import ROOT, clean, refprep
from safetensors.numpy import load_file
from safetensors.torch import load_file as load_torch
from safetensors.torch import save_file as save_torch

from refprep.backends.open import open_backend
from refprep.cli.app import main
from refprep.errors import UsageError
from refprep.pipeline.code_cache import CodeCache
from refprep.types import SpeechRequest, SynthesisSettings
from refprep.voice import load_voice
from refprep.voice.codes import voice_prompt

TEXT = "A short text."
SCHEMA = json.loads((ROOT / "manifests" / "clone.schema.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    ordinary_scene(folder / "clips").build(folder / "voice")
    return folder


@pytest.fixture
def voice(built: Path, tmp_path: Path) -> Path:
    shutil.copytree(built, tmp_path / "scene")
    return tmp_path / "scene" / "voice"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"REFPREP_CACHE": str(tmp_path_factory.mktemp("cache")), "OMP_NUM_THREADS": "1"}


def speak(voice: Path, *more: str | Path) -> list[str | Path]:
    return ["clone", "--voice", voice, "--model", tiny_moss(), "--device", "cpu", *more]


def test_one_voice_feeds_both_engines_and_none_gets_the_others_codes(voice, env, tmp_path):
    own = {"REFPREP_CACHE": str(tmp_path / "cache")}
    digests = {}
    for model in (tiny_moss(), tiny_checkpoint("base-0.6b")) * 2:
        done = clean(
            refprep("encode", voice, "--model", model, "--device", "cpu", "--format", "json", env=own), 0
        )
        (row,) = json.loads(done.out)["voices"]
        assert row["findings"] == []
        assert digests.setdefault(model, row["digest"]) == row["digest"]
    entries = [load_file(p) for p in sorted((voice / "codes").iterdir())]
    assert sorted((e["codes"].shape[1], "speaker_embedding" in e) for e in entries) == [
        (16, True),
        (32, False),
    ]
    assert "codes whole: 2" in clean(refprep("verify", voice, env=own), 0).out
    assert clean(refprep("cache", "verify", env=own), 0).out.strip() == "2 entries, 0 damaged"
    clean(refprep("lint", voice, "--select", "RP5", env=own), 0)
    rows = json.loads(clean(refprep("cache", "ls", "--format", "json", env=own), 0).out)["entries"]
    assert sorted((r["key"]["codec"], r["embedding"]) for r in rows) == [
        ("moss-audio-tokenizer", None),
        ("qwen3_tts_tokenizer_12hz", 24),
    ]
    # The same voice under another loudness is another entry, and is not taken for the first.
    done = refprep(
        "encode", voice, "--model", tiny_moss(), "--device", "cpu", "--loudness", "published", env=own
    )
    assert "encoded in" in clean(done, 0).out
    assert len(list((voice / "codes").iterdir())) == 3
    cache, read = CodeCache(tmp_path / "fresh"), load_voice(voice)
    prompts = {}
    for model in (tiny_moss(), tiny_checkpoint("base-0.6b")):
        prompts[model], entry = voice_prompt(read, model, cache=cache)
        assert entry.key.digest == digests[model]
    moss, qwen = prompts.values()
    assert (moss.text, moss.speaker_embedding, moss.codes.shape[1]) == (None, None, 32)
    assert (qwen.text, qwen.codes.shape[1]) == (read.text, 16)
    rounded = replace(qwen, key=replace(qwen.key, encoder_dtype="bfloat16"))
    for model, voice_of, words in (
        (tiny_moss(), qwen, "one of Qwen3-TTS"),
        (tiny_checkpoint("base-0.6b"), moss, "one of MOSS-TTS"),
        (tiny_checkpoint("base-0.6b"), rounded, "RP501"),
    ):
        engine = open_backend(model).synthesizer(SynthesisSettings("cpu", "float32"))
        request = SpeechRequest(TEXT, voice=voice_of, sampling=engine.sampling)
        with pytest.raises(UsageError, match=words):
            engine.check(request)


def test_a_damaged_copy_of_moss_codes_is_found(voice, env):
    clean(refprep("encode", voice, "--model", tiny_moss(), "--device", "cpu", env=env), 0)
    (path,) = (voice / "codes").iterdir()
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    assert f"codes/{path.name}" in clean(refprep("verify", voice, env=env), 1).out
    assert "RP508 error" in clean(refprep("lint", voice, "--select", "RP5", env=env), 1).out


def test_a_text_becomes_audio_and_a_record(voice, env, tmp_path):
    out = tmp_path / "out.wav"
    arguments = speak(
        voice, TEXT, "-o", out, "--language", "Spanish", "--instruct", "with an Argentine accent", "--tokens", "20",
        "--text-temperature", "1.4", "--temperature", "1.5", "--decoder-precision", "plain-int8",
    )  # fmt: skip
    done = clean(refprep(*arguments, env=env), 0)
    assert "1 piece" in done.out
    assert "random numbers" in done.err
    samples, rate = soundfile.read(out)
    record = json.loads((tmp_path / "out.json").read_text())
    jsonschema.validate(record, SCHEMA)
    assert rate == record["sample_rate_hz"] == 24_000
    assert len(samples) == record["num_samples"] == 1920 * record["pieces"][0]["attempts"][-1]["frames"]
    assert (record["backend"], record["voice"]["mode"], record["stop"]) == ("moss-tts", "clone", "eos")
    assert (record["language"], record["instruct"], record["tokens"]) == (
        "es",
        "with an Argentine accent",
        20,
    )
    assert (record["decoder_precision"], record["voice"]["encoder_dtype"]) == ("plain-int8", "float32")
    assert record["voice"]["preparation"] == "silence-to-frame, loudness as-is"
    assert (record["sampling"]["text_temperature"], record["sampling"]["audio_temperature"]) == (1.4, 1.5)
    assert record["pieces"][0]["attempts"][0]["guard"]["lowest_eos_rank"] is None
    before = out.read_bytes()
    clean(refprep(*arguments, env=env), 0)
    assert out.read_bytes() == before
    plain = tmp_path / "plain.wav"
    clean(refprep("clone", TEXT, "--model", tiny_moss(), "--device", "cpu", "-o", plain, env=env), 0)
    assert json.loads(plain.with_suffix(".json").read_text())["voice"] is None


@pytest.mark.parametrize("mode", ["clone", "continuation", "both"])
def test_a_stream_is_the_same_audio(voice, env, tmp_path, mode, monkeypatch):
    monkeypatch.setenv("REFPREP_CACHE", env["REFPREP_CACHE"])
    options = ["--mode", mode, "--force", "--greedy", "--attempts", "1", "--seed", "3"]
    for name, more in (("whole", []), ("grown", ["--stream"])):
        arguments = speak(voice, TEXT, "-o", tmp_path / f"{name}.wav", *options, *more)
        clean(refprep(*arguments, env=env), 0)
    whole, grown = (soundfile.read(tmp_path / f"{n}.wav", dtype="int16")[0] for n in ("whole", "grown"))
    assert np.abs(whole.astype(int) - grown).max() <= 1
    record = json.loads((tmp_path / "grown.json").read_text())
    jsonschema.validate(record, SCHEMA)
    assert record["num_samples"] == len(grown) == len(whole)
    assert record["voice"]["mode"] == mode
    assert record["voice"]["reference_frames"] == 89
    assert record["audio_sha256"] == hashlib.sha256((tmp_path / "grown.wav").read_bytes()).hexdigest()
    if mode == "clone":
        command = [
            sys.executable,
            "-m",
            "refprep",
            *map(str, speak(voice, TEXT, "-o", "-", *options, "--stream")),
        ]
        done = subprocess.run(command, capture_output=True, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        assert np.array_equal(np.frombuffer(done.stdout, "<i2"), grown)


def test_a_batch_speaks_every_line_as_alone(voice, env, tmp_path):
    jobs = tmp_path / "jobs.jsonl"
    jobs.write_text(
        f'{{"text": "{TEXT}", "out": "a.wav"}}\n{{"text": "Hello.", "seed": 3, "instruct": "slowly"}}\n'
    )
    clean(refprep(*speak(voice, "--batch", jobs, "-o", tmp_path / "out"), env=env), 0)
    clean(refprep(*speak(voice, TEXT, "-o", tmp_path / "alone.wav"), env=env), 0)
    assert (tmp_path / "out" / "a.wav").read_bytes() == (tmp_path / "alone.wav").read_bytes()
    assert json.loads((tmp_path / "out" / "00002.json").read_text())["instruct"] == "slowly"


def test_a_runaway_is_exit_1_and_never_takes_the_name(voice, env, tmp_path):
    """The end is exactly as likely as a further frame, always, and the likeliest is taken: the first of them."""
    model = tmp_path / "endless"
    shutil.copytree(tiny_moss(), model)
    tensors = load_torch(model / "model.safetensors")
    ids = json.loads((model / "config.json").read_text())
    head = tensors["lm_heads.0.weight"]
    head[ids["audio_assistant_delay_slot_token_id"]] = head[ids["audio_assistant_gen_slot_token_id"]]
    save_torch(tensors, model / "model.safetensors", metadata={"format": "pt"})
    out = tmp_path / "out.wav"
    done = refprep(
        "clone", "--voice", voice, "--model", model, TEXT, "-o", out, "--greedy", "--attempts", "2",
        "--device", "cpu", "--format", "json", env=env,
    )  # fmt: skip
    (row,) = json.loads(clean(done, 1).out)["outputs"]
    assert row["stop"] in ("max-frames", "repeating", "not-speech")
    assert len(row["pieces"][0]["attempts"]) == 2
    assert not out.exists()
    assert (tmp_path / "out.failed.wav").exists()


@pytest.mark.weights
def test_an_uncovered_reference_stops_a_continuation_and_no_clone(voice, whisper_folder, tmp_path):
    """The scene's clips are tones, and its text is words."""
    arguments = speak(voice, TEXT, "-o", tmp_path / "a.wav")
    done = clean(refprep(*arguments, "--mode", "continuation"), 1)
    assert "RP10" in done.err
    assert "clone" in done.err
    assert not (tmp_path / "a.wav").exists()
    clean(refprep(*arguments), 0)


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
    out = tmp_path / "out.wav"
    arguments = speak(
        tmp_path / "voice", TEXT, "-o", out, "--verify", "--attempts", "2", "--instruct", "calmly"
    )
    done = clean(refprep(*arguments, "--format", "jsonl"), 1)
    assert "no score measures an accent" in done.err
    attempts = json.loads(done.out)["pieces"][0]["attempts"]
    assert [a["passed"] for a in attempts] == [False] * 2
    assert all(a["faults"] for a in attempts if a["stop"] == "eos")
    assert any(a["stop"] == "eos" for a in attempts)
    assert not out.exists()


def rounded_codec(folder: Path) -> Path:
    """A checkpoint whose codec is stored in bfloat16."""
    shutil.copytree(tiny_moss(), folder)
    path = folder / "audio_tokenizer" / "model.safetensors"
    tensors = {n: t.bfloat16() if n.startswith("encoder.") else t for n, t in load_torch(path).items()}
    save_torch(tensors, path, metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize(
    ("arguments", "what", "code"),
    [
        (["encode", "VOICE", "--model", "ROUNDED"], "RP501", 2),
        (["clone", "Hi.", "--voice", "VOICE", "--model", "ROUNDED"], "RP501", 2),
        (["encode", "VOICE", "--model", "LOCAL"], "MOSS-Audio-Tokenizer-v2", 3),
        (["clone", "Hi.", "--model", "LOCAL"], "MOSS-Audio-Tokenizer-v2", 3),
        (["encode", "VOICE", "--model", "BARE"], "the codec of this MOSS-TTS model is not here", 3),
        (["encode", "VOICE", "--model", "QWEN", "--loudness", "as-is"], "at its own level", 2),
        (["clone", "Hi.", "--voice", "VOICE", "--model", "MOSS", "--mode", "icl"], "has no mode icl", 2),
        (["clone", "Hi.", "--voice", "VOICE", "--model", "QWEN", "--mode", "clone"], "has no mode clone", 2),
        (["clone", "Hi.", "--model", "MOSS", "--verify"], "no recorded voice to verify against", 2),
        (["clone", "Hi.", "--model", "MOSS", "--speaker", "ryan"], "no built-in speakers", 2),
        (["clone", "Hi.", "--model", "MOSS", "--subtalker-top-k", "5"], "--subtalker-top-k", 2),
        (["clone", "Hi.", "--voice", "VOICE", "--model", "QWEN", "--mode", "x-vector", "--text-top-k", "5"], "--text-top-k", 2),
        (["clone", "Hi.", "--voice", "VOICE", "--model", "QWEN", "--mode", "x-vector", "--tokens", "5"], "no wanted length", 2),
        (["clone", "Hi.", "--model", "MOSS", "--streamed-text"], "the whole text", 2),
        (["clone", "Hi.", "--model", "MOSS", "--quantize", "int8"], "not quantized here", 2),
        (["clone", "Hi.", "--model", "MOSS", "--decoder-precision", "int3"], "'int3' is unknown", 2),
        (["clone", "Hi.", "--model", "REMOTE"], "own remote code alone", 3),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_carried_out_is_one_error(
    voice, env, tmp_path, arguments, what, code, monkeypatch, capsys
):
    """In this process: each of these would otherwise wait for torch once more."""
    remote = tmp_path / "remote"
    remote.mkdir()
    (remote / "config.json").write_text('{"model_type": "x", "auto_map": {"AutoModel": "modeling.X"}}')
    named = {
        "VOICE": voice,
        "MOSS": tiny_moss(),
        "LOCAL": tiny_generator("local-1.5"),
        "BARE": tiny_generator("delay"),
        "QWEN": tiny_checkpoint("base-0.6b"),
        "REMOTE": remote,
    }
    if "ROUNDED" in arguments:
        named["ROUNDED"] = rounded_codec(tmp_path / "rounded")
    given = [str(named.get(a, a)) for a in arguments] + ["--device", "cpu"]
    if arguments[0] == "clone":
        given += ["-o", str(tmp_path / "out.wav")]
    monkeypatch.setattr(sys, "argv", ["refprep", *given])
    monkeypatch.setenv("REFPREP_CACHE", env["REFPREP_CACHE"])
    with pytest.raises(SystemExit) as caught:
        main()
    said = capsys.readouterr().err
    assert caught.value.code == code
    assert what in said
    assert said.count("refprep: ") - said.count("refprep: note") == 1
    assert not (tmp_path / "out.wav").exists()


def test_random_checkpoints_are_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["refprep", "models", "random", str(tmp_path / "m"), "--kind", "moss-delay"]
    )
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    assert "tiny moss-delay" in capsys.readouterr().out
    backend = open_backend(tmp_path / "m")
    assert backend.encoder(device="cpu").fault() is None
    assert backend.synthesizer(SynthesisSettings("cpu", "float32")).facts["weights"] == "random"
