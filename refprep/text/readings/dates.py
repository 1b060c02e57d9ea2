"""Dates: all in figures ("2005-05-03"), and a day beside the name of its month ("May 3", "3 mai", "3. Mai")."""

from __future__ import annotations

import re

from refprep.text.normalise import fold
from refprep.text.readings.numbers import cardinals, digit_by_digit, number_texts, ordinals

_MONTHS: dict[str, str] = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
}
# Short forms that are no words of their own language ("mar" is the Spanish sea, "sun" shines, "may" may).
_SHORT: dict[str, str] = {
    "en": "jan feb - apr - - - aug sept oct nov dec", "de": "jan feb - apr - - - aug sept okt nov dez",
    "fr": "janv févr - avr - - juil - sept oct nov déc", "es": "- feb - abr - jun jul - sept oct nov dic",
    "it": "genn febbr - apr - - lug - sett ott nov dic", "pt": "jan fev - abr - jun jul - - - nov dez",
    "nl": "jan feb - apr - - - aug sept okt nov dec", "sv": "jan feb - apr - - - aug sept okt nov dec",
}  # fmt: skip
_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_FIGURES = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})")
_LINK = {"es": "de", "pt": "de"}
# "the", the article a day takes where it is said before its month.
_ARTICLES = {"en": "the", "es": "el", "it": "il", "pt": "", "fr": "le", "de": "der"}


def months(code: str) -> dict[str, int]:
    """Folded names of the months and their short forms -> 1-12; empty for a language without a table."""
    named = {fold(m): k for k, m in enumerate(_MONTHS.get(code, "").split(), 1)}
    short = {fold(m): k for k, m in enumerate(_SHORT.get(code, "").split(), 1) if m != "-"}
    return {**named, **short}


def month_name(number: int, code: str) -> str:
    """The name in full, empty for a language without a table."""
    return _MONTHS[code].split()[number - 1] if code in _MONTHS else ""


def short_month(folded: str, code: str) -> str:
    """The full name of a month's short form; empty for any other word."""
    short = [fold(m) for m in _SHORT.get(code, "").split()]
    return month_name(short.index(folded) + 1, code) if folded and folded in short else ""


def day_and_month_texts(day: int, month: int, code: str) -> list[str]:
    """Ways to say a day of the year."""
    name = month_name(month, code)
    if not name:
        return []
    counted, ranked = cardinals(day, code)[:2], ordinals(day, code)
    if code == "en":
        found = [f"{name} {d}" for d in (*ranked, *counted)] + [f"{name} the {d}" for d in ranked]
        return found + [f"{d} {name}" for d in (*ranked, *counted)] + [
            f"{the}{d} of {name}" for d in ranked for the in ("the ", "")
        ] + [f"the {d} {name}" for d in ranked]  # fmt: skip
    days = [*counted, *(ranked if code in ("de", "nl", "sv") or day == 1 else ())]
    link = f" {_LINK[code]} " if code in _LINK else " "
    return [f"{d}{link}{name}" for d in days]


def date_texts(core: str, code: str) -> list[str]:
    """Ways to say a date in figures, as the language orders them; empty for anything else."""
    match = _ISO.fullmatch(core)
    if match:
        year, month, day = match.groups()
    else:
        match = _FIGURES.fullmatch(core)
        if match is None:
            return []
        day, mark, month, year = match.groups()
        if code == "en" and mark in "/-" and int(day) <= 12:
            # America puts the month first; Britain's order has the same figures and is another date.
            day, month = month, day
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return []
    if code == "zh":
        ends = [f"{cardinals(int(month), code)[0]}月{cardinals(int(day), code)[0]}{d}" for d in "日号"]
        return [f"{y}年{end}" for y in digit_by_digit(year, code) for end in ends]
    if code == "ja":
        return [
            f"{y}年{cardinals(int(month), code)[0]}月{cardinals(int(day), code)[0]}日"
            for y in number_texts(year, code)
        ]
    links = (" ", f" {_LINK[code]} ") if code in _LINK else (" ",)
    years = number_texts(year, code)
    found = [
        f"{d}{link}{y}"
        for d in day_and_month_texts(int(day), int(month), code)
        for y in years
        for link in links
    ]
    # Figure by figure: the third of the fifth.
    ranked, places = ordinals(int(day), code), ordinals(int(month), code)
    if code == "de":
        found += [f"{d} {m} {y}" for d in ranked for m in places for y in years[:3]]
    return found + [
        f"{d} {m} {y}"
        for d in cardinals(int(day), code)[:1]
        for m in cardinals(int(month), code)[:1]
        for y in years
    ]
