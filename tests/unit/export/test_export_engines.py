"""Each engine's files parse back and say what was asked."""

from __future__ import annotations

import base64
import csv
import io
import json
import tomllib
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import soundfile
import yaml
from export_kit import LENGTHS_S, RATE_HZ, TEXTS, make_voice

from refprep.errors import NoReferenceError, UsageError
from refprep.export import EXPORTERS, export_voice, find_exporter
from refprep.export.exporter import Layout
from refprep.export.languages import gpt_sovits_language, qwen_language, xtts_language
from refprep.export.registry import exporter_row
from refprep.manifest import read_utterances
from refprep.text.words import join_texts

SCHEMA = json.loads((Path(__file__).parents[3] / "manifests" / "export.schema.json").read_text("utf-8"))
ASKED = (
    "f5-tts gpt-sovits fish-speech cosyvoice index-tts chatterbox xtts mlx-audio vllm-omni sglang-omni ljspeech "
    "hf-audiofolder qwen3-tts moss-tts omnivoice chatterbox-turbo"
).split()
WHOLE = join_texts(TEXTS[: len(LENGTHS_S)])


@pytest.fixture
def voice(tmp_path):
    return make_voice(tmp_path / "ana of Rosario", rate_hz=RATE_HZ)


@pytest.fixture
def reference(voice):
    return soundfile.read(voice / "reference.wav", dtype="float32")[0]


def load(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


def samples_of(path: Path | io.BytesIO):
    return soundfile.read(path, dtype="float32")[0]


def test_the_engines():
    assert sorted(EXPORTERS) == sorted(ASKED)
    assert all(name == e.name for name, e in EXPORTERS.items())
    assert find_exporter(" F5-TTS ") is EXPORTERS["f5-tts"]


def test_an_unknown_engine_names_the_known_ones():
    with pytest.raises(UsageError) as caught:
        find_exporter("f6-tts")
    assert all(name in caught.value.fix for name in ASKED)


@pytest.mark.parametrize("engine", ASKED)
def test_every_engine_says_what_it_takes(engine):
    exporter = EXPORTERS[engine]
    assert all(exporter_row(exporter).values())
    assert len(exporter.describe.__doc__ or "") > 80


@pytest.mark.parametrize("engine", ASKED)
def test_every_export_is_valid_and_lists_its_files(voice, tmp_path, engine):
    done = export_voice(voice, engine, tmp_path / "out")
    document = load(tmp_path / "out" / "export.json")
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert done.document == document
    found = {p.relative_to(tmp_path / "out").as_posix() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert found == {"export.json", *(row["file"] for row in document["files"])}
    assert document["text"] == join_texts([row["text"] for row in document["clips"]])
    assert document["is_cut"] == bool(document["left_out"])
    assert len(document["clips"]) + len(document["left_out"]) == len(LENGTHS_S)
    assert document["licence"] == ["CC0-1.0"]
    assert document["consent"] == ["signed 2026-01-02"]
    assert all(row["provenance"]["take"] == 3 for row in document["clips"])
    text = (tmp_path / "out" / "export.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text


@pytest.mark.parametrize("engine", [n for n, e in EXPORTERS.items() if e.layout is Layout.JOINED])
def test_text_files_hold_the_text_of_the_exported_clips(voice, tmp_path, engine):
    document = export_voice(voice, engine, tmp_path / "out").document
    for name in ("reference.txt", "prompt.txt"):
        path = tmp_path / "out" / name
        assert not path.exists() or path.read_text(encoding="utf-8") == document["text"] + "\n"


def test_f5_tts(voice, reference, tmp_path):
    done = export_voice(voice, "f5-tts", tmp_path / "out")
    config = tomllib.loads((tmp_path / "out" / "f5-tts.toml").read_text(encoding="utf-8"))
    assert config["ref_text"] == done.document["text"] == join_texts(TEXTS[1:4])
    assert len(samples_of(tmp_path / "out" / config["ref_audio"])) <= 12 * RATE_HZ
    assert {"model", "gen_text", "gen_file", "remove_silence", "output_dir"} < set(config)
    assert done.document["is_cut"]
    assert any("zeros-160ms" in w for w in done.warnings)


@pytest.mark.parametrize("text", ['say "hi"', "a\\b\tc", "\x7f \x01", "日本語 and ñ"])
def test_any_text_survives_toml(tmp_path, text):
    make_voice(tmp_path / "voice", (3.0,), texts=[text])
    export_voice(tmp_path / "voice", "f5-tts", tmp_path / "out")
    config = tomllib.loads((tmp_path / "out" / "f5-tts.toml").read_text(encoding="utf-8"))
    assert config["ref_text"] == join_texts([text])


def test_gpt_sovits(voice, tmp_path):
    document = export_voice(voice, "gpt-sovits", tmp_path / "out").document
    body = load(tmp_path / "out" / "request.json")
    assert body == {
        "text": "",
        "text_lang": "en",
        "ref_audio_path": "reference.wav",
        "prompt_text": document["text"],
        "prompt_lang": "en",
    }
    (row,) = read_utterances([tmp_path / "out" / "reference.list"])
    assert (row.audio.name, row.text, row.language, row.speaker) == (
        "reference.wav",
        document["text"],
        "en",
        "book/en/m/reader",
    )
    assert 3 * RATE_HZ <= len(samples_of(row.audio)) <= 10 * RATE_HZ


def test_gpt_sovits_guesses_a_language_it_does_not_read(tmp_path):
    make_voice(tmp_path / "voice", language="de-AT")
    done = export_voice(tmp_path / "voice", "gpt-sovits", tmp_path / "out")
    assert load(tmp_path / "out" / "request.json")["prompt_lang"] == "auto"
    assert any("German (de-AT)" in w for w in done.warnings)
    (row,) = read_utterances([tmp_path / "out" / "reference.list"])
    assert row.language == "de"


def test_cosyvoice(voice, reference, tmp_path):
    export_voice(voice, "cosyvoice", tmp_path / "out")
    call, call_3 = (
        load(tmp_path / "out" / "zero_shot.json"),
        load(tmp_path / "out" / "zero_shot_cosyvoice3.json"),
    )
    assert call == {"tts_text": "", "prompt_text": WHOLE, "prompt_wav": "prompt.wav"}
    assert call_3["prompt_text"].partition("<|endofprompt|>")[2] == WHOLE
    assert samples_of(tmp_path / "out" / call["prompt_wav"]).tobytes() == reference.tobytes()


@pytest.mark.parametrize(
    ("engine", "name", "more"),
    [
        ("qwen3-tts", "voice_clone.json", {"language": "English", "x_vector_only_mode": False}),
        ("omnivoice", "generate.json", {}),
        ("mlx-audio", "generate.json", {}),
    ],
)
def test_arguments_with_a_text(voice, reference, tmp_path, engine, name, more):
    export_voice(voice, engine, tmp_path / "out")
    call = load(tmp_path / "out" / name)
    assert call == {"text": "", "ref_audio": "reference.wav", "ref_text": WHOLE, **more}
    assert samples_of(tmp_path / "out" / "reference.wav").tobytes() == reference.tobytes()


def test_moss_tts(voice, tmp_path):
    done = export_voice(voice, "moss-tts", tmp_path / "out")
    assert load(tmp_path / "out" / "user_message.json") == {"text": "", "reference": ["reference.wav"]}
    assert any("only when it continues" in w for w in done.warnings)


@pytest.mark.parametrize("engine", ["index-tts", "chatterbox", "chatterbox-turbo"])
def test_audio_alone(voice, tmp_path, engine):
    done = export_voice(voice, engine, tmp_path / "out")
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"export.json", "reference.wav"}
    assert any("does not read the text" in w for w in done.warnings)


def test_fish_speech(voice, tmp_path):
    export_voice(voice, "fish-speech", tmp_path / "out")
    folder = tmp_path / "out" / "references" / "ana_of_Rosario"
    rows = read_utterances([folder])
    assert [(u.audio.name, u.text) for u in rows] == [
        (f"{k + 1:04d}.wav", join_texts([TEXTS[k]])) for k in range(len(LENGTHS_S))
    ]
    assert [len(samples_of(u.audio)) for u in rows] == [round(s * RATE_HZ) for s in LENGTHS_S]
    assert {p.suffix for p in folder.iterdir()} == {".wav", ".lab"}


def test_xtts(voice, tmp_path):
    done = export_voice(voice, "xtts", tmp_path / "out")
    call = load(tmp_path / "out" / "xtts.json")
    assert call["language"] == "en"
    assert [len(samples_of(tmp_path / "out" / n)) for n in call["speaker_wav"]] == [
        round(s * RATE_HZ) for s in LENGTHS_S
    ]
    assert any("first 12 s of all files (12.50 s)" in w for w in done.warnings)


def test_xtts_says_which_file_is_too_long_and_which_language_it_lacks(tmp_path):
    make_voice(tmp_path / "voice", (10.5, 3.0), language="sv")
    warnings = export_voice(tmp_path / "voice", "xtts", tmp_path / "out").warnings
    assert any("first 10 s of wavs/0001.wav (10.50 s)" in w for w in warnings)
    assert not any("0002.wav" in w for w in warnings)
    assert any("Swedish (sv)" in w for w in warnings)


@pytest.mark.parametrize("engine", ["vllm-omni", "sglang-omni"])
def test_request_bodies_hold_the_audio(voice, reference, tmp_path, engine):
    export_voice(voice, engine, tmp_path / "out")
    body = load(tmp_path / "out" / "request.json")
    head, _, data = body["ref_audio"].partition(",")
    assert head == "data:audio/wav;base64"
    decoded = base64.b64decode(data, validate=True)
    assert decoded == (tmp_path / "out" / "reference.wav").read_bytes()
    assert samples_of(io.BytesIO(decoded)).tobytes() == reference.tobytes()
    assert body["ref_text"] == WHOLE
    assert (body["input"], body["language"]) == ("", "English")
    form = load(tmp_path / "out" / "voice_form.json")
    assert form["consent"] == "signed 2026-01-02"
    assert form["name"] == "ana_of_Rosario"


@pytest.mark.parametrize("engine", ["vllm-omni", "sglang-omni"])
@pytest.mark.parametrize("consents", [(None, None), ("signed", None), ("signed", "unknown"), ("", "signed")])
def test_a_voice_is_not_offered_for_storing_without_every_consent(tmp_path, engine, consents):
    folder = make_voice(tmp_path / "voice", (2.0, 3.0), provenance=None)
    document = load(folder / "voice.json")
    for row, consent in zip(document["clips"], consents, strict=True):
        row["provenance"] = {"consent": consent}
    (folder / "voice.json").write_text(json.dumps(document), encoding="utf-8")
    document = export_voice(folder, engine, tmp_path / "out").document
    assert not (tmp_path / "out" / "voice_form.json").exists()
    assert document["consent"] == [c for c in consents if c]


@pytest.mark.parametrize(
    "where",
    [
        {"provenance": {"consent": "withdrawn"}},
        {"provenance": {"consent": "withdrawn"}, "consent": "signed"},
        {"consent": False},
    ],
)
def test_a_voice_whose_speaker_does_not_consent_is_not_exported(tmp_path, where):
    make_voice(tmp_path / "voice", **where)
    with pytest.raises(NoReferenceError, match="does not consent"):
        export_voice(tmp_path / "voice", "f5-tts", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_large_body_is_said_to_be_one(tmp_path):
    make_voice(tmp_path / "voice", (20.0,), rate_hz=192_000, sample_format="FLOAT")
    warnings = export_voice(tmp_path / "voice", "sglang-omni", tmp_path / "out").warnings
    assert any("takes 10 MB of audio; reference.wav has 15.5 MB" in w for w in warnings)


def test_ljspeech(voice, tmp_path):
    export_voice(voice, "ljspeech", tmp_path / "out")
    lines = (tmp_path / "out" / "metadata.csv").read_text(encoding="utf-8").splitlines()
    cells = list(csv.reader(lines, delimiter="|", quoting=csv.QUOTE_NONE))
    assert [row[0] for row in cells] == [f"ana_of_Rosario-{k:04d}" for k in range(1, 5)]
    assert all(row[1] == row[2] for row in cells)
    rows = read_utterances([tmp_path / "out"])
    assert [u.text for u in rows] == [join_texts([t]) for t in TEXTS[:4]]
    assert [len(samples_of(u.audio)) for u in rows] == [round(s * RATE_HZ) for s in LENGTHS_S]
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "licence: CC0-1.0" in readme
    assert "consent: signed 2026-01-02" in readme


def test_hf_audiofolder(voice, tmp_path):
    export_voice(voice, "hf-audiofolder", tmp_path / "out")
    rows = read_utterances([tmp_path / "out" / "data" / "metadata.jsonl"])
    assert [(u.text, u.speaker, u.language) for u in rows] == [
        (join_texts([t]), "book/en/m/reader", "en") for t in TEXTS[:4]
    ]
    assert all(u.extra == {"licence": "CC0-1.0", "consent": "signed 2026-01-02", "take": 3} for u in rows)
    assert [len(samples_of(u.audio)) for u in rows] == [round(s * RATE_HZ) for s in LENGTHS_S]
    _, front, body = (tmp_path / "out" / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    card = yaml.safe_load(front)
    assert card["language"] == ["en"]
    assert card["configs"] == [
        {"config_name": "default", "data_files": [{"split": "train", "path": "data/*"}]}
    ]
    assert "licence: CC0-1.0" in body


def test_columns_of_an_audiofolder_have_one_type(tmp_path):
    folder = make_voice(tmp_path / "voice", (1.0, 1.0, 1.0), language="no", provenance=None)
    document = load(folder / "voice.json")
    for row, provenance in zip(
        document["clips"], ({"take": 1}, {"take": "2b", "text": "no"}, {}), strict=True
    ):
        row["provenance"] = provenance
    (folder / "voice.json").write_text(json.dumps(document), encoding="utf-8")
    export_voice(folder, "hf-audiofolder", tmp_path / "out")
    lines = (tmp_path / "out" / "data" / "metadata.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["take"] for row in rows] == ["1", "2b", None]
    assert [row["text"] for row in rows] == [join_texts([t]) for t in TEXTS[:3]]
    assert 'language:\n- "no"\n' in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ["gpt-sovits", "ljspeech"])
def test_a_text_that_would_break_the_columns_is_refused(tmp_path, engine):
    make_voice(tmp_path / "voice", (4.0,), texts=["either | or"])
    with pytest.raises(NoReferenceError, match=r"holds a \|"):
        export_voice(tmp_path / "voice", engine, tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["voice"]


def test_a_consent_of_the_voice_goes_before_those_of_its_clips(tmp_path):
    make_voice(tmp_path / "voice", consent="Ana, 2026-02-03", license="CC-BY-4.0")
    document = export_voice(tmp_path / "voice", "vllm-omni", tmp_path / "out").document
    assert document["consent"] == ["Ana, 2026-02-03"]
    assert document["licence"] == ["CC-BY-4.0"]


def test_the_consent_counted_by_a_build_is_told_by_its_clips(tmp_path):
    counted = {"statements": [{"text": "signed 2026-01-02", "clips": 4}], "clips_without": 0}
    make_voice(tmp_path / "voice", consent=counted)
    document = export_voice(tmp_path / "voice", "vllm-omni", tmp_path / "out").document
    assert document["consent"] == ["signed 2026-01-02"]
    assert (tmp_path / "out" / "voice_form.json").is_file()


def test_a_voice_that_was_not_verified_is_exported_with_a_warning(tmp_path):
    make_voice(tmp_path / "voice", is_verified=False, joined_check={"reason": "music"})
    warnings = export_voice(tmp_path / "voice", "mlx-audio", tmp_path / "out").warnings
    assert warnings == ("its build could not verify the joined reference: music",)


def test_a_voice_without_speaker_and_language(tmp_path):
    make_voice(tmp_path / "日本", language="", speaker="")
    for engine in ASKED:
        export_voice(tmp_path / "日本", engine, tmp_path / "out")
    export_voice(tmp_path / "日本", "fish-speech", tmp_path / "fish")
    assert (tmp_path / "fish" / "references" / "voice").is_dir()
    export_voice(tmp_path / "日本", "gpt-sovits", tmp_path / "gpt")
    assert (
        (tmp_path / "gpt" / "reference.list")
        .read_text(encoding="utf-8")
        .startswith("reference.wav|voice||It")
    )
    export_voice(tmp_path / "日本", "hf-audiofolder", tmp_path / "hf")
    assert "language:" not in (tmp_path / "hf" / "README.md").read_text(encoding="utf-8").split("---")[1]


@pytest.mark.parametrize(
    ("language", "qwen", "xtts", "gpt_sovits"),
    [
        ("en-GB", "English", "en", "en"),
        ("zh", "Chinese", "zh-cn", "zh"),
        ("cmn-Hant-TW", "Chinese", "zh-cn", "zh"),
        ("yue", "Auto", "", "yue"),
        ("zh-yue", "Chinese", "zh-cn", "yue"),
        ("ja", "Japanese", "ja", "ja"),
        ("es-AR", "Spanish", "es", "auto"),
        ("sv", "Auto", "", "auto"),
        ("", "Auto", "", "auto"),
    ],
)
def test_languages(language, qwen, xtts, gpt_sovits):
    assert qwen_language(language) == qwen
    assert xtts_language(language) == xtts
    assert gpt_sovits_language(language) == gpt_sovits


def test_gaps_of_a_cut_voice_are_the_declared_ones(tmp_path):
    make_voice(tmp_path / "voice", (5.0, 8.0, 4.0), gap="zeros-250ms", tail="zeros-500ms")
    export_voice(tmp_path / "voice", "gpt-sovits", tmp_path / "out")
    samples = samples_of(tmp_path / "out" / "reference.wav")
    assert len(samples) == round((5.0 + 0.25 + 4.0 + 0.5) * RATE_HZ)
    assert not np.any(samples[5 * RATE_HZ : round(5.25 * RATE_HZ)])
    assert not np.any(samples[round(9.25 * RATE_HZ) :])
