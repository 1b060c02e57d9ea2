"""Measurements on disk: what comes back is what was put in, for the same content and program alone."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeAsr, FakeVoiceActivity, evenly, noise_clip
from hypothesis import given
from hypothesis import strategies as st

from refprep.errors import AudioDecodeError
from refprep.measure import program_cache as module
from refprep.measure.cache import MeasurementCache, MeasurementKey
from refprep.measure.measurement import Measurement
from refprep.pipeline.listen import Listener
from refprep.pipeline.quality import measure_quality
from refprep.types import ClipEdge, ClipEdges, ClipVoices, LanguageCase, Span, TextCheck

KEY = MeasurementKey("0" * 64, ".wav", "said", "en", ("text",), (("recogniser", "base cpu 1234"),))
CLIP = noise_clip(5.0)
SPEECH = (Span(0.5, 1 / 3 + 3.0), Span(3.5, 4.5))
SAID = evenly("Before winter came they carried dry wood from every forest")


def hold(text: str) -> TextCheck:
    asr = FakeAsr({CLIP.id: SAID})
    return Listener(FakeVoiceActivity(default=SPEECH), asr, asr).check(CLIP, text, language="en")


MEASURED = Measurement(
    source=CLIP.source,
    duration_s=CLIP.duration_s,
    speech=SPEECH,
    quality=replace(measure_quality(CLIP, SPEECH, text="a", language="en"), loudness_lufs=-math.inf),
    check=hold("Before winter came they carried"),
    models={"transcriber": "whisper-base"},
    edges=ClipEdges(ClipEdge(-3.0, math.inf, 0.0, "It", 0.5), ClipEdge(-math.inf, -math.inf, 0.4), 5.0),
    language=LanguageCase("Before", "", "en", 0.98, 3.8),
    voices=ClipVoices("ge2e", 0.5, 2, Span(1.0, 3.4), 0.72),
)


def test_what_was_measured_comes_back(tmp_path):
    cache = MeasurementCache(tmp_path)
    assert cache.get(KEY) is None
    cache.put(KEY, MEASURED)
    assert MeasurementCache(tmp_path).get(KEY) == MEASURED


@pytest.mark.parametrize("changes", [
    {"file_sha256": "1" * 64}, {"suffix": ".flac"}, {"text": "said more"}, {"text": None}, {"text": ""},
    {"language": "de"}, {"parts": ()}, {"models": (("recogniser", "small cpu 1234"),)}, {"models": ()},
])  # fmt: skip
def test_another_key_is_another_measurement(tmp_path, changes):
    cache = MeasurementCache(tmp_path)
    cache.put(KEY, MEASURED)
    assert cache.get(replace(KEY, **changes)) is None


@given(st.text(), st.text())
def test_every_field_is_in_the_hash(one, other):
    keys = [replace(KEY, **{f.name: one}) for f in dataclasses.fields(KEY)]
    assert len({k.sha256 for k in keys}) == len(set(keys))
    assert (replace(KEY, text=one).sha256 == replace(KEY, text=other).sha256) == (one == other)


def test_a_lone_surrogate_in_a_text_can_be_kept(tmp_path):
    cache, key = MeasurementCache(tmp_path), replace(KEY, text="a\udcff")
    cache.put(key, replace(MEASURED, check=hold("a\udcff b")))
    found = cache.get(key)
    assert found is not None
    assert found.check is not None
    assert found.check.given.text == "a\udcff b"


@pytest.mark.parametrize("spoil", [
    lambda text: text[: len(text) // 2], lambda _: "", lambda _: "[]", lambda _: "null",
    lambda text: text.replace('"duration_s"', '"length_s"', 1), lambda text: text.replace('"speech": [', '"speech": 7, "x": [', 1),
])  # fmt: skip
def test_a_spoilt_entry_is_as_good_as_none(tmp_path, spoil):
    cache = MeasurementCache(tmp_path)
    cache.put(KEY, MEASURED)
    (entry,) = cache.folder.rglob("*.json")
    entry.write_text(spoil(entry.read_text(encoding="utf-8")), encoding="utf-8")
    assert cache.get(KEY) is None
    cache.put(KEY, MEASURED)
    assert cache.get(KEY) == MEASURED


def test_a_file_that_changed_meanwhile_is_not_remembered(tmp_path):
    cache = MeasurementCache(tmp_path)
    cache.put(replace(KEY, file_sha256="1" * 64), MEASURED)
    assert list(cache.folder.rglob("*.json")) == []


def test_a_file_that_does_not_decode_is_not_remembered(tmp_path):
    cache = MeasurementCache(tmp_path)
    cache.put(KEY, Measurement(error=AudioDecodeError("cut short", where="a.wav", fix="Export it again.")))
    assert list(cache.folder.rglob("*.json")) == []


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "lint").write_text("no folder")
    cache = MeasurementCache(tmp_path)
    cache.sweep()
    cache.put(KEY, MEASURED)
    assert cache.get(KEY) is None


def test_another_program_finds_nothing_and_the_old_one_is_swept_after_a_month(tmp_path, monkeypatch):
    old = MeasurementCache(tmp_path)
    old.put(KEY, MEASURED)
    monkeypatch.setattr(module, "program_fingerprint", lambda: "f" * 64)
    new = MeasurementCache(tmp_path)
    assert new.get(KEY) is None
    new.sweep()
    assert old.get(KEY) == MEASURED
    long_ago = time.time() - 40 * 86_400
    os.utime(old.folder, (long_ago, long_ago))
    new.sweep()
    assert not old.folder.exists()
    assert new.folder.exists()


def test_the_program_is_its_code(tmp_path):
    module.program_fingerprint.cache_clear()
    first = module.program_fingerprint()
    assert first == module.program_fingerprint()
    assert len(first) == 64
    assert str(Path(module.__file__).parents[1]).endswith("refprep")


def test_the_same_bytes_at_another_place():
    moved = MEASURED.at("elsewhere.wav")
    assert moved.source is not None
    assert moved.source.path == "elsewhere.wav"
    assert replace(moved, source=MEASURED.source) == MEASURED
    assert MEASURED.at("clip.wav") is MEASURED
    assert Measurement().at("x.wav") == Measurement()
