"""Words as they sound: case, punctuation, hyphens, accents and digits do not tell two texts apart.

A written word becomes tokens; where it can be read aloud in several ways ("1984", "Dr.", "he's") every way is a
reading, and ``refprep.text.compare`` takes the one that fits the other text.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import TypeAlias

from num2words import num2words

from refprep.text.words import is_spaceless, primary_language

Reading: TypeAlias = tuple[str, ...]

_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_GROUPED = re.compile(r"^\d{1,3}(?:[.,]\d{3})+$")
_ROMAN = re.compile(r"^([IVXLC]{2,})('s)?$")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_ZH_DIGITS = "零一二三四五六七八九"
_ZH_UNITS = ("", "十", "百", "千")

# What the word after the sign is, by language; English where a language has none of its own.
_SIGNS: dict[str, dict[str, str]] = {
    "en": {"&": "and", "%": "percent", "+": "plus", "=": "equals", "@": "at", "°": "degrees", "$": "dollars", "£": "pounds", "€": "euros"},
    "de": {"&": "und", "%": "prozent", "+": "plus", "=": "gleich", "@": "at", "°": "grad", "$": "dollar", "£": "pfund", "€": "euro"},
    "fr": {"&": "et", "%": "pour cent", "+": "plus", "=": "egale", "@": "arobase", "°": "degres", "$": "dollars", "£": "livres", "€": "euros"},
    "es": {"&": "y", "%": "por ciento", "+": "mas", "=": "igual", "@": "arroba", "°": "grados", "$": "dolares", "£": "libras", "€": "euros"},
    "it": {"&": "e", "%": "per cento", "+": "piu", "=": "uguale", "@": "chiocciola", "°": "gradi", "$": "dollari", "£": "sterline", "€": "euro"},
    "pt": {"&": "e", "%": "por cento", "+": "mais", "=": "igual", "@": "arroba", "°": "graus", "$": "dolares", "£": "libras", "€": "euros"},
}  # fmt: skip

_ABBREVIATIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "mr": ("mister",), "mrs": ("missus", "misses"), "ms": ("miz", "miss"), "dr": ("doctor", "drive"),
        "st": ("saint", "street"), "prof": ("professor",), "capt": ("captain",), "col": ("colonel",),
        "gen": ("general",), "lt": ("lieutenant",), "sgt": ("sergeant",), "rev": ("reverend",), "hon": ("honorable",),
        "jr": ("junior",), "sr": ("senior",), "etc": ("et cetera", "etcetera"), "vs": ("versus",), "no": ("number",),
        "mt": ("mount",), "ft": ("feet", "foot"), "ave": ("avenue",), "dept": ("department",), "eg": ("for example",),
        "ie": ("that is",), "approx": ("approximately",), "ok": ("okay",),
        "km": ("kilometers", "kilometres"), "kg": ("kilograms",), "lbs": ("pounds",), "oz": ("ounces",),
    },
    "de": {
        "dr": ("doktor",), "hr": ("herr",), "fr": ("frau",), "prof": ("professor",), "str": ("strasse",),
        "usw": ("und so weiter",), "zb": ("zum beispiel",), "bzw": ("beziehungsweise",), "ca": ("circa",),
        "st": ("sankt",), "nr": ("nummer",), "ua": ("unter anderem",), "dh": ("das heisst",), "evtl": ("eventuell",),
    },
    "fr": {"m": ("monsieur",), "mme": ("madame",), "mlle": ("mademoiselle",), "dr": ("docteur",), "st": ("saint",), "ste": ("sainte",), "etc": ("et cetera",)},
    "es": {"sr": ("senor",), "sra": ("senora",), "srta": ("senorita",), "dr": ("doctor",), "dra": ("doctora",), "ud": ("usted",), "uds": ("ustedes",), "etc": ("etcetera",)},
    "it": {"sig": ("signor",), "sigra": ("signora",), "dott": ("dottor", "dottore"), "prof": ("professor", "professore"), "ecc": ("eccetera",)},
    "pt": {"sr": ("senhor",), "sra": ("senhora",), "dr": ("doutor",), "dra": ("doutora",), "etc": ("etcetera",)},
    "nl": {"dhr": ("de heer",), "mevr": ("mevrouw",), "dr": ("dokter",), "bijv": ("bijvoorbeeld",), "enz": ("enzovoort",)},
}  # fmt: skip

# English contractions, apostrophe taken off: the ending that is left and what it can stand for.
_CONTRACTIONS_EN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("won't", ("will not",)), ("can't", ("cannot", "can not")), ("shan't", ("shall not",)), ("n't", (" not",)),
    ("'re", (" are",)), ("'ll", (" will", " shall")), ("'ve", (" have",)), ("'m", (" am",)),
    ("'d", (" would", " had")), ("'s", (" is", " has")),
)  # fmt: skip

FILLERS = frozenset(
    {"uh", "um", "uhm", "er", "erm", "hm", "hmm", "mm", "mhm", "ah", "eh", "äh", "ähm", "euh", "えー", "嗯"}
)


def fold(text: str) -> str:
    """Compatibility form, case-folded, Latin letters without their marks, letters and digits only.

    Marks stay on other scripts: か and が are different sounds.
    """
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    kept: list[str] = []
    base_is_latin = False
    for ch in decomposed:
        if unicodedata.combining(ch):
            if not base_is_latin:
                kept.append(ch)
            continue
        base_is_latin = ch.isascii() or "LATIN" in unicodedata.name(ch, "")
        if ch.isalnum() or unicodedata.category(ch) in ("Mc", "Mn"):
            kept.append(ch)
    return unicodedata.normalize("NFC", "".join(kept))


@functools.lru_cache(maxsize=65_536)
def readings(word: str, language: str) -> tuple[Reading, ...]:
    """The ways a written word can be read aloud, the plainest first.

    Args:
        word: As written, punctuation included.
        language: BCP 47; picks number words, signs and abbreviations. English signs and digit-by-digit numbers
            stand in where a language has none here.

    Returns:
        At least one reading; the only one is empty for a word of nothing but punctuation.
    """
    code = primary_language(language)
    plain = word.replace("\u2019", "'").replace("\u02bc", "'")
    parts = [p for p in re.split(r"[-\u2010-\u2015/_\u2026]+|\.{2,}|(?<=\D),(?=\D)", plain) if p]
    choices: list[list[Reading]] = []
    for part in parts:
        choices.append(_part_readings(part, code))
    found: list[Reading] = [()]
    for options in choices:
        found = [head + option for head in found[:8] for option in options]
    distinct = tuple(dict.fromkeys(found))
    return distinct or ((),)


def _part_readings(part: str, code: str) -> list[Reading]:
    if any(ch.isdigit() for ch in part):
        return _number_readings(part, code)
    signs = _SIGNS.get(code, _SIGNS["en"])
    stripped = part.strip("\"'()[]{}.,;:!?¡¿«»„“”‘")
    if stripped in signs:
        return [tuple(signs[stripped].split())]
    plain = fold(part)
    if not plain:
        return [()]
    if len(plain) > 1 and any(is_spaceless(ch) for ch in plain):
        return [tuple(plain)]
    found: list[Reading] = [(plain,)]
    for expansion in _ABBREVIATIONS.get(code, {}).get(plain, ()):
        found.append(tuple(fold(w) for w in expansion.split()))
    if code == "en" and "'" in stripped:
        lowered = stripped.casefold()
        for ending, expansions in _CONTRACTIONS_EN:
            if lowered.endswith(ending):
                stem = lowered[: -len(ending)]
                found += [tuple(fold(w) for w in (stem + e).split()) for e in expansions]
                break
    roman = _ROMAN.match(stripped)
    if roman is not None:
        found += _roman_readings(roman.group(1), code, genitive=bool(roman.group(2)))
    letters = re.sub(r"[^\w]", "", stripped)
    if 2 <= len(letters) <= 5 and letters.isupper():
        found.append(tuple(fold(ch) for ch in letters))  # an acronym may be spelt out
    return found


def _roman_readings(numeral: str, code: str, *, genitive: bool) -> list[Reading]:
    """Richard III is read as an ordinal, chapter III as a cardinal."""
    values = [_ROMAN_VALUES[ch] for ch in numeral]
    value = sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))
    tail = "s" if genitive and code == "en" else ""
    found: list[Reading] = []
    for kind in ("cardinal", "ordinal"):
        for text in _words_for(value, code, kind):
            words = [fold(w) for w in re.split(r"[\s-]+", text + tail)]
            found.append(tuple(words))
            if code == "en" and kind == "ordinal":
                found.append(("the", *words))
    return found


def _number_readings(part: str, code: str) -> list[Reading]:
    """Every reading of a chunk with digits: cardinal, year, ordinal, pairs, digit by digit, and with its signs."""
    pieces: list[list[str]] = []
    position = 0
    signs = _SIGNS.get(code, _SIGNS["en"])
    trailing: list[str] = []
    for match in _DIGITS.finditer(part):
        before = part[position : match.start()]
        # A currency sign stands before the number and is read after it.
        trailing += [signs[ch] for ch in before if ch in "$£€"]
        rest = fold("".join(ch for ch in before if ch not in signs))
        if rest:
            pieces.append([rest])
        ordinal = re.match(r"(st|nd|rd|th|er|ère|eme|ème|º|ª|e)\b", part[match.end() :])
        pieces.append(_read_number(match.group(), code, is_ordinal=ordinal is not None))
        position = match.end() + (ordinal.end() if ordinal else 0)
        if trailing:
            pieces.append([trailing.pop()])
    tail = part[position:]
    if tail.startswith("s") and code == "en" and pieces:
        pieces[-1] = [p + "s" if not p.endswith("y") else p[:-1] + "ies" for p in pieces[-1]]
        tail = tail[1:]
    pieces += [[signs[ch]] for ch in tail if ch in signs]
    rest = fold("".join(ch for ch in tail if ch not in signs))
    if rest:
        pieces.append([rest])
    found: list[str] = [""]
    for options in pieces:
        found = [f"{head} {option}" for head in found[:6] for option in options]
    if code in ("zh", "ja", "ko", "th"):
        return list(dict.fromkeys(tuple(fold("".join(f.split()))) for f in found))
    return list(dict.fromkeys(tuple(t for w in re.split(r"[\s-]+", f) if (t := fold(w))) for f in found))


def _read_number(digits: str, code: str, *, is_ordinal: bool) -> list[str]:
    if _GROUPED.match(digits):
        digits = re.sub(r"[.,]", "", digits)
    if not digits.isdigit():
        fields = re.split(r"[.,:]", digits)
        point = {
            "en": " point ",
            "de": " komma ",
            "fr": " virgule ",
            "es": " coma ",
            "it": " virgola ",
            "pt": " virgula ",
        }
        whole = [_read_number(f, code, is_ordinal=False) for f in fields]
        joined = [
            " ".join(w[0] for w in whole),
            point.get(code, " ").join([whole[0][0], *(_spell(f, code) for f in fields[1:])]),
        ]
        return joined if ":" in digits else joined[::-1]
    found: list[str] = []
    if len(digits) <= 15:
        value = int(digits)
        kinds = ["ordinal", "cardinal"] if is_ordinal else ["cardinal", "year", "ordinal"]
        for kind in kinds:
            if kind == "year" and not (len(digits) == 4 and value >= 1000):
                continue
            if kind == "ordinal" and value > 3000:
                continue
            found += _words_for(value, code, kind)
    if code == "en" and len(digits) == 4:
        found.append(f"{_first(int(digits[:2]), code)} {_first(int(digits[2:]), code)}")
        found.append(
            f"{_first(int(digits[:2]), code)} oh {_first(int(digits[3]), code)}"
            if digits[2] == "0"
            else found[-1]
        )
    found.append(_spell(digits, code))
    if code == "en" and "0" in digits:
        found.append(_spell(digits, code).replace("zero", "oh"))
    return list(dict.fromkeys(found))


def _words_for(value: int, code: str, kind: str) -> list[str]:
    if code == "zh":
        return [_chinese_number(value)] if kind == "cardinal" and value < 10**8 else []
    try:
        text = str(num2words(value, lang=code or "en", to=kind))
    except (NotImplementedError, KeyError, OverflowError, ValueError, TypeError, AttributeError, IndexError):
        return []  # num2words lacks this language or this form; digit by digit remains
    found = [text]
    if code == "en" and " and " in text:
        found.append(text.replace(" and ", " "))
    return found


def _first(value: int, code: str) -> str:
    found = _words_for(value, code, "cardinal")
    return found[0] if found else str(value)


def _spell(digits: str, code: str) -> str:
    if code == "zh":
        return "".join(_ZH_DIGITS[int(d)] for d in digits)
    return " ".join(_first(int(d), code) for d in digits)


def _chinese_number(value: int) -> str:
    """Chinese cardinal below 10^8: num2words has no Chinese."""
    if value >= 10_000:
        rest = value % 10_000
        low = _chinese_number(rest) if rest else ""
        return _chinese_number(value // 10_000) + "万" + ("零" if 0 < rest < 1_000 else "") + low
    text, digits = "", str(value)
    for place, digit in enumerate(digits):
        power = len(digits) - 1 - place
        if digit != "0":
            text += _ZH_DIGITS[int(digit)] + _ZH_UNITS[power]
        elif text and not text.endswith("零") and any(d != "0" for d in digits[place:]):
            text += "零"
    if 10 <= value < 20:
        text = text[1:]  # 十二, not 一十二
    return text or "零"


def sound_key(token: str, language: str) -> str:
    """What two spellings of one sound share: toneless pinyin for Chinese when pypinyin is there, else the token."""
    if primary_language(language) == "zh" and token and is_spaceless(token[0]):
        return _pinyin(token)
    return token


@functools.lru_cache(maxsize=65_536)
def _pinyin(token: str) -> str:
    try:
        from pypinyin import lazy_pinyin
    except ImportError:
        return token
    return "".join(lazy_pinyin(token))
