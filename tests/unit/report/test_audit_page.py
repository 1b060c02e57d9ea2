"""The page of `refprep audit`: whole, escaped, self-contained, and readable without its colours."""

from __future__ import annotations

import copy
from functools import cache
from itertools import pairwise

import pytest
from html_kit import Page
from moss_codec_kit import fixed_wave, tiny_codec

from refprep.audit.codecs import open_audit_codec
from refprep.audit.generators import Saying
from refprep.audit.matrix import Choices, run_audit
from refprep.audit.report import audit_json
from refprep.report.audit.curves import curves_view
from refprep.report.audit.html import render_audit


@cache
def measured():
    saying = Saying("A text.", "Its words.", fixed_wave()[: 2 * 24_000], 4)
    choices = Choices(("float32",), ("float32", "bfloat16", "int8"), ("float32", "bfloat16"))
    audit = run_audit(open_audit_codec(tiny_codec()), saying, choices, model=tiny_codec())
    return audit_json(audit, voice="voice", model="<b>model", weights="random", device="cpu")


def document():
    return copy.deepcopy(measured())


def test_it_is_escaped_and_asks_the_network_for_nothing():
    html = render_audit(document())
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert "<b>model" in page.visible
    assert "<b>model" not in html
    assert html == render_audit(document())
    assert not [t for t, a in page.tags if t in ("script", "link", "img") or "style" in a or "src" in a]
    (policy,) = [a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "does not measure accent" in page.visible


def test_the_curves_have_names_and_words():
    page = Page(render_audit(document()))
    (svg,) = [a for t, a in page.tags if t == "svg"]
    assert svg["role"] == "img"
    assert svg["aria-labelledby"] == "curves-name curves-says"
    said = "".join(text for tag, text in page.texts if tag == "desc")
    assert "bfloat16:" in said
    assert "int8:" in said
    # the exact encoder is not drawn, and chance is
    assert len([t for t, _ in page.tags if t == "polyline"]) == 3


def test_names_at_the_end_of_curves_do_not_lie_on_each_other():
    values = document()
    for row in values["encoders"][1:]:
        row["agreement"]["per_codebook"][-1] = 0.0
    heights = sorted(line["label_y"] for line in curves_view(values["encoders"])["lines"])
    assert all(b - a >= 12 for a, b in pairwise(heights))


@pytest.mark.parametrize("books", [1, 2, 40])
def test_any_number_of_codebooks_is_drawn(books):
    values = document()
    for row in values["encoders"]:
        row["agreement"]["per_codebook"] = [0.5] * books
        row["agreement"]["chance"] = [0.1] * books
    found = curves_view(values["encoders"])
    assert len(found["ticks"]) <= 16
    assert all(0 <= tick["x"] <= found["width"] for tick in found["ticks"])


def test_numbers_that_are_missing_are_dashes():
    values = document()
    row = values["encoders"][1]
    row["distance"]["worst"] = None
    row["audio"] = {"difference_db": None, "is_identical": False}
    assert "–" in Page(render_audit(values)).visible
