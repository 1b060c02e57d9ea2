"""The lint report runs nothing of a user's, asks the network for nothing, and can be used by everyone."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import replace

import pytest
from lint_kit import SAID, lint_noise, page_of, tree

from refprep.linter.rule import Finding, Severity
from refprep.report.page import seen

EVIL = "</script><script>alert(1)</script>"
EVIL_NAME = "a\"onmouseover='alert(1)'><img src=x onerror=alert(1)>.wav"


@pytest.fixture
def html(tmp_path):
    reports = [
        lint_noise(tmp_path / EVIL_NAME, f"{EVIL} Before winter", source=f"{EVIL}:1", speaker=EVIL),
        lint_noise(tmp_path / "b.wav", SAID),
        lint_noise(tmp_path / "c.wav", SAID + " thank you for listening", tail_s=3.0, select=["RP"]),
        lint_noise(tmp_path / "d.wav", None),
    ]
    hostile = Finding("RP101", EVIL, Severity.ERROR, "x", EVIL, EVIL, None, {EVIL: EVIL, "none": None}, EVIL)
    reports.append(replace(reports[1], findings=(hostile,)))
    return page_of(reports)


def test_nothing_from_outside_becomes_markup(html):
    page = tree(html)
    assert EVIL not in html
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert page.text.count(EVIL) >= 6
    assert EVIL_NAME in page.one(id="pair-1-name").text


def test_no_handlers_and_no_inline_styles(html):
    page = tree(html)
    assert not [n for n in page.all() for name in n.attrs if name.startswith("on") or name == "style"]
    script = page.one("script").text
    assert not re.search(r"eval\(|innerHTML|insertAdjacent|document\.write|fetch\(|XMLHttp|import\(", script)


def test_nothing_is_fetched(html):
    page = tree(html)
    for node in page.all():
        for name in ("src", "href", "xlink:href", "data", "poster", "srcset", "action", "formaction"):
            if name in node.attrs:
                assert node.tag == "audio"
                assert (node.attrs[name] or "").startswith("data:audio/wav;base64,")
    assert not {n.tag for n in page.all()} & {"link", "iframe", "object", "embed", "base"}
    own = page.one("style").text + page.one("script").text
    assert not re.search(r"https?:|url\(|@import", own)
    assert {n.attrs["fill"] for n in page.all() if "url(" in (n.attrs.get("fill") or "")} == {"url(#no-text)"}


def test_the_policy_lets_in_the_one_style_sheet_and_the_one_script(html):
    page = tree(html)
    policy = page.one("meta", http_equiv="Content-Security-Policy").attrs["content"] or ""
    assert policy.startswith("default-src 'none'; media-src data:;")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.one(tag).text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_ids_are_unique_and_labels_point_at_them(html):
    page = tree(html)
    ids = [n.attrs["id"] for n in page.all() if "id" in n.attrs]
    assert len(ids) == len(set(ids))
    for node in page.all():
        assert node.attrs.get("aria-labelledby", ids[0]) in ids


def test_everything_that_can_be_used_has_a_name(html):
    page = tree(html)
    labelled = [n for label in page.all("label") for n in label.all()]
    for node in page.all():
        if (
            node.tag == "button"
            or node.attrs.get("role") in ("button", "group", "img")
            or node.tag == "audio"
        ):
            assert (node.attrs.get("aria-label") or node.text).strip(), node.attrs
        if node.tag in ("input", "select"):
            assert node in labelled
    assert page.one("html").attrs["lang"] == "en"
    assert [h.text for h in page.all("h1")] == ["Texts against their audio"]


def test_verdicts_and_severities_are_said_in_words(html):
    page = tree(html)
    assert {" ".join(b.text.split()) for b in page.all(of="badge")} == {
        "✕ The text does not fit",
        "✓ The text fits",
        "– No text",
    }
    for item in page.all("li", of="finding"):
        assert item.one("b", of="severity").text in ("error", "warning", "info")


def test_dark_still_and_narrow_windows_are_thought_of(html):
    style = tree(html).one("style").text
    for query in ("prefers-color-scheme: dark", "prefers-reduced-motion", "max-width: 40rem", "@media print"):
        assert query in style


def test_the_summary_is_shown_first_without_the_script_too(html):
    assert html.index("</main>") < html.index('id="summary"')
    assert ".summary { order: -2; }" in tree(html).one("style").text
    assert "hidden" in tree(html).one("form").attrs  # a filter that cannot filter is not shown


def test_a_file_name_that_is_not_utf8_is_written(tmp_path):
    report = lint_noise(tmp_path / os.fsdecode(b"caf\xe9.wav"), "Before winter came", source="\udcff:1")
    html = page_of([report])
    html.encode("utf-8")
    assert tree(html).one(id="pair-1-name").text == "caf\\xe9.wav"


def test_characters_that_do_not_show_are_named(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "Before\u200b win\u202eter\x07 came")
    shown = tree(page_of([report])).one(of="text").text
    assert "Before[U+200B]" in shown
    assert "win[U+202E]ter[U+0007]" in shown


@pytest.mark.parametrize(
    "text", ["نمی\u200cروم", "क्\u200dष", "👩\u200d🚀", "❤\ufe0f", "naïve – “so”", "a\tb\nc"]
)
def test_what_a_language_needs_stays(text):
    assert seen(text) == text


def test_a_text_from_right_to_left_keeps_its_direction(tmp_path):
    report = lint_noise(tmp_path / "a.wav", "שלום לכולם", "שלום לכולם ותודה רבה שבאתם", language="he")
    shown = tree(page_of([report])).one(of="text")
    assert shown.attrs["dir"] == "auto"
    assert shown.attrs["lang"] == "he"
    assert shown.text.lstrip().startswith("שלום")  # its first strong letter decides


def test_a_language_that_is_no_tag_is_left_out(tmp_path):
    report = lint_noise(tmp_path / "a.wav", None, language='en" onclick="x')
    assert not [
        n for n in tree(page_of([report])).all() if "onclick" in n.attrs or " " in (n.attrs.get("lang") or "")
    ]
