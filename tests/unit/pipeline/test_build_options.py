"""Nested references, room tone, consent, a second encoder, and the joined reference as a whole."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import soundfile
from build_kit import CONFIG, RATE_HZ, TEXTS, Scene, ordinary_scene
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refprep.alone import alone
from refprep.config import BuildConfig
from refprep.errors import IntegrityError, MachineError, UsageError
from refprep.identity.verifier import Verifier
from refprep.pipeline.candidate import NoVoiceError
from refprep.pipeline.decode import decode_file
from refprep.pipeline.join import join_clips
from refprep.pipeline.silence_policy import SilencePolicy
from refprep.types import Span
from refprep.voice import verify_voice

SCHEMA = json.loads(
    (Path(__file__).parents[3] / "manifests" / "voice.schema.json").read_text(encoding="utf-8")
)
NESTED = BuildConfig(min_s=6.0, max_s=20.0, target_s=6.0, nested=(7.0, 14.0))


@pytest.fixture
def scene(tmp_path) -> Scene:
    return ordinary_scene(tmp_path / "clips")


def document_of(folder: Path):
    document = json.loads((folder / "voice.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, SCHEMA)
    return document


# --------------------------------------------------------------------------- nested


def test_the_shorter_reference_is_a_prefix_of_the_longer_one(scene, tmp_path):
    voice = scene.build(tmp_path / "ana", config=NESTED)
    folder = tmp_path / "ana"
    short, long = decode_file(folder / "reference-7s.wav"), decode_file(folder / "reference.wav")
    assert short.samples.tobytes() == long.samples[: short.num_samples].tobytes()
    assert not np.any(short.samples[-round(0.16 * RATE_HZ) :])
    document = document_of(folder)
    (nested,) = document["nested"]
    assert nested["num_samples"] == short.num_samples
    assert 5.6 <= short.duration_s <= 8.4
    assert 11.2 <= long.duration_s <= 16.8
    assert document["text"].startswith(nested["text"] + " ")
    assert (folder / "reference-7s.txt").read_text("utf-8") == nested["text"] + "\n"
    assert [s["policy"] for s in document["silences"]] == [
        *["zeros-120ms"] * (nested["num_clips"] - 1), "zeros-160ms",
        *["zeros-120ms"] * (len(voice.chosen) - nested["num_clips"] - 1), "zeros-160ms",
    ]  # fmt: skip
    assert "with the" in document["selection"]["proof"]
    assert verify_voice(folder).problems == ()
    for file in ("reference-7s.wav", "reference-7s.txt"):
        broken = tmp_path / f"broken-{file}"
        shutil.copytree(folder, broken)
        (broken / file).write_bytes((folder / file).read_bytes()[:-2] + b"xx")
        assert any(file in about for about, _ in verify_voice(broken).problems)


@pytest.mark.parametrize("nested", [(12.0, 7.0), (7.0, 7.5), (2.0, 12.0), (7.0, 40.0)])
def test_lengths_that_cannot_be_nested(scene, tmp_path, nested):
    with pytest.raises(UsageError) as error:
        scene.build(tmp_path / "ana", config=replace(NESTED, nested=nested))
    assert error.value.where == "--nested"
    assert not (tmp_path / "ana").exists()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lengths=st.lists(st.integers(100, 2000), min_size=2, max_size=6),
    gap_ms=st.integers(0, 50),
    tail_ms=st.integers(0, 80),
    subtype=st.sampled_from(["PCM_16", "PCM_24", "FLOAT"]),
    tone=st.booleans(),
    data=st.data(),
)
def test_every_prefix_is_the_reference_that_would_have_been_made(
    tmp_path, lengths, gap_ms, tail_ms, subtype, tone, data
):
    rng = np.random.default_rng(sum(lengths))
    clips = []
    for number, length in enumerate(lengths):
        samples = rng.uniform(-0.9, 0.9, length + 2 * RATE_HZ // 5)
        soundfile.write(tmp_path / f"{number}.wav", samples, RATE_HZ, subtype=subtype)
        clips.append(decode_file(tmp_path / f"{number}.wav"))
    speech = [[Span(0.2, 0.2 + length / RATE_HZ)] for length in lengths]
    kind = "room-tone" if tone else "zeros"
    gap, tail = (SilencePolicy.parse(f"{kind}-{ms}ms", option="x") for ms in (gap_ms, tail_ms))
    texts = [f"text {k}" for k in range(len(clips))]
    at = data.draw(st.integers(1, len(clips) - 1))
    common = {"gap": gap, "tail": tail, "language": "en"}
    long = join_clips(clips, texts, speech=speech, nested=[at], **common)
    short = join_clips(clips[:at], texts[:at], speech=speech[:at], **common)
    assert long.samples[: long.nested_samples(0)].tobytes() == short.samples.tobytes()
    for place, clip in zip(long.clips, clips, strict=True):
        assert long.samples[place.start_sample : place.end_sample].tobytes() == clip.samples.tobytes()


# --------------------------------------------------------------------------- room tone


def test_room_tone_is_a_pause_of_the_clips(scene, tmp_path):
    config = replace(CONFIG, gap="room-tone-120ms", tail="room-tone")
    voice = scene.build(tmp_path / "ana", config=config)
    document = document_of(tmp_path / "ana")
    assert (document["gap_policy"], document["tail_policy"]) == ("room-tone-120ms", "room-tone-160ms")
    samples, tone = voice.reference.samples, document["room_tone_sample"]
    for silence in document["silences"]:
        piece = samples[silence["start_sample"] : silence["end_sample"]]
        assert np.any(piece)
        assert piece.tobytes() == samples[tone : tone + len(piece)].tobytes()
        assert float(np.abs(piece).max()) < 0.01
    assert verify_voice(tmp_path / "ana").problems == ()


def test_another_pause_than_the_declared_one_is_found(scene, tmp_path):
    scene.build(tmp_path / "ana", config=replace(CONFIG, gap="room-tone"))
    path = tmp_path / "ana" / "voice.json"
    document = json.loads(path.read_text("utf-8"))
    document["room_tone_sample"] += 1
    path.write_text(json.dumps(document), encoding="utf-8")
    assert any("not the declared room tone" in what for _, what in verify_voice(tmp_path / "ana").problems)


def test_no_pause_is_long_enough(scene, tmp_path):
    with pytest.raises(UsageError, match="no chosen clip has a pause of 1500 ms"):
        scene.build(tmp_path / "ana", config=replace(CONFIG, gap="room-tone-1500ms"))


# --------------------------------------------------------------------------- consent


def test_consent_is_carried_along(tmp_path):
    scene = Scene(tmp_path / "clips")
    for k in range(3):
        scene.add(f"a_{k}.wav", TEXTS[k], consent="signed 2026-01-02")
    scene.build(tmp_path / "ana", config=replace(CONFIG, require_consent=True))
    document = document_of(tmp_path / "ana")
    number = len(document["clips"])
    assert document["consent"] == {
        "statements": [{"text": "signed 2026-01-02", "clips": number}],
        "clips_without": 0,
    }


def test_without_consent_where_it_is_required(scene, tmp_path):
    with pytest.raises(NoVoiceError) as error:
        scene.build(tmp_path / "ana", config=replace(CONFIG, require_consent=True))
    assert {c.refusal.code for c in error.value.candidates} == {"RP008"}


def test_a_withdrawn_consent_is_refused_always(scene, tmp_path):
    scene.add("gone.wav", "I was here once upon a time.", consent="withdrawn")
    voice = scene.build(tmp_path / "ana")
    assert [c.refusal.code for c in voice.candidates if c.refusal is not None] == ["RP008"]


# --------------------------------------------------------------------------- two encoders


class Second:
    """A second encoder, which hears some clips in another direction."""

    def __init__(self, scene: Scene, degrees: dict[str, float]) -> None:
        self._other = Scene(scene.folder, said=scene.said, voices=dict(scene.voices), samples=scene.samples)
        self._other.name = "second"
        for name, angle in degrees.items():
            self._other.voices[name] = [float(np.cos(np.radians(angle))), float(np.sin(np.radians(angle)))]
        self.name, self.dim = "second", 2
        self.default_threshold, self.window_threshold = 0.9, None

    def embed(self, clip, speech):
        return self._other.embed(clip, speech)


def test_a_clip_that_the_second_encoder_does_not_know_is_refused(scene, tmp_path):
    second = Second(scene, {"a_1.wav": 80.0})
    voice = scene.build(tmp_path / "ana", verifiers=[Verifier(scene), Verifier(second)])
    (refused,) = [c for c in voice.candidates if c.refusal is not None]
    assert Path(refused.path).name == "a_1.wav"
    assert refused.refusal.code == "RP304"
    assert "(second)" in refused.refusal.message
    document = document_of(tmp_path / "ana")
    assert [e["encoder"] for e in document["encoders"]] == ["scene", "second"]
    assert [i["encoder"] for i in document["clips"][0]["further_identities"]] == ["second"]
    assert document["similarity"]["encoder"] == "scene"


def test_two_encoders_that_agree(scene, tmp_path):
    voice = scene.build(tmp_path / "ana", verifiers=[Verifier(scene), Verifier(Second(scene, {}))])
    assert all(c.refusal is None for c in voice.candidates)
    assert all(len(c.identities) == 2 for c in voice.candidates)


# --------------------------------------------------------------------------- which voice is meant


def test_one_long_clip_is_no_voice_beside_several_short_ones(tmp_path):
    scene = Scene(tmp_path / "clips")
    scene.add("stranger.wav", " ".join(f"word{k}" for k in range(30)), degrees=100.0)
    for k in range(3):
        scene.add(f"a_{k}.wav", f"Short clip number {k}.")
    with pytest.raises(NoVoiceError, match="the voice with most speech has 1 clip, another one 3") as error:
        scene.build(tmp_path / "ana")
    assert "--anchor" in error.value.fix


# --------------------------------------------------------------------------- the whole


def test_a_reference_whose_voice_changes_is_not_written(scene, tmp_path, monkeypatch):
    inside = Scene.inside

    def elsewhere(self, clip):
        """At the join somebody else is heard, though no clip has them."""
        self.windows = {n: [self.voices[n], [-1.0, 0.2]] for n in inside(self, clip)}
        return inside(self, clip)

    monkeypatch.setattr(Scene, "inside", elsewhere)
    with pytest.raises(NoVoiceError, match="the joined reference is not what its clips are: RP301"):
        scene.build(tmp_path / "ana")
    assert not (tmp_path / "ana").exists()


# --------------------------------------------------------------------------- what goes wrong on disk


def test_a_source_that_changes_while_it_is_read(scene, tmp_path):
    scene.build(tmp_path / "ana")
    before = {p.name: p.read_bytes() for p in (tmp_path / "ana").iterdir()}

    def change(step: str) -> None:
        if step == "join":
            for utterance in scene.utterances:
                data = utterance.audio.read_bytes()
                utterance.audio.write_bytes(data[:-2] + b"\x01\x01")

    with pytest.raises(IntegrityError, match="the source was changed since the build"):
        scene.build(tmp_path / "ana", on_step=change)
    assert {p.name: p.read_bytes() for p in (tmp_path / "ana").iterdir()} == before


def test_two_builds_into_one_folder(scene, tmp_path):
    scene.build(tmp_path / "ana")
    before = (tmp_path / "ana" / "voice.json").read_bytes()
    with (
        alone(tmp_path / "ana", what="folder"),
        pytest.raises(UsageError, match="another run is writing to this folder"),
    ):
        scene.build(tmp_path / "ana")
    assert (tmp_path / "ana" / "voice.json").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ana", "clips"]


def test_the_disk_is_full(scene, tmp_path, monkeypatch):
    scene.build(tmp_path / "ana")
    before = {p.name: p.read_bytes() for p in (tmp_path / "ana").iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("refprep.voice.write.write_wav", full)
    with pytest.raises(MachineError, match="No space left on device"):
        scene.build(tmp_path / "ana")
    assert {p.name: p.read_bytes() for p in (tmp_path / "ana").iterdir()} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ana", "clips"]
