"""Written words: how a text is cut into them and put together again.

A word is what stands between two spaces. Scripts that write no spaces (Han, kana, Thai, Lao, Khmer, Myanmar) give
one word per character, with punctuation kept on the character before it: coverage is counted in characters there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

# Scripts written without spaces: CJK ideographs with extensions, kana, Thai, Lao, Myanmar, Khmer, full-width forms.
_SPACELESS = re.compile(
    r"[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff]"
)

# Written after the kana they lengthen or voice, the half-width forms among them.
_ON_KANA = "ー\uff70\uff9e\uff9f"

_PRIMARY = re.compile(r"[-_]")


def primary_language(language: str) -> str:
    """``es`` for ``es-AR``; empty for an empty tag."""
    return _PRIMARY.split(language.lower(), maxsplit=1)[0]


def is_spaceless(character: str) -> bool:
    """The character belongs to a script that writes no spaces between words."""
    return _SPACELESS.match(character) is not None


def split_words(text: str) -> list[str]:
    """Cut a text into written words, in order.

    Text and words hold the same characters except white space; punctuation stays on the word it follows (opening
    quotes and brackets on the word they precede). A run of punctuation between two spaces joins the word before it.
    """
    words: list[str] = []
    for chunk in text.split():
        words += _split_chunk(chunk)
    merged: list[str] = []
    pending = ""
    for word in words:
        if any(ch.isalnum() for ch in word):
            merged.append(pending + word)
            pending = ""
        elif merged and not _opens(word):
            merged[-1] += word
        else:
            pending += word
    if pending and merged:
        merged[-1] += pending
    return merged


def _split_chunk(chunk: str) -> list[str]:
    if _SPACELESS.search(chunk) is None:
        return [chunk]
    words: list[str] = []
    current, has_spaceless = "", False
    for ch in chunk:
        num_words = len(words)
        if is_spaceless(ch) and not unicodedata.category(ch).startswith("M") and ch not in _ON_KANA:
            if current and not _opens(current):
                words.append(current)
                current = ch
            else:
                current += ch
        elif current and is_spaceless(current[0]) and ch.isalnum() and not is_spaceless(ch):
            words.append(current)
            current = ch
        elif has_spaceless and _opens(ch):
            words.append(current)
            current = ch
        else:
            current += ch
        # Kept beside it: to look through the word at every bracket would take for ever on a megabyte of them.
        has_spaceless = (has_spaceless and len(words) == num_words) or is_spaceless(ch)
    if current:
        words.append(current)
    return words


def _opens(text: str) -> bool:
    return all(unicodedata.category(ch) in ("Ps", "Pi") for ch in text)


def join_words(words: Iterable[str]) -> str:
    """Put words together: a space between them, none between two characters of a spaceless script."""
    text = ""
    for word in words:
        if not word:
            continue
        if text and not (is_spaceless(_last_letter(text)) and is_spaceless(_first_letter(word))):
            text += " "
        text += word
    return text


def join_texts(texts: Sequence[str]) -> str:
    """Put whole utterances together, under the same spacing rule."""
    return join_words(" ".join(t.split()) for t in texts)


def _first_letter(text: str) -> str:
    return next((ch for ch in text if ch.isalnum()), text[0])


def _last_letter(text: str) -> str:
    return next((ch for ch in reversed(text) if ch.isalnum()), text[-1])
