"""Capitals: letters spelt out ("BBC", "U.S.A.") and Roman numerals ("XIV", "Richard III's")."""

from __future__ import annotations

import re

from refprep.text.normalise import Reading, fold
from refprep.text.readings.numbers import cardinals, ordinals, spoken

_ROMAN = re.compile(
    r"(M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))('s)?(?:e|er|ème|º|th|st|nd|rd)?"
)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_LONGEST = 6  # letters; longer words in capitals are words
_DOTTED = re.compile(r"(?:[^\W\d_]\.){1,}[^\W\d_]\.?|(?:[^\W\d_]\.){2,}")


def spelt_out(written: str) -> list[Reading]:
    """An acronym as its letters; a lone plural or genitive s stays on the last one.

    Args:
        written: With its points; "BBC", "U.S.", "PCs".
    """
    letters = re.sub(r"[^\w]", "", written)
    is_dotted = _DOTTED.fullmatch(written) is not None
    tail = ""
    if letters.endswith("s") and letters[:-1].isupper() and len(letters) > 2:
        letters, tail = letters[:-1], "s"
    if not 2 <= len(letters) <= _LONGEST or not letters.isalpha() or not (letters.isupper() or is_dotted):
        return []
    tokens = [fold(ch) for ch in letters]
    if not all(tokens):
        return []
    return [(*tokens[:-1], tokens[-1] + tail)]


def roman_readings(written: str, code: str) -> list[Reading]:
    """Richard III is read as an ordinal, chapter III as a cardinal; empty for what is no numeral of two letters."""
    match = _ROMAN.fullmatch(written)
    if match is None or len(match.group(1)) < 2:
        return []
    digits = [_VALUES[ch] for ch in match.group(1)]
    value = sum(-v if v < after else v for v, after in zip(digits, [*digits[1:], 0], strict=True))
    tail = "s" if match.group(2) and code == "en" else ""
    found = [spoken(text + tail) for text in cardinals(value, code)]
    for text in ordinals(value, code):
        found.append(spoken(text + tail))
        if code == "en":
            found.append(spoken(f"the {text}{tail}"))
    return found
