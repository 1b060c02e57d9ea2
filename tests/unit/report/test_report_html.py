"""The report is one file that runs nothing of a user's, asks the network for nothing, and leaves nothing out."""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import re
import wave

import numpy as np
import pytest
from html_kit import Page
from voice_kit import EVIL, built_voice, normed_voice, written_document

from refprep.report.html import render_report
from refprep.report.matrix import MAX_CONTROLS, MAX_ROWS, matrix_view

SECTIONS = (
    "The whole, checked",
    "Findings on these clips",
    "Why these clips",
    "Clips",
    "Level and pace",
    "One voice?",
    "Refused",
    "Admissible, not chosen",
    "Consent and provenance",
    "Made with",
)


@pytest.fixture
def voice(tmp_path):
    return built_voice(tmp_path / "voice")


@pytest.fixture
def document(voice, tmp_path):
    return written_document(voice, tmp_path / "voice")


@pytest.fixture
def html(document, voice):
    return render_report(document, voice.reference)


def test_nothing_from_outside_becomes_markup(html):
    page = Page(html)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert EVIL not in html
    assert page.visible.count(EVIL) >= 5  # a word, findings, a control, a refusal


def test_a_path_cannot_leave_its_attribute(document, voice):
    document["clips"][0]["path"] = "a\"onmouseover='alert(1)'><img src=x onerror=alert(1)>.wav"
    page = Page(render_report(document, voice.reference))
    assert not any(tag == "img" for tag, _ in page.tags)
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)


def test_no_handler_attributes_and_no_inline_styles(html):
    page = Page(html)
    assert not any(name.startswith("on") or name == "style" for _, attrs in page.tags for name in attrs)
    assert not any("eval(" in text or "innerHTML" in text for text in page.inside("script"))


def test_nothing_is_fetched(html):
    page = Page(html)
    for tag, attrs in page.tags:
        for name in ("src", "href", "xlink:href", "data", "poster", "srcset", "action"):
            if name in attrs:
                assert tag == "audio"
                assert (attrs[name] or "").startswith("data:audio/wav;base64,")
    assert not re.search(r"https?://", html)
    style = "".join(page.inside("style"))
    assert "url(" not in style
    assert "@import" not in style
    assert not any(tag in ("link", "iframe", "object", "embed", "base") for tag, _ in page.tags)


def test_the_policy_names_the_one_style_sheet_and_the_one_script(html):
    page = Page(html)
    policy = next(a["content"] for t, a in page.tags if t == "meta" and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256("".join(page.inside(tag)).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_every_section_has_its_facts(html, document):
    page = Page(html)
    titles = [t.strip() for tag in ("h2", "h3") for t in page.inside(tag)]
    for section in SECTIONS:
        assert section in titles
    for fact in (
        "corpus/gb/m/reader",
        "verified",
        "pass",
        "90.0 %",
        "zeros-120ms",
        "zeros-160ms",
        "toy-ge2e",
        "0.720",
        "RP301",
        "RP101",
        "RP001",
        "What to do.",
        "Proven optimal",
        "signed 2026-01-02",
        "en/harold",
        "−21.3 LUFS",
        "converted from 44100 Hz PCM_24",
        "Nothing is recorded for clip 3.",
        "It was the best of times, indeed.",
        document["audio"]["pcm_sha256"],
    ):
        assert fact in page.visible, fact


def test_words_and_clips_lie_where_they_are_in_the_reference(html, document):
    page = Page(html)
    words = [a for t, a in page.tags if t == "button" and a.get("class") == "word"]
    rate_hz = document["audio"]["sample_rate_hz"]
    expected = [
        clip["start_sample"] / rate_hz + start_s
        for clip in document["clips"]
        for _, start_s, _ in clip["coverage"]["words"]
    ]
    assert [float(a["data-seek"]) for a in words] == pytest.approx(expected, abs=1e-3)
    silences = [str(a["class"]) for t, a in page.tags if str(a.get("class")).startswith("silence ")]
    assert silences == ["silence gap", "silence gap", "silence tail"]
    tags = [float(a["data-seek"] or "") for t, a in page.tags if t == "g" and a["class"] == "tag"]
    assert tags == pytest.approx([c["start_sample"] / rate_hz for c in document["clips"]], abs=1e-3)


def test_a_finding_seeks_to_its_place_in_the_reference(document, voice):
    late = copy.deepcopy(document)
    late["clips"][1]["findings"] = [late["clips"][0]["findings"][1]]
    late["clips"][0]["findings"] = []
    page = Page(render_report(late, voice.reference))
    place = [float(a["data-seek"]) for t, a in page.tags if t == "button" and a.get("class") == "link"]
    assert place == pytest.approx([late["clips"][1]["start_sample"] / 16_000 + 1.0], abs=1e-3)


def test_the_player_holds_the_samples(html, voice):
    uri = next(a["src"] for t, a in Page(html).tags if t == "audio")
    with wave.open(io.BytesIO(base64.b64decode((uri or "").split(",", 1)[1]))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16_000)
        stored = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    assert np.array_equal(stored.astype(np.float32) / 2**15, voice.reference.samples)


def test_same_input_same_page(document, voice, html):
    assert render_report(copy.deepcopy(document), voice.reference) == html


@pytest.mark.parametrize(
    "key",
    [
        "speaker_id", "is_verified", "silences", "room_tone_sample", "nested", "consent", "encoders", "language", "joined_check", "selection", "similarity", "controls", "refused", "not_chosen",
        "models", "audio", "text_file", "gap_policy", "tail_policy", "refprep_version", "schema_version", "clips",
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [built_voice, normed_voice])
def test_a_missing_part_is_no_error(tmp_path, make, key):
    voice = make(tmp_path)
    document = written_document(voice, tmp_path)
    del document[key]
    Page(render_report(document, voice.reference))


@pytest.mark.parametrize(
    "key",
    ["coverage", "quality", "identity", "findings", "provenance", "text", "text_origin", "converted_from"],
)
def test_a_clip_row_without_a_part_is_no_error(document, voice, key):
    for row in (*document["clips"], *document["refused"], *document["not_chosen"]):
        row.pop(key, None)
    Page(render_report(document, voice.reference))


def test_a_voice_of_chosen_clips_only(tmp_path):
    voice = built_voice(tmp_path, controls=False, only_chosen=True)
    document = written_document(voice, tmp_path, speaker="")
    for row in document["clips"]:
        row.pop("provenance", None)
        row["findings"] = []
    page = Page(render_report(document, voice.reference, name="ana"))
    assert page.inside("title")[0].startswith("ana")
    assert "No clip was refused." in page.visible
    assert "No controls were given" in page.visible
    assert "None recorded." in page.visible
    assert "Findings on these clips" not in page.visible


def test_a_file_name_that_is_not_utf8_still_makes_a_page(document, voice):
    document["clips"][0]["path"] = "clips/\udcff.wav"
    assert "clips/" in Page(render_report(document, voice.reference)).visible


def test_a_large_matrix_and_many_controls_are_cut_and_say_so(document, voice):
    n = MAX_ROWS + 7
    document["similarity"]["paths"] = [document["clips"][0]["path"]] + [f"x{k}.wav" for k in range(n - 1)]
    document["similarity"]["scores"] = [[1.0 if i == j else 0.8 for j in range(n)] for i in range(n)]
    document["clips"][0]["identity"]["control_scores"] = {f"c{k:02}": k / 100 for k in range(20)}
    matrix = matrix_view(document)
    assert matrix is not None
    assert len(matrix["rows"]) == MAX_ROWS
    assert matrix["rows"][0]["path"] == document["clips"][0]["path"]
    assert len(matrix["controls"]) == MAX_CONTROLS
    visible = Page(render_report(document, voice.reference)).visible
    assert "7 more clips are in voice.json" in visible
    assert "nearest controls" in visible
