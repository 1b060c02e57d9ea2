"""What the report says of a voice with everything in it: as-norm, two encoders, nested, room tone, not verified."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from html_kit import Page
from voice_kit import EVIL, RATE_HZ, built_voice, normed_voice, written_document

from refprep.report.html import render_report

SCHEMA = Path(__file__).parents[3] / "manifests" / "voice.schema.json"


@pytest.fixture
def voice(tmp_path):
    return normed_voice(tmp_path / "voice")


@pytest.fixture
def document(voice, tmp_path):
    return written_document(voice, tmp_path / "voice")


@pytest.fixture
def page(document, voice):
    html = render_report(document, voice.reference)
    assert EVIL not in html
    return Page(html)


@pytest.mark.parametrize("make", [built_voice, normed_voice])
def test_the_kit_writes_what_the_schema_describes(tmp_path, make):
    document = json.loads(json.dumps(written_document(make(tmp_path), tmp_path)))
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(document)


def classes(page: Page, tag: str) -> list[str]:
    return [str(a.get("class") or "") for t, a in page.tags if t == tag]


def test_not_verified_stands_at_the_top_with_its_reason(page):
    assert "badge undecided" in classes(page, "span")
    assert f"Not verified: the recogniser does not know {EVIL}" in page.visible
    assert page.visible.index("not verified") < page.visible.index("Click the waveform")


def test_a_failed_check_names_its_finding(document, voice):
    check = document["joined_check"]
    check.update(verdict="fail", reason="")
    check["findings"][0].update(code="RP301", severity="error", message="a stretch sounds like somebody else")
    failed = Page(render_report(document, voice.reference))
    assert "badge fail" in classes(failed, "span")
    assert "Not verified: RP301 a stretch sounds like somebody else" in failed.visible


def test_a_verified_voice_has_no_warning(tmp_path):
    voice = built_voice(tmp_path)
    plain = Page(render_report(written_document(voice, tmp_path), voice.reference))
    assert "badge pass" in classes(plain, "span")
    assert "Not verified" not in plain.visible


def test_a_nested_reference_is_bracketed_where_it_ends_and_can_be_heard(page, document):
    end_s = document["nested"][0]["num_samples"] / RATE_HZ
    assert f"{end_s:.1f} s reference ends here" in page.visible
    marks = [a for t, a in page.tags if t == "line" and a.get("class") == "end"]
    at = 100 * document["nested"][0]["num_samples"] / document["audio"]["num_samples"]
    assert [float((a["x1"] or "").rstrip("%")) for a in marks] == [pytest.approx(at, abs=1e-3)]
    parts = [a for t, a in page.tags if t == "button" and a.get("class") == "part"]
    assert float(parts[0]["data-until"]) == pytest.approx(end_s, abs=1e-3)
    assert "data-until" not in parts[1]
    assert "reference-4s.wav" in page.visible


def test_gaps_and_tails_are_where_voice_json_says_and_room_tone_is_marked(page, document):
    silences = [a for t, a in page.tags if str(a.get("class")).startswith("silence ")]
    assert [a["class"] for a in silences] == [
        "silence gap", "silence tail", "silence gap", "silence gap", "silence tail",
    ]  # fmt: skip
    assert {a["fill"] for a in silences} == {"url(#room-tone)"}
    (tone,) = [a for t, a in page.tags if t == "rect" and a.get("class") == "tone"]
    assert float(tone["data-seek"]) == pytest.approx(document["room_tone_sample"] / RATE_HZ, abs=1e-3)
    assert float(tone["data-until"]) - float(tone["data-seek"]) == pytest.approx(0.2, abs=2e-3)
    assert "room tone is a copy of the pause" in page.visible


def test_a_clip_plays_to_its_own_end(page, document):
    plays = [a for t, a in page.tags if t == "button" and a.get("class") == "clip"]
    assert len(plays) == 2 * len(document["clips"])
    for clip, play in zip(document["clips"], plays, strict=False):
        assert float(play["data-seek"]) == pytest.approx(clip["start_sample"] / RATE_HZ, abs=1e-3)
        assert float(play["data-until"]) == pytest.approx(clip["end_sample"] / RATE_HZ, abs=1e-3)


def test_every_reference_has_its_certificate(page):
    headings = [t.strip() for t in page.inside("h3")]
    assert headings.index("reference-4s.wav") < headings.index("reference.wav")
    for said in (
        "Proven optimal over 10 candidates.",
        "Not proven optimal: the time limit ended the search.",
        "5.3 score",
        "no set reaches 5.5",
        "no set lies below 10",
        "none known",
    ):
        assert said in page.visible, said
    # Four objectives of two references; only the last one's variety is open.
    assert page.visible.count("✓ proven") == 7
    assert page.visible.count("✕ not proven") == 1


def test_the_whole_is_held_against_its_window_threshold(page):
    cells = [t.strip() for t in page.inside("td")]
    at = cells.index("a stretch sounds like somebody else")
    assert cells[at + 1 : at + 3] == ["lowest score 0.810", "0.930"]
    assert "undecided-text" in page.visible
    assert "What the recogniser heard" in page.visible


def test_scores_name_their_scale(page):
    assert "standard deviations above the strangers most alike" in page.visible
    assert "3.000" in page.visible
    assert "Cosines of" not in page.visible


def test_encoders_are_told_apart(page):
    assert "the first decides, the others had to agree" in page.visible
    assert f"pieces of {EVIL}" in page.visible
    assert "no calibration" in page.visible


def test_the_second_encoder_is_heard_on_a_refusal(page):
    start = page.visible.index("Refused")
    cards = page.visible[start : page.visible.index("Admissible, not chosen", start)]
    first, second, *_ = cards.split("another-voice")[1:]
    assert "✓ toy-ge2e: the same voice" in first
    assert f"✕ second {EVIL}: another voice, mean 0.650, 0.720 needed" in first
    assert "✕ toy-ge2e: another voice" in second


def test_a_near_duplicate_says_of_what(page):
    assert re.search(rf"a near-duplicate of \S*clips/00\.wav: same words {re.escape(EVIL)}", page.visible)
    assert "the chosen set is better without it" in page.visible


def test_outliers_stand_out_in_the_charts(page):
    assert page.visible.count("1 of 14 clips stands out") == 2
    assert classes(page, "g").count("dot chosen outlier") == 2
    labels = [t for t in page.inside("text") if t in ("−28.2", "7.2")]
    assert labels == ["−28.2", "7.2"]


def test_missing_consent_is_said_aloud(page, document, voice):
    assert "No consent is recorded for any clip" in page.visible
    document["consent"] = {"statements": [{"text": EVIL, "clips": 3}], "clips_without": 2}
    some = Page(render_report(document, voice.reference))
    assert f"{EVIL}said of 3 clips" in some.visible
    assert "No consent is recorded for 2 of 5 clips." in some.visible
