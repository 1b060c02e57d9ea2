"""From clips on disk to a verified voice, with models that know what is in them; and what verify sees afterwards."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import soundfile
from build_kit import CONFIG, RATE_HZ, TEXTS, Scene, ordinary_scene
from fakes import evenly
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refprep.config import BuildConfig
from refprep.errors import AudioDecodeError, ManifestError, UsageError
from refprep.manifest import Utterance
from refprep.pipeline.candidate import NoVoiceError
from refprep.pipeline.decode import decode_file, pcm_sha256
from refprep.types import SampleFormat, Verdict
from refprep.voice import load_voice, verify_voice

SCHEMA = Path(__file__).parents[3] / "manifests" / "voice.schema.json"


@pytest.fixture
def scene(tmp_path):
    return ordinary_scene(tmp_path / "clips")


def document_of(folder: Path):
    return json.loads((folder / "voice.json").read_text(encoding="utf-8"))


def refusals(candidates) -> dict[str, str]:
    return {Path(c.path).name: c.refusal.code for c in candidates if c.refusal is not None}


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --------------------------------------------------------------------------- building


def test_a_voice_is_built_and_verified(scene, tmp_path):
    steps: list[str] = []
    voice = scene.build(tmp_path / "ana", on_step=steps.append)
    assert CONFIG.min_s <= voice.reference.duration_s <= CONFIG.max_s
    assert len(voice.chosen) == 2
    assert voice.selection.is_optimal
    assert voice.joined.text.verdict is Verdict.PASS
    assert refusals(voice.candidates) == {}
    assert sorted(p.name for p in (tmp_path / "ana").iterdir()) == [
        "reference.txt", "reference.wav", "report.html", "voice.json",
    ]  # fmt: skip
    samples = decode_file(tmp_path / "ana" / "reference.wav").samples
    for place, index in zip(voice.reference.clips, voice.chosen, strict=True):
        source = decode_file(scene.utterances[index].audio)
        assert samples[place.start_sample : place.end_sample].tobytes() == source.samples.tobytes()
    assert [s.split()[0] for s in steps] == (
        ["decode"] * 5 + ["embed"] * 5 + ["listen"] * 5 + ["select", "join", "check", "write"]
    )
    found = verify_voice(tmp_path / "ana")
    assert (found.problems, found.notes, found.num_clips) == ((), (), 2)


def test_voice_json_says_everything(scene, tmp_path):
    scene.add("rest.wav", "He said nothing more that day.", degrees=100.0)
    control = scene.folder / "eva.wav"
    soundfile.write(control, np.full(RATE_HZ, 0.1), RATE_HZ, subtype="PCM_16")
    scene.know(control, evenly("Hello there", 0.1), 90.0)
    voice = scene.build(
        tmp_path / "ana",
        controls=[Utterance(control, speaker="other/en/f/eva")],
        weights={"fake": {"model.bin": "0" * 64}},
    )
    document = document_of(tmp_path / "ana")
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert document["text"] == " ".join(TEXTS[i] for i in voice.chosen)
    assert (tmp_path / "ana" / "reference.txt").read_text("utf-8") == document["text"] + "\n"
    assert document["language"] == "en"
    assert document["speaker_id"] == "book/en/m/reader"
    assert (document["gap_policy"], document["tail_policy"]) == ("zeros-120ms", "zeros-160ms")
    audio = document["audio"]
    wav = (tmp_path / "ana" / "reference.wav").read_bytes()
    assert audio["file_sha256"] == hashlib.sha256(wav).hexdigest()
    assert audio["pcm_sha256"] == pcm_sha256(voice.reference.samples, RATE_HZ)
    assert (audio["sample_rate_hz"], audio["sample_format"]) == (RATE_HZ, "PCM_16")
    assert audio["num_samples"] == len(voice.reference.samples)
    for row, index in zip(document["clips"], voice.chosen, strict=True):
        utterance = scene.utterances[index]
        assert (tmp_path / "ana" / row["path"]).resolve() == utterance.audio.resolve()
        assert row["path"].startswith("../clips/")
        assert row["file_sha256"] == hashlib.sha256(utterance.audio.read_bytes()).hexdigest()
        assert row["text"] == utterance.text
        assert row["text_origin"] == "user"
        assert row["coverage"]["verdict"] == "pass"
        assert row["coverage"]["ratio"] == 1.0
        assert [w[0] for w in row["coverage"]["words"]] == row["text"].split()
        assert row["identity"]["min_pairwise_score"] > 0.9
        assert row["identity"]["margin"] == pytest.approx(
            row["identity"]["centroid_score"] - row["identity"]["control_scores"]["other/en/f/eva"],
            abs=1e-4,
        )
        assert row["provenance"] == {"licence": "CC0-1.0"}
        assert row["speaker_id"] == "book/en/m/reader"
    (refused,) = document["refused"]
    assert (refused["code"], Path(refused["path"]).name) == ("RP304", "rest.wav")
    assert "another voice" in refused["reason"]
    assert refused["remedy"]
    assert len(document["not_chosen"]) == 3
    assert document["controls"] == ["other/en/f/eva"]
    assert document["models"]["speaker_encoder"] == "scene"
    assert document["weights"] == {"fake": {"model.bin": "0" * 64}}
    assert len(document["similarity"]["scores"]) == len(document["similarity"]["paths"]) == 6
    assert document["joined_check"]["verdict"] == "pass"
    assert document["joined_check"]["heard_text"] == document["text"]
    assert document["similarity"]["threshold"] == 0.7
    assert str(tmp_path) not in json.dumps(document)  # nothing of this machine's paths


def test_every_kind_of_bad_clip_is_refused_with_its_reason(scene, tmp_path):
    scene.add("intruder.wav", "It was the season of darkness.", degrees=90.0)
    scene.add("tail.wav", "It was the spring", said="It was the spring of hope and then winter came.")
    scene.add("short.wav", "Yes sir.", word_s=0.3)
    scene.add("wide.wav", "It was the winter of despair.", subtype="PCM_24")
    scene.add("fast.wav", "We had everything before us.", rate_hz=16_000)
    copy = scene.folder / "copy.flac"
    data, rate_hz = soundfile.read(scene.utterances[0].audio, dtype="int16")
    soundfile.write(copy, data, rate_hz, subtype="PCM_16")
    scene.know(copy, evenly(TEXTS[0]), 0.0)
    broken, gone = scene.folder / "broken.wav", scene.folder / "gone.wav"
    broken.write_bytes(b"this is no audio at all")
    more = [Utterance(p, "It was the best of times.", "en") for p in (copy, broken, gone)]
    voice = scene.build(tmp_path / "ana", utterances=[*scene.utterances, *more])
    assert refusals(voice.candidates) == {
        "intruder.wav": "RP304",
        "tail.wav": "RP101",
        "short.wav": "RP404",
        "wide.wav": "RP402",
        "fast.wav": "RP402",
        "copy.flac": "RP403",
        "broken.wav": "RP001",
        "gone.wav": "RP001",
    }
    assert len(document_of(tmp_path / "ana")["refused"]) == 8
    assert not {Path(c.path).name for c in voice.reference.clips} & set(refusals(voice.candidates))
    listened = {Path(p).name for p in scene.listened}
    assert not listened & {"intruder.wav", "short.wav", "wide.wav", "copy.flac"}  # listening is the dear part
    assert verify_voice(tmp_path / "ana").problems == ()


def test_a_backend_that_does_not_use_the_words_gets_clips_whose_text_falls_short(tmp_path):
    """For MOSS-TTS cloning coverage is information; a stranger, a twin or a short clip is still out."""
    scene = Scene(tmp_path / "clips")
    for number, text in enumerate(TEXTS[:3]):
        scene.add(f"{number}.wav", text.split()[0], said=f"{text} {text}")
    scene.add("intruder.wav", "It was the season of darkness.", degrees=90.0)
    for backend in ("", "qwen3-tts"):
        with pytest.raises(NoVoiceError) as error:
            scene.build(tmp_path / "any", config=replace(CONFIG, backend=backend))
        assert set(refusals(error.value.candidates).values()) == {"RP101", "RP304"}
    assert not (tmp_path / "any").exists()
    voice = scene.build(tmp_path / "ana", config=replace(CONFIG, backend="moss-tts"))
    assert refusals(voice.candidates) == {"intruder.wav": "RP304"}
    assert not voice.joined.is_verified
    document = document_of(tmp_path / "ana")
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    assert {f["code"] for clip in document["clips"] for f in clip["findings"]} >= {"RP101"}
    assert verify_voice(tmp_path / "ana").problems == ()


def test_an_unknown_backend_is_named(scene, tmp_path):
    with pytest.raises(UsageError, match="'cassette' is unknown"):
        scene.build(tmp_path / "ana", config=replace(CONFIG, backend="cassette"))


def test_a_second_speaker_inside_a_clip_is_refused(scene, tmp_path):
    scene.windows["a_1.wav"] = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]]
    voice = scene.build(tmp_path / "ana")
    assert refusals(voice.candidates) == {"a_1.wav": "RP301"}
    assert voice.candidates[1].refusal.span.start_s == 1.0


def test_a_clip_without_a_text_is_transcribed(scene, tmp_path):
    scene.utterances = [Utterance(u.audio, None, "", u.speaker) for u in scene.utterances]
    voice = scene.build(tmp_path / "ana")
    row = document_of(tmp_path / "ana")["clips"][0]
    assert row["text"] == TEXTS[voice.chosen[0]]
    assert row["text_origin"] == "asr:scene"
    assert document_of(tmp_path / "ana")["language"] == "en"


def test_resample_converts_what_would_be_refused(scene, tmp_path):
    only = scene.utterances[:1]
    scene.utterances = only
    scene.add("fast.wav", "We had everything before us.", rate_hz=6000)
    with pytest.raises(NoVoiceError) as caught:
        scene.build(tmp_path / "ana")
    assert refusals(caught.value.candidates) == {"fast.wav": "RP402"}
    voice = scene.build(tmp_path / "ana", resample=True)
    assert voice.chosen == (0, 1)
    document = document_of(tmp_path / "ana")
    assert [c["converted_from"] for c in document["clips"]] == ["", "6000 Hz PCM_16"]
    assert voice.reference.sample_format is SampleFormat.FLOAT
    assert voice.reference.sample_rate_hz == RATE_HZ
    original = decode_file(only[0].audio)
    place = voice.reference.clips[0]
    assert (
        voice.reference.samples[place.start_sample : place.end_sample].tobytes() == original.samples.tobytes()
    )


def test_a_resampled_voice_verifies(scene, tmp_path):
    scene.utterances = scene.utterances[:1]
    scene.add("fast.wav", "We had everything before us.", rate_hz=6000)
    scene.build(tmp_path / "ana", resample=True)
    assert verify_voice(tmp_path / "ana").problems == ()


def test_a_format_alone_needs_no_resampling_of_samples(scene, tmp_path):
    scene.utterances = scene.utterances[:1]
    wide = scene.add("wide.wav", "We had everything before us.", subtype="PCM_24")
    voice = scene.build(tmp_path / "ana", resample=True)
    assert voice.reference.sample_format is SampleFormat.PCM_24
    place = voice.reference.clips[1]
    assert (
        voice.reference.samples[place.start_sample : place.end_sample].tobytes()
        == decode_file(wide).samples.tobytes()
    )
    assert verify_voice(tmp_path / "ana").problems == ()


def test_two_voices_of_equal_length_need_an_anchor(scene, tmp_path):
    for k, text in enumerate(TEXTS):
        scene.add(f"b_{k}.wav", text, degrees=120.0 + 4.0 * k)
    with pytest.raises(NoVoiceError, match="two voices with about as much speech") as caught:
        scene.build(tmp_path / "ana")
    assert "--anchor" in caught.value.fix
    assert caught.value.exit_code == 1
    assert not (tmp_path / "ana").exists()
    voice = scene.build(tmp_path / "ana", anchor=scene.folder / "b_2.wav")
    assert all(Path(c.path).name.startswith("b_") for c in voice.reference.clips)
    assert set(refusals(voice.candidates).values()) == {"RP304"}


def test_the_smaller_voice_is_refused_where_it_is_clearly_smaller(scene, tmp_path):
    for k in range(2):
        scene.add(f"b_{k}.wav", TEXTS[k], degrees=120.0 + k)
    voice = scene.build(tmp_path / "ana")
    assert all(Path(c.path).name.startswith("a_") for c in voice.reference.clips)


def test_an_anchor_that_is_no_clip_is_a_usage_error(scene, tmp_path):
    with pytest.raises(UsageError, match="anchor is none of the clips"):
        scene.build(tmp_path / "ana", anchor=tmp_path / "nobody.wav")


def test_no_voice_says_why_clip_by_clip(scene, tmp_path):
    scene.utterances = scene.utterances[:1]
    scene.add("short.wav", "Yes sir.", word_s=0.3)
    with pytest.raises(NoVoiceError, match="1 of 2 clips are admissible") as caught:
        scene.build(tmp_path / "ana")
    kept, short = caught.value.candidates
    assert kept.refusal is None
    assert short.refusal.code == "RP404"
    assert "0.60 s of speech, 1.00 s needed" in short.refusal.message
    assert not (tmp_path / "ana").exists()


def test_no_set_of_clips_above_the_threshold(tmp_path):
    # One voice by the mean of its pairs, yet its outermost pair is too far apart, and nine seconds need all three.
    scene = Scene(tmp_path / "clips")
    for k, degrees in enumerate((0.0, 20.0, 40.0)):
        scene.add(f"a_{k}.wav", TEXTS[k], degrees=degrees)
    with pytest.raises(
        NoVoiceError, match=r"no set of the 3 admissible clips has 9-12 s.*above 0\.850"
    ) as caught:
        scene.build(tmp_path / "ana", config=BuildConfig(min_s=9.0, max_s=12.0, target_s=9.0, threshold=0.85))
    assert "--threshold" in caught.value.fix


def test_nothing_given_is_no_voice(tmp_path):
    with pytest.raises(NoVoiceError, match="0 of 0 clips"):
        Scene(tmp_path).build(tmp_path / "ana")


@pytest.mark.parametrize(
    ("config", "where"),
    [
        (BuildConfig(min_s=6, max_s=5, target_s=6), "--target"),
        (BuildConfig(min_s=6, max_s=12, target_s=5), "--target"),
        (BuildConfig(min_s=6, max_s=12, target_s=8, gap="room-1s"), "--gap"),
        (BuildConfig(min_s=6, max_s=12, target_s=8, tail="nothing"), "--tail"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(scene, tmp_path, config, where):
    with pytest.raises(UsageError) as caught:
        scene.build(tmp_path / "ana", config=config)
    assert caught.value.where == where


def test_an_encoder_nobody_measured_needs_a_threshold(scene, tmp_path):
    scene.default_threshold = None
    with pytest.raises(UsageError, match="nobody measured a threshold for scene"):
        scene.build(tmp_path / "ana")
    voice = scene.build(
        tmp_path / "ana", config=BuildConfig(min_s=6.0, max_s=12.0, target_s=6.0, threshold=0.8)
    )
    assert voice.verifiers[0].threshold == 0.8


def test_a_control_that_cannot_be_read_stops_the_build(scene, tmp_path):
    with pytest.raises(AudioDecodeError):
        scene.build(tmp_path / "ana", controls=[Utterance(tmp_path / "nobody.wav")])


# --------------------------------------------------------------------------- where it goes


def test_a_folder_of_something_else_is_left_alone(scene, tmp_path):
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("years of work")
    before = snapshot(other)
    steps: list[str] = []
    with pytest.raises(UsageError, match="is no voice"):
        scene.build(other, on_step=steps.append)
    assert steps == []  # said before the work, not after it
    assert snapshot(other) == before
    assert not list(tmp_path.glob(".thesis*"))


def test_a_file_is_left_alone(scene, tmp_path):
    (tmp_path / "ana").write_text("a file")
    with pytest.raises(UsageError, match="is no voice"):
        scene.build(tmp_path / "ana")
    assert (tmp_path / "ana").read_text() == "a file"


def test_an_empty_folder_is_taken(scene, tmp_path):
    (tmp_path / "deep" / "ana").mkdir(parents=True)
    scene.build(tmp_path / "deep" / "ana")
    assert verify_voice(tmp_path / "deep" / "ana").problems == ()


def test_a_failed_build_leaves_the_old_voice_whole(scene, tmp_path):
    scene.build(tmp_path / "ana")
    before = snapshot(tmp_path / "ana")
    with pytest.raises(NoVoiceError):
        scene.build(tmp_path / "ana", utterances=scene.utterances[:1])
    assert snapshot(tmp_path / "ana") == before
    scene.build(tmp_path / "ana", speaker="new/en/m/name")
    assert document_of(tmp_path / "ana")["speaker_id"] == "new/en/m/name"
    assert not list(tmp_path.glob(".ana*"))


def test_the_same_clips_give_the_same_bytes(scene, tmp_path):
    scene.build(tmp_path / "one")
    scene.build(tmp_path / "two")
    one, two = snapshot(tmp_path / "one"), snapshot(tmp_path / "two")
    assert one["voice.json"] == two["voice.json"]
    assert one["reference.wav"] == two["reference.wav"]


# --------------------------------------------------------------------------- verifying


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A voice and its clips; tests work on copies."""
    folder = tmp_path_factory.mktemp("built")
    ordinary_scene(folder / "clips").build(folder / "ana")
    return folder


@pytest.fixture
def ana(built, tmp_path):
    shutil.copytree(built / "clips", tmp_path / "clips")
    shutil.copytree(built / "ana", tmp_path / "ana")
    return tmp_path / "ana"


def flip(path: Path, offset: int, mask: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= mask
    path.write_bytes(bytes(data))


def data_offset(path: Path) -> int:
    return path.read_bytes().index(b"data") + 8


def problems_of(folder: Path) -> str:
    return "\n".join(f"{where}: {what}" for where, what in verify_voice(folder).problems)


def test_an_untouched_voice_verifies(ana):
    found = verify_voice(ana)
    assert (found.problems, found.notes, found.num_clips) == ((), (), 2)


@pytest.mark.parametrize(
    ("region", "said"),
    [
        ("first sample", "its samples in reference.wav were changed"),
        ("clip", "its samples in reference.wav were changed"),
        ("last clip", "its samples in reference.wav were changed"),
        ("gap", "the gap after clip 1 is not silent"),
        ("tail", "the tail after clip 2 is not silent"),
        ("last sample", "the tail after clip 2 is not silent"),
    ],
)
def test_a_changed_byte_is_found_where_it_is(ana, region, said):
    first, last = document_of(ana)["clips"]
    total = document_of(ana)["audio"]["num_samples"]
    sample = {
        "first sample": 0,
        "clip": first["end_sample"] - 1,
        "last clip": last["start_sample"],
        "gap": first["end_sample"],
        "tail": last["end_sample"],
        "last sample": total - 1,
    }[region]
    flip(ana / "reference.wav", data_offset(ana / "reference.wav") + 2 * sample)
    found = problems_of(ana)
    assert "reference.wav: it was changed" in found
    assert said in found
    culprit = {"clip": first["path"], "first sample": first["path"], "last clip": last["path"]}.get(region)
    if culprit:
        assert f"{culprit}: {said}" in found


def test_a_changed_header_is_found(ana):
    flip(ana / "reference.wav", 24)  # the sample rate
    assert f"samples at {RATE_HZ + 1} Hz, recorded are" in problems_of(ana) or "cannot" in problems_of(ana)


def test_a_cut_or_lost_file_is_found(ana):
    data = (ana / "reference.wav").read_bytes()
    (ana / "reference.wav").write_bytes(data[:-100])
    assert "reference.wav:" in problems_of(ana)
    (ana / "reference.wav").unlink()
    assert "reference.wav:" in problems_of(ana)
    (ana / "reference.txt").unlink()
    assert "reference.txt: it cannot be read" in problems_of(ana)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0.0, 1.0, exclude_max=True), mask=st.integers(1, 255))
def test_any_changed_byte_of_the_audio_is_found(built, place, mask):
    path = built / "ana" / "reference.wav"
    data = path.read_bytes()
    try:
        flip(path, int(place * len(data)), mask)
        assert problems_of(built / "ana")
    finally:
        path.write_bytes(data)


@pytest.mark.parametrize("text", ["It was the best of times.", "", "It was\n"])
def test_a_changed_text_is_found(ana, text):
    (ana / "reference.txt").write_text(text, encoding="utf-8")
    assert "reference.txt: it was changed" in problems_of(ana)


FIELDS = {
    "text": lambda d: d.update(text=d["text"] + " And more."),
    "text hash": lambda d: d["text_file"].update(file_sha256="0" * 64),
    "audio hash": lambda d: d["audio"].update(file_sha256="0" * 64),
    "audio pcm hash": lambda d: d["audio"].update(pcm_sha256="0" * 64),
    "rate": lambda d: d["audio"].update(sample_rate_hz=16_000),
    "length": lambda d: d["audio"].update(num_samples=d["audio"]["num_samples"] - 1),
    "start": lambda d: d["clips"][1].update(start_sample=d["clips"][1]["start_sample"] + 1),
    "end": lambda d: d["clips"][1].update(end_sample=d["clips"][1]["end_sample"] - 1),
    "clip pcm hash": lambda d: d["clips"][0].update(pcm_sha256="0" * 64),
    "a clip less": lambda d: d["clips"].pop(),
    "clips swapped": lambda d: d["clips"].reverse(),
    "another source": lambda d: d["clips"][0].update(path=d["clips"][1]["path"]),
    "clip text": lambda d: d["clips"][0].update(text="Something else."),
    "gap policy": lambda d: d.update(gap_policy="zeros-500ms"),
    "tail policy": lambda d: d.update(tail_policy="zeros-0ms"),
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_changed_field_of_voice_json_is_found(ana, field):
    document = document_of(ana)
    FIELDS[field](document)
    (ana / "voice.json").write_text(json.dumps(document), encoding="utf-8")
    assert problems_of(ana)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("clips"),
        lambda d: d.update(schema_version=1),
        lambda d: d["audio"].pop("file_sha256"),
        lambda d: d["clips"][0].pop("pcm_sha256"),
        lambda d: d["clips"][0].update(start_sample="0"),
        lambda d: d.update(clips={"a": 1}),
        lambda d: d.update(audio=[]),
        lambda d: d.update(text_file=None),
    ],
)
def test_a_voice_json_that_is_none_is_a_manifest_error(ana, change):
    document = document_of(ana)
    change(document)
    (ana / "voice.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ManifestError):
        verify_voice(ana)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"{", b"\xff\xfe"])
def test_a_voice_json_that_is_no_json_object(ana, content):
    (ana / "voice.json").write_bytes(content)
    with pytest.raises(ManifestError):
        load_voice(ana)


def test_no_voice_there(tmp_path):
    with pytest.raises(ManifestError, match=r"no voice\.json there"):
        load_voice(tmp_path)


def test_a_loaded_voice_knows_its_text(ana):
    voice = load_voice(ana)
    assert (voice.text + "\n", voice.language) == ((ana / "reference.txt").read_text("utf-8"), "en")
    assert voice.audio_path == ana / "reference.wav"


def first_source(ana: Path) -> Path:
    return (ana / document_of(ana)["clips"][0]["path"]).resolve()


def test_a_missing_source_is_a_note(ana):
    shutil.rmtree(ana.parent / "clips")
    found = verify_voice(ana)
    assert found.problems == ()
    assert len(found.notes) == 2
    assert "the source is not here" in found.notes[0]


def test_a_missing_source_does_not_hide_a_changed_sample(ana):
    shutil.rmtree(ana.parent / "clips")
    flip(ana / "reference.wav", data_offset(ana / "reference.wav") + 100)
    assert "its samples in reference.wav were changed" in problems_of(ana)


def test_a_rewritten_source_with_the_same_samples_is_a_note(ana):
    source = first_source(ana)
    data, rate_hz = soundfile.read(source, dtype="int16")
    soundfile.write(source, data, rate_hz, subtype="PCM_16", format="FLAC")
    found = verify_voice(ana)
    assert found.problems == ()
    assert len(found.notes) == 1
    assert "rewritten; its samples are the same" in found.notes[0]


def test_a_changed_or_broken_source_is_a_problem(ana):
    source = first_source(ana)
    flip(source, data_offset(source) + 1000)
    assert "the source was changed since the build" in problems_of(ana)
    source.write_bytes(b"no audio")
    assert "the source no longer decodes" in problems_of(ana)


def test_voice_and_clips_can_move_together(ana, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    shutil.move(ana, tmp_path / "elsewhere" / "ana")
    shutil.move(tmp_path / "clips", tmp_path / "elsewhere" / "clips")
    found = verify_voice(tmp_path / "elsewhere" / "ana")
    assert (found.problems, found.notes) == ((), ())
