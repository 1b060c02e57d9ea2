"""Amounts of money: the sign stands where it likes, its name comes after the number, cents come last."""

from __future__ import annotations

import re

from refprep.text.readings.numbers import cardinals, interpretations, number_texts
from refprep.text.readings.signs import MINUS, UNTIL

# Sign or code -> (one, several, hundredths); names by language.
_Names = tuple[tuple[str, ...], tuple[str, ...]]
_NAMES: dict[str, dict[str, _Names]] = {
    "en": {
        "$": (("dollar", "dollars"), ("cent", "cents")), "£": (("pound", "pounds"), ("penny", "pence", "p")), "€": (("euro", "euros"), ("cent", "cents")),
        "¥": (("yen", "yuan"), ()), "₹": (("rupee", "rupees"), ("paisa", "paise")), "₩": (("won",), ()), "₽": (("ruble", "rubles"), ("kopek", "kopeks")),
        "CHF": (("swiss franc", "swiss francs", "franc", "francs"), ()), "¢": (("cent", "cents"), ()),
    },
    "de": {
        "$": (("dollar",), ("cent",)), "£": (("pfund",), ("pence",)), "€": (("euro",), ("cent",)), "¥": (("yen", "yuan"), ()),
        "CHF": (("franken", "schweizer franken"), ("rappen",)), "₽": (("rubel",), ()),
    },
    "fr": {
        "$": (("dollar", "dollars"), ("cent", "cents")), "£": (("livre", "livres"), ("pence",)), "€": (("euro", "euros"), ("centime", "centimes")),
        "¥": (("yen", "yens", "yuan", "yuans"), ()), "CHF": (("franc", "francs", "francs suisses"), ("centimes",)),
    },
    "es": {
        "$": (("dólar", "dólares", "peso", "pesos"), ("centavo", "centavos")), "£": (("libra", "libras"), ("peniques",)),
        "€": (("euro", "euros"), ("céntimo", "céntimos")), "¥": (("yen", "yenes", "yuanes"), ()),
    },
    "it": {
        "$": (("dollaro", "dollari"), ("centesimo", "centesimi")), "£": (("sterlina", "sterline"), ("pence",)), "€": (("euro",), ("centesimo", "centesimi")),
        "¥": (("yen", "yuan"), ()), "CHF": (("franco", "franchi", "franchi svizzeri"), ("centesimi",)),
    },
    "pt": {
        "$": (("dólar", "dólares"), ("cêntimos", "centavos")), "£": (("libra", "libras"), ("pence",)), "€": (("euro", "euros"), ("cêntimo", "cêntimos")),
        "R$": (("real", "reais"), ("centavo", "centavos")), "¥": (("iene", "ienes"), ()),
    },
    "nl": {"$": (("dollar",), ("cent",)), "£": (("pond",), ("pence",)), "€": (("euro",), ("cent",))},
    "sv": {"$": (("dollar",), ("cent",)), "£": (("pund",), ()), "€": (("euro",), ("cent",)), "kr": (("krona", "kronor"), ("öre",))},
    "ru": {"$": (("доллар", "доллара", "долларов"), ()), "€": (("евро",), ()), "₽": (("рубль", "рубля", "рублей"), ())},
    "pl": {"$": (("dolar", "dolary", "dolarów"), ()), "€": (("euro",), ()), "zł": (("złoty", "złote", "złotych"), ())},
    "ko": {"$": (("달러",), ()), "€": (("유로",), ()), "₩": (("원",), ())},
    "zh": {"$": (("美元", "美金"), ()), "£": (("英镑",), ()), "€": (("欧元",), ()), "¥": (("元", "块", "块钱", "人民币"), ()), "₩": (("韩元",), ())},
    "ja": {"$": (("ドル",), ("セント",)), "£": (("ポンド",), ()), "€": (("ユーロ",), ()), "¥": (("円", "えん"), ()), "₩": (("ウォン",), ())},
}  # fmt: skip
# Other ways to write the same money, and the name of the country some of them add.
_SAME = {
    "US$": "$", "USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "¥", "RMB": "¥", "INR": "₹", "RS": "₹", "KRW": "₩", "RUB": "₽",
    "BRL": "R$", "SEK": "kr", "KR": "kr", "PLN": "zł", "ZŁ": "zł", "FR": "CHF", "SFR": "CHF", "R$": "R$", "CHF": "CHF",
}  # fmt: skip
_OF_COUNTRY = {
    "en": {
        "US$": "us",
        "USD": "us",
        "A$": "australian",
        "AUD": "australian",
        "C$": "canadian",
        "CAD": "canadian",
    },
    "de": {"US$": "us", "USD": "us"},
}
_AND = {"en": "and", "de": "und", "fr": "et", "es": "con", "it": "e", "pt": "e", "nl": "en"}
_SCALES = {
    "k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million", "bn": "billion", "B": "billion", "b": "billion", "tn": "trillion", "T": "trillion",
}  # fmt: skip
# What may stand between million and the money: "dos millones de euros".
_OF = {"es": "de", "fr": "de", "pt": "de", "it": "di"}
_SIGN = r"(?:US|A|C|R|HK|NZ)?\$|[£€¥₹₩₽¢]|[A-Z]{2,3}(?=\d)|(?<=\d)[A-Z]{3}|kr|zł"
_AMOUNT = re.compile(rf"(-)?({_SIGN})?(-)?(\d[\d.,']*?)(k|K|m|M|mn|bn|B|b|tn|T)?({_SIGN}|p)?")
_RANGE = re.compile(rf"({_SIGN})(\d[\d.,]*)[-\u2013](?:\1)?(\d[\d.,]*)")


def currency_names(sign: str, code: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(names of the money, names of its hundredths); both empty for what is no currency."""
    known = {**_NAMES["en"], **_NAMES.get(code, {})}
    upper = sign.strip(".").upper()
    key = sign if sign in known else "$" if upper in ("A$", "C$", "AUD", "CAD") else _SAME.get(upper, "")
    if key not in known:
        return (), ()
    names, cents = known[key]
    country = _OF_COUNTRY.get(code, {}).get(upper)
    return (*names, *(f"{country} {name}" for name in names if country)), cents


def amount_texts(core: str, code: str) -> list[str]:
    """Ways to say an amount with its sign: "$1.50", "5€", "£3bn"; empty for anything else."""
    span = _RANGE.fullmatch(core)
    if span is not None:
        names = currency_names(span.group(1), code)[0]
        ends = [number_texts(digits, code)[:4] for digits in span.group(2, 3)]
        until = UNTIL.get(code, UNTIL["en"])
        return [f"{a} {u} {b} {name}" for a in ends[0] for u in until for b in ends[1] for name in names]
    match = _AMOUNT.fullmatch(core)
    if match is None:
        return []
    minus, before, inner, digits, scale, after = match.groups()
    if (before is None) == (after is None) or (scale and code != "en"):
        return []
    if after == "p":
        names = ("pence", "p", "penny") if code == "en" else ()
        cents: tuple[str, ...] = ()
    else:
        names, cents = currency_names(before or after, code)
    if not names:
        return []
    return signed(_amounts(digits, scale or "", names, cents, code), bool(minus or inner), code)


def signed(texts: list[str], is_negative: bool, code: str) -> list[str]:
    """The texts after the word for minus, where there is one to say."""
    if not is_negative:
        return texts
    return [f"{minus} {t}" for t in texts for minus in MINUS.get(code, MINUS["en"])]


def _amounts(digits: str, scale: str, names: tuple[str, ...], cents: tuple[str, ...], code: str) -> list[str]:
    found: list[str] = []
    if scale:
        return [f"{n} {_SCALES[scale]} {name}" for n in number_texts(digits, code) for name in names]
    for whole, fraction in interpretations(digits, code):
        if len(fraction) == 2:
            found += _with_cents(int(whole), int(fraction), names, cents, code)
    numbers = number_texts(digits, code)
    found += [f"{n} {name}" for n in numbers for name in names]
    if code in _OF:
        found += [
            f"{n} {_OF[code]} {name}"
            for n in numbers
            for name in names
            if re.search(r"(?:ll|lh)[ioõe]+(?:ns|n|es|s|i)?$", n)
        ]
    return found


def _with_cents(
    whole: int, fraction: int, names: tuple[str, ...], cents: tuple[str, ...], code: str
) -> list[str]:
    heads = [f"{n} {name}" for n in cardinals(whole, code) for name in names]
    if not fraction:
        return heads
    tails = cardinals(fraction, code)
    found = [f"{head} {tail}" for head in heads for tail in tails[:3]]
    both = [f"{tail} {cent}" for tail in tails for cent in cents]
    if not whole:
        return [*both, *found]
    found += [f"{head} {tail}" for head in heads for tail in both]
    if code in _AND:
        found += [f"{head} {_AND[code]} {tail}" for head in heads for tail in (*both, *tails[:3])]
    if code == "en" and fraction >= 10:
        found += [f"{n} {tail}" for n in cardinals(whole, code)[:2] for tail in tails]
    return found


def scaled_texts(amount: str, scale: str, code: str) -> list[str]:
    """Ways to say "$3.5" followed by "million": the name of the money comes after both."""
    match = _AMOUNT.fullmatch(amount)
    if match is None or match.group(5):
        return []
    minus, before, inner, digits, _, after = match.groups()
    if (before is None) == (after is None) or after == "p":
        return []
    names, _ = currency_names(before or after, code)
    of = [" "] + ([f" {_OF[code]} "] if code in _OF else [])
    numbers = number_texts(digits, code)
    return signed(
        [f"{n} {scale}{link}{name}" for n in numbers for link in of for name in names],
        bool(minus or inner),
        code,
    )
