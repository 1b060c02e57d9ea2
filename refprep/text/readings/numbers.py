"""Numbers read aloud: whole, as a year, in pairs, digit by digit, decimal, ordinal.

num2words knows the words of some fifty languages; Chinese and Japanese have modules of their own. A number in any other
language is its digits, so that it still equals itself, however its digits are grouped.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from num2words import num2words

from refprep.text.normalise import Reading, fold
from refprep.text.readings import chinese, japanese
from refprep.text.words import is_spaceless

# Grouped by thousands as the language does, a decimal mark the other way round. Spanish writes both ways, by country;
# so does a language that is not listed.
_POINT_DECIMAL = ("en", "zh", "ja", "ko", "th", "he", "hi", "ms", "fil")
_COMMA_DECIMAL = (
    "de",
    "fr",
    "it",
    "pt",
    "nl",
    "sv",
    "da",
    "no",
    "nb",
    "nn",
    "fi",
    "pl",
    "cs",
    "ru",
    "uk",
    "tr",
    "id",
)
_POINT_WORDS = {
    "en": ("point",), "de": ("komma", "punkt"), "fr": ("virgule", "point"), "es": ("coma", "punto"), "it": ("virgola", "punto"),
    "pt": ("vírgula", "ponto"), "nl": ("komma", "punt"), "sv": ("komma",), "da": ("komma",), "no": ("komma",),
    "zh": ("点",), "ja": ("点", "てん"), "ru": ("запятая",), "pl": ("przecinek",), "ko": ("점",),
}  # fmt: skip
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_LONGEST = 18  # digits that still have a name; longer ones are read digit by digit
_LAST_ORDINAL = 3000

# The last word of a numeral changes with what is counted.
_ENDINGS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "es": (("veintiuno", ("veintiún", "veintiuna")), ("uno", ("un", "una")), ("ientos", ("ientas",)), ("cien", ("ciento",))),
    "pt": (("um", ("uma",)), ("dois", ("duas",)), ("entos", ("entas",))),
    "fr": (("un", ("une",)),),
    "it": (("uno", ("un", "una")),),
    "de": (("eins", ("ein", "eine", "einen", "einem", "einer")), ("zwei", ("zwo",))),
    "sv": (("ett", ("en",)),), "no": (("en", ("ett", "ei")),), "da": (("et", ("en",)),),
    "ru": (("один", ("одна", "одно")), ("два", ("две",))), "pl": (("dwa", ("dwie",)), ("jeden", ("jedna", "jedno"))),
}  # fmt: skip


def spoken(text: str) -> Reading:
    """The tokens of spoken words: cut at spaces and hyphens; a script without spaces gives one per character."""
    tokens: list[str] = []
    for word in re.split(r"[\s-]+", text):
        folded = fold(word)
        if any(is_spaceless(ch) for ch in folded):
            tokens += folded
        elif folded:
            tokens.append(folded)
    return tuple(tokens)


def interpretations(digits: str, code: str) -> list[tuple[str, str]]:
    """(whole, fraction) digits that a written number can mean; the fraction is empty for a whole number.

    Args:
        digits: Digits with ``.``, ``,`` or ``'`` between them.
        code: Primary language.
    """
    if digits.isdecimal():
        return [(digits, "")]
    plain = digits.replace("'", "")
    if plain.isdecimal():
        return [(plain, "")] if re.fullmatch(r"\d{1,3}(?:'\d{3})+", digits) else []
    points = [] if code in _COMMA_DECIMAL else ["."]
    points += [] if code in _POINT_DECIMAL else [","]
    found: list[tuple[str, str]] = []
    for point in points:
        group = "," if point == "." else "."
        whole, _, fraction = plain.partition(point)
        is_whole = whole.isdecimal() or re.fullmatch(rf"\d{{1,3}}(?:[{group}]\d{{3}})+", whole)
        if not is_whole and not (group == "," and _INDIAN.fullmatch(whole)):
            continue
        if point in plain and not fraction.isdecimal():
            continue
        found.append((whole.replace(group, ""), fraction))
    if not found:
        # Written the other country's way; only where that leaves no doubt.
        match = re.fullmatch(r"(\d+)[.,](\d+)", plain)
        found = [(match.group(1), match.group(2))] if match else []
    return found


@functools.lru_cache(maxsize=16_384)
def number_texts(digits: str, code: str) -> tuple[str, ...]:
    """Every way to say a written number without signs, the plainest first; empty if it is no number."""
    found: list[str] = []
    for whole, fraction in interpretations(digits, code):
        if fraction:
            found += _decimals(whole, fraction, code)
        else:
            found += _wholes(whole, code)
    return tuple(dict.fromkeys(found))


def _decimals(whole: str, fraction: str, code: str) -> list[str]:
    found = []
    tails = list(digit_by_digit(fraction, code))
    if code not in ("zh", "ja", "en") and not fraction.startswith("0") and len(fraction) < 4:
        tails += cardinals(int(fraction), code)[:1]
    elif code == "en" and len(fraction) == 2 and fraction[0] != "0":
        tails += cardinals(int(fraction), code)
    for point in _POINT_WORDS.get(code, _POINT_WORDS["en"]):
        for head in cardinals(int(whole), code)[:3]:
            found += [f"{head} {point} {tail}" for tail in tails]
        if fraction == "5" and int(whole) and code == "en":
            found += [f"{head} and a half" for head in cardinals(int(whole), code)[:2]]
        if int(whole) == 0 and code == "en":
            found += [f"{head}{point} {tail}" for tail in tails for head in ("", "oh ")]
    return found


def _wholes(digits: str, code: str) -> list[str]:
    found: list[str] = []
    if len(digits) <= _LONGEST and not (len(digits) > 1 and digits.startswith("0")):
        value = int(digits)
        found += cardinals(value, code)
        if code == "en":
            found += _round_millions(value)
        if len(digits) == 4 and value >= 1000:
            found += years(value, code)
        if code == "en" and len(digits) == 3:
            found += _pair(digits[0], digits[1:])
    return [*found, *digit_by_digit(digits, code)]


def _round_millions(value: int) -> list[str]:
    """3,500,000 is three point five million."""
    scales = ((10**9, "billion"), (10**6, "million"))
    scale, name = next((s for s in scales if value >= s[0]), (0, ""))
    if not scale or value % (scale // 100):
        return []
    tenths = f"{value // scale}.{value % scale * 100 // scale:02}".rstrip("0").rstrip(".")
    return (
        [f"{text} {name}" for text in number_texts(tenths, "en") if "hundred" not in text][:6]
        if "." in tenths
        else []
    )


def _pair(head: str, tail: str) -> list[str]:
    """Two groups of English digits: "nineteen eighty-four", "twenty oh five"."""
    first = cardinals(int(head), "en")[0]
    if tail == "00":
        return [f"{first} hundred"]
    if tail[0] == "0":
        return [f"{first} oh {cardinals(int(tail), 'en')[0]}"]
    return [f"{first} {cardinals(int(tail), 'en')[0]}"]


def years(value: int, code: str) -> list[str]:
    """Ways to say a year of four digits beyond those of a number."""
    head, tail = divmod(value, 100)
    if code in ("zh", "ja"):
        return []  # digit by digit, which every number has
    found = [] if code in ("ja", "ko", "th") else list(_convert(value, code, "year"))
    if code == "en":
        found += _pair(str(head), f"{tail:02}")
    hundreds = {
        "de": "hundert",
        "sv": "hundra",
        "nl": "honderd",
        "fr": " cent ",
        "da": " hundrede ",
        "no": " hundre ",
    }
    if code in hundreds and 11 <= head <= 19:
        rest = cardinals(tail, code)[0] if tail else ""
        found.append(f"{cardinals(head, code)[0]}{hundreds[code]}{rest}")
        if code in ("nl", "de") and tail >= 10:
            found.append(f"{cardinals(head, code)[0]} {rest}")
    return found


@functools.lru_cache(maxsize=16_384)
def cardinals(value: int, code: str) -> tuple[str, ...]:
    """Ways to say a count; the digits themselves where no words are known."""
    if code == "zh":
        return chinese.cardinals(value)
    if code == "ja":
        return japanese.cardinals(value)
    if code == "pt":
        # Portugal first, Brazil after; the comma of num2words is not spoken.
        found = [
            t.replace(",", "")
            for t in (*_convert(value, "pt", "cardinal"), *_convert(value, "pt_BR", "cardinal"))
        ]
    elif code == "fr":
        found = [t for c in ("fr", "fr_BE", "fr_CH") for t in _convert(value, c, "cardinal")]
    else:
        found = list(_convert(value, code or "en", "cardinal"))
    if not found:
        return (str(value),)
    return tuple(dict.fromkeys(v for text in found for v in _variants(text, code)))


def _variants(text: str, code: str) -> list[str]:
    found = [text]
    if code == "en":
        found = [text, text.replace(" and ", " ")]
        if text.startswith(("one hundred", "one thousand", "one million", "one billion")):
            found += [f"a{t.removeprefix('one')}" for t in found]
    if code == "de":
        # "hundert", "tausend" stand without their "ein"; so do they in Dutch and Swedish as num2words has them.
        for word in ("einhundert", "eintausend"):
            if text.startswith(word):
                found.append(text.removeprefix("ein"))
    if code == "sv" and text.startswith("ett"):
        found += [text.removeprefix("ett"), text.replace("etttusen", "ettusen")]
    if code == "es":
        # num2words says "veintiuno mil"; the language says "veintiún mil".
        found += [re.sub(r"uno (?=mil)", "un ", text.replace("veintiuno mil", "veintiún mil"))]
    if code == "pt":
        found.append(text.replace(" e ", " "))
        found += [t.replace("catorze", "quatorze") for t in found if "catorze" in t]
    for ending, others in _ENDINGS.get(code, ()):
        if text == ending or text.endswith(ending):
            found += [text.removesuffix(ending) + other for other in others]
            break
    return found


@functools.lru_cache(maxsize=4_096)
def ordinals(value: int, code: str) -> tuple[str, ...]:
    """Ways to say a place in an order, of every gender; empty where no words are known or beyond 3000."""
    if value > _LAST_ORDINAL or value < 1:
        return ()
    if code == "zh":
        return tuple(f"第{t}" for t in chinese.cardinals(value))
    if code == "ja":
        return tuple(f"第{t}" for t in japanese.cardinals(value))
    found = list(_convert(value, code or "en", "ordinal"))
    if code == "en":
        found = [v for t in found for v in _variants(t, code)]
    elif code == "de":
        found = [t + ending for t in found for ending in ("", "r", "n", "s", "m")]
    elif code == "fr":
        found += ["première"] if value == 1 else ["second", "seconde"] if value == 2 else []
    elif code in ("es", "it", "pt"):
        found += [t[:-1] + "a" for t in found if t.endswith("o")]
        if code == "es" and value in (1, 3):
            found.append(found[0][:-1])
    return tuple(dict.fromkeys(found))


def digit_by_digit(digits: str, code: str) -> tuple[str, ...]:
    """Every digit by its own name; an English nought is "zero" or "oh"."""
    if code == "zh":
        return chinese.digit_by_digit(digits)
    if code == "ja":
        return japanese.digit_by_digit(digits)
    plain = " ".join(cardinals(int(d), code)[0] for d in digits)
    return (plain, plain.replace("zero", "oh")) if code == "en" and "0" in digits else (plain,)


@functools.lru_cache(maxsize=16_384)
def _convert(value: int, code: str, kind: str) -> tuple[str, ...]:
    try:
        return (str(num2words(value, lang=code, to=kind)),)
    except (NotImplementedError, KeyError, OverflowError, ValueError, TypeError, AttributeError, IndexError):
        return ()  # num2words lacks this language or this form


def all_spoken(texts: Iterable[str]) -> list[Reading]:
    """The readings of spoken texts, each once, none of them empty."""
    return [reading for text in dict.fromkeys(texts) if (reading := spoken(text))]
