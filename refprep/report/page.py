"""What every page of ours is made with: an environment that escapes, a policy that forbids the network, our own files.

A page carries its own content security policy: no source but what is in the file, and only the one style sheet and
the one script whose hashes it names. So a path such as ``<script>.wav`` would not run even if escaping failed.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

# Shown, not obeyed: controls, and marks that turn the direction of writing or stand between letters unseen. Joiners
# (U+200C, U+200D) and variation selectors stay: Persian, Hindi and emoji are misspelt without them.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)
# Python reads a file name's byte 0x80-0xff that is not UTF-8 as U+DC80-DCFF (PEP 383).
_BYTES = range(0xDC80, 0xDD00)


@dataclass(frozen=True, slots=True)
class Assets:
    """A page's one style sheet and one script, and the policy that lets in these and nothing else."""

    style: Markup
    script: Markup
    policy: str


def environment() -> Environment:
    """Templates of this package, everything from outside escaped, a missing value an error."""
    made = Environment(
        loader=PackageLoader("refprep.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": number, "percent": percent, "short": short, "folder": folder, "seen": seen}
    return made


def page_assets(styles: tuple[str, ...], script: str = "") -> Assets:
    """Read our own files for a page.

    Args:
        styles: Names of style sheets within this package, joined in this order.
        script: Name of a script within it; a page without one names none.
    """
    style_text = "".join(_read(name) for name in styles)
    script_text = _read(script) if script else ""
    # Our own files, not a user's text: they must reach the page unescaped to match their hashes.
    return Assets(Markup(style_text), Markup(script_text), _policy(style_text, script_text))


def encodable(page: str) -> str:
    """The page without lone surrogates: a file name that is not UTF-8 has them, and no UTF-8 file can hold them."""
    return page.encode("utf-8", "replace").decode("utf-8")


def number(value: float | None, digits: int = 2, unit: str = "") -> str:
    """A number with its unit; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0.0:
        text = text.lstrip("-")
    # A true minus has the width of a digit: columns stay aligned.
    return text.replace("-", "−") + (f"\u202f{unit}" if unit else "")


def percent(value: float | None, digits: int = 1) -> str:
    """A ratio as a percentage; a dash where there is none."""
    return "–" if value is None else number(100.0 * value, digits, "%")


def short(path: str) -> str:
    """The file's name, for places where the whole path stands elsewhere."""
    return path.rsplit("/", 1)[-1] or path


def folder(path: str) -> str:
    """What stands before the file's name, its slash included."""
    return path.removesuffix(short(path))


def seen(text: str) -> str:
    r"""A text in which every character shows: ``[U+200B]`` for a zero-width space, ``\xff`` for a stray byte."""
    return _UNSEEN.sub(lambda match: _name(ord(match[0])), text)


def _name(code: int) -> str:
    return f"\\x{code - 0xDC00:02x}" if code in _BYTES else f"[U+{code:04X}]"


def _read(name: str) -> str:
    return files("refprep.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return (
        f"default-src 'none'; media-src data:; style-src '{_source_hash(style)}'; "
        f"script-src '{_source_hash(script)}'; base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
