"""The document of `refprep audit` -> one HTML file that opens anywhere and asks the network for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refprep.report.audit.curves import curves_view
from refprep.report.page import encodable, environment, page_assets


def render_audit(document: Mapping[str, Any]) -> str:
    """The audit as a page; the same input gives the same text.

    Args:
        document: Of manifests/audit.schema.json.

    Returns:
        HTML in which everything from outside is escaped.
    """
    assets = page_assets(("base.css", "audit/page.css"))
    page = (
        environment()
        .get_template("audit/page.html.j2")
        .render(
            document=document,
            curves=curves_view(document["encoders"]),
            windows=("early", "middle", "late"),
            badges={"equal": "pass", "rounding": "undecided", "broken": "fail"},
            style=assets.style,
            policy=assets.policy,
        )
    )
    return encodable(page)
