"""Japanese numerals in characters and in kana, and the kana of whole texts.

num2words writes Japanese numerals in characters alone, so both are built here. The kana of words come from SudachiPy
with its core dictionary: Apache-2.0 both, wheels for every platform, released several times a year, no download
at run time. pykakasi is under the GPL; fugashi's unidic-lite holds a dictionary of 2013.
Without SudachiPy, texts are compared character by character, hiragana and katakana alike; that is the only loss.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sudachipy.tokenizer import Tokenizer

_KANJI = "〇一二三四五六七八九"
_KANA = ("ゼロ", "いち", "に", "さん", "よん", "ご", "ろく", "なな", "はち", "きゅう")
_PLACES = (("", ""), ("十", "じゅう"), ("百", "ひゃく"), ("千", "せん"))
_MYRIADS = (("", ""), ("万", "まん"), ("億", "おく"), ("兆", "ちょう"))
_BEYOND = 10**16
# Sounds that meet: 300 is さんびゃく.
_MEETING = {
    "さんひゃく": "さんびゃく", "ろくひゃく": "ろっぴゃく", "はちひゃく": "はっぴゃく", "さんせん": "さんぜん",
    "はちせん": "はっせん", "いちちょう": "いっちょう", "はちちょう": "はっちょう", "じゅうちょう": "じゅっちょう",
}  # fmt: skip
# Everyday words with a second reading; the dictionary gives one.
_SECOND_READINGS = {
    "明日": ("あした", "あす"), "昨日": ("きのう", "さくじつ"), "私": ("わたし", "わたくし"), "何": ("なに", "なん"),
    "日本": ("にほん", "にっぽん"), "今日": ("きょう", "こんにち"), "他": ("ほか", "た"), "一日": ("ついたち", "いちにち"),
    "四": ("よん", "し"), "七": ("なな", "しち"), "家": ("いえ", "うち"), "行く": ("いく", "ゆく"), "良い": ("よい", "いい"),
}  # fmt: skip
# Days of the month that are no number and にち.
DAYS = {
    1: "ついたち", 2: "ふつか", 3: "みっか", 4: "よっか", 5: "いつか", 6: "むいか", 7: "なのか", 8: "ようか", 9: "ここのか",
    10: "とおか", 14: "じゅうよっか", 20: "はつか", 24: "にじゅうよっか",
}  # fmt: skip
_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}


def hiragana(text: str) -> str:
    """Katakana as hiragana; everything else as it is."""
    return text.translate(_TO_HIRAGANA)


@functools.lru_cache(maxsize=4_096)
def cardinals(value: int) -> tuple[str, ...]:
    """二千五 and にせんご; digit by digit from 10^16 on."""
    if value >= _BEYOND:
        return digit_by_digit(str(value))
    if value == 0:
        return ("零", _KANJI[0], "ゼロ", "れい")
    kanji, kana = _cardinal(value)
    found = [kanji, kana]
    for usual, other in (("よん", "し"), ("なな", "しち"), ("きゅう", "く")):
        if kana.endswith(usual):
            found.append(kana.removesuffix(usual) + other)
    return tuple(found)


def _cardinal(value: int) -> tuple[str, str]:
    groups: list[int] = []
    while value:
        value, group = divmod(value, 10_000)
        groups.append(group)
    kanji, kana = "", ""
    for place in range(len(groups) - 1, -1, -1):
        group_kanji, group_kana = _group(groups[place])
        if group_kanji:
            kanji += group_kanji + _MYRIADS[place][0]
            kana += _meet(group_kana + _MYRIADS[place][1])
    return kanji, kana


def _group(value: int) -> tuple[str, str]:
    kanji, kana = "", ""
    for power in range(3, -1, -1):
        digit = value // 10**power % 10
        if not digit:
            continue
        # A lone ten, hundred or thousand has no one before it.
        silent = digit == 1 and power > 0
        kanji += ("" if silent else _KANJI[digit]) + _PLACES[power][0]
        kana += _meet(("" if silent else _KANA[digit]) + _PLACES[power][1])
    return kanji, kana


def _meet(kana: str) -> str:
    for apart, together in _MEETING.items():
        if kana.endswith(apart):
            return kana.removesuffix(apart) + together
    return kana


def digit_by_digit(digits: str) -> tuple[str, ...]:
    """二〇〇五, 二零零五 and に・ゼロ・ゼロ・ご."""
    kanji = "".join(_KANJI[int(d)] for d in digits)
    kana = "".join(_KANA[int(d)] for d in digits)
    return tuple(dict.fromkeys((kanji, kanji.replace(_KANJI[0], "零"), kana, kana.replace("ゼロ", "れい"))))


@functools.cache
def _tokenizer() -> Tokenizer | None:
    try:
        from sudachipy import Dictionary

        return Dictionary().tokenizer()
    except (ImportError, OSError, ValueError):
        return None  # the ja extra, or its dictionary, is not installed


@functools.lru_cache(maxsize=512)
def kana_of(text: str) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """The words of a text that are written in characters, with their sound.

    Returns:
        (first character, last + 1, readings in hiragana), in order; empty without SudachiPy.
    """
    tokenizer = _tokenizer()
    if tokenizer is None or not text:
        return ()
    found: list[tuple[int, int, tuple[str, ...]]] = []
    # SudachiPy refuses texts of 49,149 bytes and more; a character is at most four.
    for start in range(0, len(text), 12_000):
        for morpheme in tokenizer.tokenize(text[start : start + 12_000]):
            surface = morpheme.surface()
            if not any("\u3400" <= ch <= "\u9fff" or ch in "々〆" for ch in surface):
                continue
            kana = hiragana(morpheme.reading_form())
            readings = [kana, *_SECOND_READINGS.get(surface, ())]
            # A reading must be kana for every character: unknown words come back as they are, or empty.
            sounds = tuple(
                dict.fromkeys(r for r in readings if r and all("\u3041" <= ch <= "\u30fc" for ch in r))
            )
            if sounds:
                found.append((start + morpheme.begin(), start + morpheme.end(), sounds))
    return tuple(found)


def forget() -> None:
    """Look for SudachiPy anew: for tests, and after installing it into a running process."""
    _tokenizer.cache_clear()
    kana_of.cache_clear()
