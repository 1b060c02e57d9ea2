"""Letters as they count: case, punctuation, accents on Latin letters and Unicode forms do not tell two texts apart."""

from __future__ import annotations

import re
import unicodedata
from typing import TypeAlias

Reading: TypeAlias = tuple[str, ...]

# Letters that stand for two and have no decomposition in Unicode.
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "Œ": "OE", "Æ": "AE"})
# Its compatibility form, "No", would melt into the number.
_NUMERO = str.maketrans({"\u2116": "#"})
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u00b4\u0060\uff07", "'"))
# The compatibility form would glue these to the number before them: 5½ is not 51/2, nor 5² 52.
_GLUED = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2080-\u2089\u2150-\u215e\u2189]")
SQUARED, CUBED = "\u00b2", "\u00b3"


def fold(text: str) -> str:
    """Compatibility form, case-folded, Latin letters without their marks, letters and digits only.

    Marks stay on other scripts: か and が are different sounds.
    """
    decomposed = unicodedata.normalize("NFKD", text.translate(_LIGATURES)).casefold()
    kept: list[str] = []
    base_is_latin = False
    for ch in decomposed:
        if unicodedata.combining(ch):
            if not base_is_latin:
                kept.append(ch)
            continue
        # Presentation forms of lone marks decompose into a space and the mark: the mark is all there is of them.
        base_is_latin = (ch.isascii() and not ch.isspace()) or "LATIN" in unicodedata.name(ch, "")
        if ch.isalnum() or unicodedata.category(ch) in ("Mc", "Mn"):
            kept.append(ch)
    return unicodedata.normalize("NFC", "".join(kept))


def plain_form(word: str) -> str:
    """A written word in compatibility form with straight apostrophes and no invisible characters.

    Fractions of one character become ``1/2`` with a ``+`` before it where a digit precedes; squares and cubes stay.
    """
    text = "".join(
        ch for ch in word.translate(_APOSTROPHES).translate(_NUMERO) if unicodedata.category(ch) != "Cf"
    )

    def unglue(match: re.Match[str]) -> str:
        ch = match.group()
        if ch in (SQUARED, CUBED):
            return "\0" if ch == SQUARED else "\1"
        plain = unicodedata.normalize("NFKC", ch).replace("\u2044", "/")
        before = text[match.start() - 1 : match.start()]
        return f"+{plain}" if "/" in plain and before.isdigit() else plain

    # Two control characters, gone from any text that is cut into words, hold the places of ² and ³.
    text = _GLUED.sub(unglue, text.replace("\0", "").replace("\1", ""))
    text = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES)
    return text.replace("\u2044", "/").replace("\0", SQUARED).replace("\1", CUBED).replace("\u2212", "-")
