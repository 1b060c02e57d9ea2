"""What was heard is remembered by content, and is what would be heard again."""

from __future__ import annotations

import json

import pytest
from build_kit import CONFIG, Scene, ordinary_scene

from refprep.identity.verifier import Verifier
from refprep.measure.remembered import RememberingEncoder, RememberingListener
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.voice.build import build_voice


class Counting:
    """A scene that counts what it is asked."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.asked = scene, []
        for name in ("name", "dim", "default_threshold", "window_threshold"):
            setattr(self, name, getattr(scene, name))

    def __getattr__(self, name: str):
        method = getattr(self.scene, name)

        def ask(*args, **options):
            self.asked.append(name)
            return method(*args, **options)

        return ask


@pytest.fixture
def model(tmp_path) -> Counting:
    return Counting(ordinary_scene(tmp_path / "clips"))


def listener_of(model: Counting, root, models=None) -> RememberingListener:
    return RememberingListener(Listener(model, model, model), root, models or {"recogniser": "a"})


def answers(listener: Listener, scene: Scene):
    utterance = scene.utterances[0]
    clip = decode_file(utterance.audio)
    return (
        listener.speech(clip),
        listener.transcribe(clip, language="en"),
        listener.check(clip, utterance.text, language="en"),
        listener.quality(clip, utterance.text, language="en"),
        listener.models,
    )


def test_a_second_process_asks_no_model(model, tmp_path):
    plain = answers(Listener(model.scene, model.scene, model.scene), model.scene)
    first = answers(listener_of(model, tmp_path / "cache"), model.scene)
    assert model.asked
    model.asked.clear()
    again = answers(listener_of(model, tmp_path / "cache"), model.scene)
    assert model.asked == []
    assert plain == first == again


def test_other_models_and_other_texts_are_asked(model, tmp_path):
    answers(listener_of(model, tmp_path / "cache"), model.scene)
    model.asked.clear()
    answers(listener_of(model, tmp_path / "cache", {"recogniser": "b"}), model.scene)
    assert model.asked
    model.asked.clear()
    clip = decode_file(model.scene.utterances[0].audio)
    listener_of(model, tmp_path / "cache").check(clip, "Something else.", language="en")
    assert "align" in model.asked


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"spans": 3}', b"\xff"])
def test_an_entry_that_cannot_be_read_is_made_again(model, tmp_path, content):
    first = answers(listener_of(model, tmp_path / "cache"), model.scene)
    for entry in (tmp_path / "cache").rglob("*.json"):
        entry.write_bytes(content)
    assert answers(listener_of(model, tmp_path / "cache"), model.scene) == first


def test_voiceprints_are_remembered_bit_for_bit(model, tmp_path):
    clip = decode_file(model.scene.utterances[0].audio)
    speech = model.scene.speech_spans(clip)
    prints = []
    for _ in range(2):
        prints.append(RememberingEncoder(model, tmp_path, "x").embed(clip, speech))
    assert model.asked == ["embed"]
    one, two = prints
    assert one.vector.tobytes() == two.vector.tobytes()
    assert one.window_vectors.tobytes() == two.window_vectors.tobytes()
    assert (one.windows, one.speech_s, one.clip_id, one.model) == (
        two.windows, two.speech_s, two.clip_id, two.model,
    )  # fmt: skip
    RememberingEncoder(model, tmp_path, "y").embed(clip, speech)
    assert model.asked == ["embed", "embed"]
    for entry in tmp_path.rglob("*.safetensors"):
        entry.write_bytes(b"junk")
    RememberingEncoder(model, tmp_path, "x").embed(clip, speech)
    assert model.asked == ["embed"] * 3


def test_a_remembered_build_writes_the_same_voice(model, tmp_path):
    scene = model.scene
    scene.build(tmp_path / "plain" / "ana")
    for name in ("first", "again"):
        build_voice(
            scene.utterances,
            tmp_path / name / "ana",
            listener=listener_of(model, tmp_path / "cache"),
            verifiers=[Verifier(RememberingEncoder(model, tmp_path / "cache", "x"))],
            config=CONFIG,
        )
    documents = [
        json.loads((tmp_path / n / "ana" / "voice.json").read_text("utf-8"))
        for n in ("plain", "first", "again")
    ]
    assert documents[0] == documents[1] == documents[2]
    assert (tmp_path / "first" / "ana" / "reference.wav").read_bytes() == (
        tmp_path / "plain" / "ana" / "reference.wav"
    ).read_bytes()
