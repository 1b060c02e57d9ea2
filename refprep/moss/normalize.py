"""The text as Delay's publisher feeds it: one line, without markup, and with runs of punctuation made one mark.

Our own rules, fitted to recorded pairs of the published normaliser; tests hold them. Kept as they are: URLs, addresses,
`[pause 3.2s]`, `[S1]`, braces, quotes, numbers, emphasis marks.
"""

from __future__ import annotations

import re
import unicodedata

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WIDE = "，。！？；：、"
_ENDS = (*".!?,;:", *_WIDE, "…")

_LINK = re.compile(r"\[([^\]\n]+)\]\((\S+?)\)")
_LINE_START = re.compile(r"^(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+)+")
_HEADING = re.compile(r"^[【〖「『]([^】〗」』]+)[】〗」』]\s*")
_TITLE = re.compile(r"^《([^》]+)》$")
_MARKS = (
    (re.compile(r"\s*(?:[-=]+>|[→⇒])\s*"), "，"),
    (re.compile(r"\s*—{2,}\s*|(?<!\S)-{2,}(?!\S)"), "。"),
    (re.compile(r"\.{3,}|…+|。{2,}"), "。"),
    (re.compile(r"[,，]{2,}"), "，"),
)
_SHOUT = re.compile(r"[!?！？]{2,}")
_SPACES = (
    (re.compile(r"\s+"), " "),
    (re.compile(rf" ?([{_WIDE}]) ?"), r"\1"),
    (re.compile(rf"(?<=[{_HAN}]) (?=\d)|(?<=\d) (?=[{_HAN}])"), ""),
    (re.compile(rf"(?<=[{_HAN}])(?=[A-Za-z])|(?<=[A-Za-z])(?=[{_HAN}])"), " "),
)


def normalize_text(text: str) -> str:
    """The text on one line; empty where nothing is left of it."""
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))
    text = _LINK.sub(r"\1 \2", text)
    joined = ""
    for line in (_line(part) for part in text.split("\n")):
        if line and joined:
            joined += " " if joined.endswith(_ENDS) else "。"
        joined += line
    for pattern, mark in _MARKS:
        joined = pattern.sub(mark, joined)
    joined = _SHOUT.sub(_shout, joined)
    for pattern, mark in _SPACES:
        joined = pattern.sub(mark, joined)
    return joined.strip()


def _line(line: str) -> str:
    line = _TITLE.sub(r"\1", _LINE_START.sub("", line.strip()))
    heading = _HEADING.match(line)
    if heading is None:
        return line
    rest = line[heading.end() :]
    return f"{heading.group(1)}。{rest}" if rest else heading.group(1)


def _shout(run: re.Match[str]) -> str:
    marks = run.group().replace("!", "！").replace("?", "？")
    return "".join(mark for mark in "？！" if mark in marks)
