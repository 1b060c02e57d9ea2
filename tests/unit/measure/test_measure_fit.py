"""Language, edges and voices of an utterance: measured where somebody asks, and where there is something to measure with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from fakes import FakeAsr, FakeEncoder, FakeVoiceActivity, evenly

from refprep import api
from refprep.config import Config, LintConfig, ModelConfig
from refprep.errors import UsageError, WeightsMissing
from refprep.manifest import Utterance
from refprep.measure.measure import measure_utterance
from refprep.measure.measurement import Measurement, Parts
from refprep.models.store import ModelStore
from refprep.pipeline.decode import decode_file
from refprep.pipeline.listen import Listener
from refprep.types import ClipEdges, ClipVoices, LanguageCase, Span

TEXT = "Before winter came they carried dry wood"
SPEECH = (Span(0.5, 3.3),)
TWO = [[1.0, 0.0, 0.0, 0.0]] * 3 + [[0.1, 1.0, 0.0, 0.0]] * 3


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.random.default_rng(1).normal(0.0, 0.05, 64_000), 16_000)
    return path


def listener_of(audio: Path, *, language: str = "en", has_encoder: bool = True) -> Listener:
    clip = decode_file(audio)
    asr = FakeAsr({clip.id: evenly(TEXT)}, language=language)
    encoder = FakeEncoder({clip.id: TWO[0]}, {clip.id: TWO})
    return Listener(
        FakeVoiceActivity(default=SPEECH), asr, asr, open_encoder=(lambda: encoder) if has_encoder else None
    )


def measure(audio: Path, *, parts: Parts | None = None, text: str | None = TEXT) -> Measurement:
    return measure_utterance(Utterance(audio, text), listener_of(audio), parts or Parts())


@pytest.mark.parametrize(("stated", "heard"), [("", "en"), ("en", "en"), ("de", "en"), ("", "de")])
def test_the_language_is_heard_whatever_the_row_states(audio, stated, heard):
    utterance = Utterance(audio, TEXT, stated)
    found = measure_utterance(utterance, listener_of(audio, language=heard), Parts())
    assert found.language == LanguageCase(TEXT, stated, heard, 0.99, pytest.approx(2.8))


def test_without_a_text_nobody_asks_for_the_language(audio):
    assert measure(audio, text=None).language is None
    assert measure(audio, parts=Parts(text=False)).language is None


def test_silence_has_no_language(audio):
    listener = listener_of(audio)
    listener.voice_activity = FakeVoiceActivity()
    found = measure_utterance(Utterance(audio, TEXT, "en"), listener, Parts())
    assert found.language == LanguageCase(TEXT, "en", "", 0.0, 0.0)
    assert found.edges is None


def test_edges_name_words_where_somebody_listened(audio):
    heard, bare = measure(audio).edges, measure(audio, text=None).edges
    assert isinstance(heard, ClipEdges)
    assert bare is not None
    assert bare.end.word == ""
    assert replace(heard, start=bare.start, end=bare.end) == bare


def test_voices_are_measured_on_demand(audio):
    assert measure(audio).voices is None
    found = measure(audio, parts=Parts(voices=True))
    assert found.voices is not None
    assert (found.voices.model, found.voices.run, found.models["encoder"]) == (
        "fake-encoder",
        3,
        "fake-encoder",
    )
    assert [type(n) for n in found.nouns()].count(ClipVoices) == 1
    without = measure_utterance(
        Utterance(audio, TEXT), listener_of(audio, has_encoder=False), Parts(voices=True)
    )
    assert without.voices is None
    assert "encoder" not in without.models


# --------------------------------------------------------------------------- what a run asks for


def config(*select: str, preview: bool = False, profile: str = "") -> Config:
    lint = LintConfig(select=select, preview=preview, profile=profile, cache=False)
    return Config(models=ModelConfig(device="cpu"), lint=lint)


def test_a_preview_without_an_encoder_goes_on_and_its_code_does_not(audio, tmp_path):
    store = ModelStore(tmp_path / "empty", offline=True)
    utterances = [Utterance(audio)]
    (report,) = api.lint_utterances(utterances, config("RP2", "RP3", preview=True), store=store)
    assert "encoder" not in report.models
    with pytest.raises(WeightsMissing, match="ge2e"):
        list(api.lint_utterances(utterances, config("rp306"), store=store))


def test_an_engine_there_is_not_stops_the_run_at_once(audio):
    with pytest.raises(UsageError, match="f5-tts"):
        api.lint_utterances([Utterance(audio)], config(profile="f6-tts"))


def test_the_engine_of_the_settings_is_asked(audio):
    reports = api.lint_utterances(
        [Utterance(audio, TEXT, "en")], config("RP4", profile="chatterbox-turbo"), listener=listener_of(audio)
    )
    assert [f.code for f in next(iter(reports)).findings if f.code != "RP401"] == ["RP405", "RP408"]
