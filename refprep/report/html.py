"""voice.json and its samples -> report.html: one file that opens anywhere and asks the network for nothing.

The page carries its own content security policy: no source but what is in the file, and only the one style sheet and
the one script whose hashes it names. So a path such as ``<script>.wav`` would not run even if escaping failed.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from refprep.report.view import report_view
from refprep.types import Reference

_TEMPLATE, _STYLE, _SCRIPT = "report.html.j2", "report.css", "report.js"


def render_report(document: Mapping[str, Any], reference: Reference, *, name: str = "") -> str:
    """The report of a voice as one HTML document; the same input gives the same text.

    Args:
        document: What ``refprep.voice.voice_document`` makes; parts that say nothing may be missing.
        reference: The voice's samples.
        name: What to call a voice without a speaker id, such as its folder.

    Returns:
        HTML in which everything from outside is escaped.
    """
    style, script = _asset(_STYLE), _asset(_SCRIPT)
    page = (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            **report_view(document, reference, name=name),
            # Our own files, not a user's text: they must reach the page unescaped to match their hashes.
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
        )
    )
    # A file name that is not UTF-8 reaches Python as lone surrogates, which no UTF-8 file can hold.
    return page.encode("utf-8", "replace").decode("utf-8")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("refprep.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "percent": _percent, "short": _short, "folder": _folder}
    return environment


def _asset(name: str) -> str:
    return files("refprep.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; media-src data:; style-src '{_source_hash(style)}'; "
        f"script-src '{_source_hash(script)}'; base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _number(value: float | None, digits: int = 2, unit: str = "") -> str:
    """A number with its unit; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0.0:
        text = text.lstrip("-")
    # A true minus has the width of a digit: columns stay aligned.
    return text.replace("-", "−") + (f"\u202f{unit}" if unit else "")


def _percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else _number(100.0 * value, digits, "%")


def _short(path: str) -> str:
    """The file's name, for places where the whole path stands elsewhere."""
    return path.rsplit("/", 1)[-1] or path


def _folder(path: str) -> str:
    """What stands before the file's name, its slash included."""
    return path.removesuffix(_short(path))
