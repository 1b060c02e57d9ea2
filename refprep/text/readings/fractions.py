"""Fractions: "1/2", "3/4" and "5½"; also what follows "3" in "3 1/2"."""

from __future__ import annotations

import re

from refprep.text.readings.numbers import cardinals, number_texts, ordinals

_MIXED = re.compile(r"(?:(\d+)\+)?(\d{1,2})/(\d{1,3})")
# Denominator -> (one part, several parts); the first of a half can stand after "and".
_PARTS: dict[str, dict[int, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "en": {2: (("half",), ("halves",)), 4: (("quarter", "fourth"), ("quarters", "fourths"))},
    "de": {2: (("halb", "halbe", "halbes", "halben", "halber"), ("halbe",)), 3: (("drittel",), ("drittel",)), 4: (("viertel",), ("viertel",)), 5: (("fünftel",), ("fünftel",)), 8: (("achtel",), ("achtel",)), 10: (("zehntel",), ("zehntel",))},
    "fr": {2: (("demi", "demie"), ("demis",)), 3: (("tiers",), ("tiers",)), 4: (("quart",), ("quarts",)), 5: (("cinquième",), ("cinquièmes",))},
    "es": {2: (("medio", "media"), ("medios",)), 3: (("tercio",), ("tercios",)), 4: (("cuarto",), ("cuartos",)), 5: (("quinto",), ("quintos",))},
    "it": {2: (("mezzo", "mezza"), ("mezzi",)), 3: (("terzo",), ("terzi",)), 4: (("quarto",), ("quarti",)), 5: (("quinto",), ("quinti",))},
    "pt": {2: (("meio", "meia"), ("meios",)), 3: (("terço",), ("terços",)), 4: (("quarto",), ("quartos",)), 5: (("quinto",), ("quintos",))},
    "nl": {2: (("half", "halve"), ("halven",)), 3: (("derde",), ("derde",)), 4: (("kwart",), ("kwart",))},
}  # fmt: skip
_AND = {"en": "and", "de": "und", "fr": "et", "es": "y", "it": "e", "pt": "e", "nl": "en"}
_OVER = {"en": "over", "de": "durch", "fr": "sur", "es": "sobre", "it": "fratto", "pt": "sobre"}


def fraction_texts(core: str, code: str) -> list[str]:
    """Ways to say a fraction less than one, or a number and one; empty for anything else."""
    match = _MIXED.fullmatch(core)
    if match is None:
        return []
    whole, above, below = match.group(1), int(match.group(2)), int(match.group(3))
    if not 0 < above < below:
        return []
    if code in ("zh", "ja"):
        parts = [
            f"{b}{'分之' if code == 'zh' else '分の'}{a}"
            for b in cardinals(below, code)
            for a in cardinals(above, code)
        ]
        if (above, below) == (1, 2):
            parts += ["半", "一半"] if code == "zh" else ["半"]
        return [f"{w}又{p}" for w in cardinals(int(whole), code) for p in parts] if whole else parts
    parts = _parts(above, below, code)
    link = _AND.get(code, "")
    joined = [f"{link} {p}" for p in parts if link]
    if whole is None:
        # "3 1/2" is three and a half: its second word is read with the "and" before it.
        return [*parts, *joined]
    return [f"{w} {p}" for w in number_texts(whole, code)[:3] for p in (*joined, *parts)]


def _parts(above: int, below: int, code: str) -> list[str]:
    ones, several = _PARTS.get(code, {}).get(below, ((), ()))
    if not ones and code == "en":
        ones = ordinals(below, code)[:1]
        several = tuple(f"{one}s" for one in ones)
    names = ones if above == 1 else several
    found = [f"{n} {name}" for name in names for n in cardinals(above, code)]
    if above == 1 and code == "en":
        found += [f"{'an' if name.startswith('e') else 'a'} {name}" for name in names]
    if above == 1 and below == 2:
        found += names
        if code == "de":
            found += ["einhalb"]
    if code == "de":
        found += [f"{cardinals(above, code)[0]}{name}" for name in names]
    a, b = cardinals(above, code)[0], cardinals(below, code)[0]
    return [*found, f"{a} {_OVER[code]} {b}"] if code in _OVER else found
