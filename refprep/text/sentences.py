"""Sentences of a text, for reading it piece by piece."""

from __future__ import annotations

import re

from refprep.text.normalise import fold
from refprep.text.readings.abbreviations import abbreviation_texts
from refprep.text.words import primary_language

# A mark that ends a sentence, and quotes or brackets that close after it.
_END = re.compile(r"""[.!?…؟।]+["'”’»)\]]*(?=\s)|[。！？]+[”’」』）]*|\n\s*\n""")
_CLAUSE = re.compile(r"""[,;:]+["'”’»)\]]*\s|[،；，、：]+[”’」』）]*|\s[–—-]+\s|\n""")
_INITIAL = re.compile(r"(?:^|[\s.(])[^\W\d_]\.$")
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.$")
_ORDINAL_LANGUAGES = frozenset({"de", "da", "nb", "no", "cs", "sk", "fi", "hu", "sl", "hr", "et"})


def split_sentences(text: str, language: str = "") -> list[str]:
    """Cut a text after its sentences; nothing is lost but the space between them.

    A point after an abbreviation, an initial or, where it makes an ordinal (German, say), a number ends no sentence; nor
    does a mark before a small letter.
    """
    pieces, start = [], 0
    for match in _END.finditer(text):
        if _goes_on(text[start : match.end()], text[match.end() :], language):
            continue
        pieces.append(text[start : match.end()])
        start = match.end()
    pieces.append(text[start:])
    return [clean for piece in pieces if (clean := " ".join(piece.split()))]


def split_clauses(sentence: str) -> list[str]:
    """Cut a sentence after commas, colons, semicolons and dashes."""
    pieces, start = [], 0
    for match in _CLAUSE.finditer(sentence):
        pieces.append(sentence[start : match.end()])
        start = match.end()
    pieces.append(sentence[start:])
    return [clean for piece in pieces if (clean := " ".join(piece.split()))]


def _goes_on(before: str, after: str, language: str) -> bool:
    if before.endswith("\n") or "\n\n" in after[:3]:
        return False
    following = after.lstrip()
    if following[:1].islower():
        return True
    if not before.endswith("."):
        return False
    code = primary_language(language)
    last = before.split()[-1]
    if _INITIAL.search(before) and not before.endswith(" I."):
        return True
    if code in _ORDINAL_LANGUAGES and _ORDINAL.search(before) and following:
        return True
    return bool(abbreviation_texts(fold(last), last, code))
