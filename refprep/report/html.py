"""voice.json and its samples -> report.html: one file that opens anywhere and asks the network for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refprep.report.page import encodable, environment, page_assets
from refprep.report.view import report_view
from refprep.types import Reference


def render_report(document: Mapping[str, Any], reference: Reference, *, name: str = "") -> str:
    """The report of a voice as one HTML document; the same input gives the same text.

    Args:
        document: What ``refprep.voice.voice_document`` makes; parts that say nothing may be missing.
        reference: The voice's samples.
        name: What to call a voice without a speaker id, such as its folder.

    Returns:
        HTML in which everything from outside is escaped.
    """
    assets = page_assets(("base.css", "report.css"), "report.js")
    page = (
        environment()
        .get_template("report.html.j2")
        .render(
            **report_view(document, reference, name=name),
            style=assets.style,
            script=assets.script,
            policy=assets.policy,
        )
    )
    return encodable(page)
