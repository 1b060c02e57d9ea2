"""A voice in a notebook: a card that needs nothing but itself, and shows what it can."""

from __future__ import annotations

import base64
import io
import json
import wave

import numpy as np
import pytest
from html_kit import Page
from voice_kit import EVIL, built_voice, normed_voice, written_document

from refprep.errors import ManifestError
from refprep.voice.names import AUDIO_NAME, VOICE_NAME
from refprep.voice.read import load_voice


@pytest.fixture(params=[built_voice, normed_voice], ids=["cosine", "as-norm"])
def built(request, tmp_path):
    return request.param(tmp_path / "ana")


@pytest.fixture
def voice(built):
    document = written_document(built, built.folder)
    (built.folder / VOICE_NAME).write_text(json.dumps(document), encoding="utf-8")
    return load_voice(built.folder)


def test_it_is_read_back_as_it_was_built(voice, built):
    read, reference = voice.read_reference(), built.reference
    assert np.array_equal(read.samples, reference.samples)
    assert read.silences == reference.silences
    assert [(c.start_sample, c.end_sample, c.text) for c in read.clips] == [
        (c.start_sample, c.end_sample, c.text) for c in reference.clips
    ]
    for name in ("gap_policy", "tail_policy", "room_tone_sample", "nested", "text", "sample_format"):
        assert getattr(read, name) == getattr(reference, name), name


def test_the_card_needs_only_itself(voice):
    html = voice._repr_html_()
    page = Page(html)
    assert EVIL not in html
    assert not {t for t, _ in page.tags} & {"script", "style", "link", "img", "iframe", "object", "embed"}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    sources = [(t, a[n] or "") for t, a in page.tags for n in ("src", "href", "data") if n in a]
    assert [t for t, _ in sources] == ["audio"]
    assert sources[0][1].startswith("data:audio/wav;base64,")
    assert "http" not in html


def test_the_card_says_what_matters(voice):
    page = Page(voice._repr_html_())
    assert "corpus/gb/m/reader" in page.visible
    assert voice.text in page.visible
    assert ("not verified" in page.visible) is not voice.document["is_verified"]
    assert voice.document["similarity"]["scale"] in page.visible
    cells = [a for t, a in page.tags if t == "rect" and a.get("fill") in ("#3f6fd8", "#d55e00")]
    compared = len(voice.document["similarity"]["paths"])
    assert len(cells) >= compared * (compared - 1)


def test_its_player_holds_the_samples(voice, built):
    uri = next(a["src"] or "" for t, a in Page(voice._repr_html_()).tags if t == "audio")
    with wave.open(io.BytesIO(base64.b64decode(uri.split(",", 1)[1]))) as file:
        stored = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert np.array_equal(stored.astype(np.float32) / 2**15, built.reference.samples)


def test_hostile_paths_and_styles_stay_text(voice):
    document = json.loads(json.dumps(voice.document))
    document["speaker_id"] = '"><img src=x onerror=alert(1)>'
    document["language"] = 'en" style="background:url(x)'
    document["text"] = "</p></div><script>alert(2)</script>"
    for row in document["clips"]:
        row["path"] = "'\"><svg onload=alert(3)>.wav"
    (voice.folder / VOICE_NAME).write_text(json.dumps(document), encoding="utf-8")
    page = Page(load_voice(voice.folder)._repr_html_())
    assert not {t for t, _ in page.tags} & {"img", "script"}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert not any("url(" in (a.get("style") or "") for _, a in page.tags)


def test_without_its_audio_the_card_says_so(voice):
    (voice.folder / AUDIO_NAME).unlink()
    page = Page(voice._repr_html_())
    assert "reference.wav cannot be played" in page.visible
    assert not [t for t, _ in page.tags if t == "audio"]
    assert voice.text in page.visible


def test_a_voice_json_with_a_broken_entry_is_refused(voice):
    document = json.loads(json.dumps(voice.document))
    del document["clips"][0]["end_sample"]
    (voice.folder / VOICE_NAME).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ManifestError, match="end_sample"):
        load_voice(voice.folder).read_reference()
