"""One written word -> every way to read it aloud."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable

from refprep.text.normalise import Reading, fold, plain_form
from refprep.text.readings.abbreviations import abbreviation_texts
from refprep.text.readings.acronyms import roman_readings, spelt_out
from refprep.text.readings.clock import clock_texts
from refprep.text.readings.contractions import contraction_texts
from refprep.text.readings.dates import date_texts, short_month
from refprep.text.readings.fractions import fraction_texts
from refprep.text.readings.measures import measure_texts, unit_texts
from refprep.text.readings.money import amount_texts, currency_names, signed
from refprep.text.readings.numbers import (
    all_spoken,
    cardinals,
    digit_by_digit,
    number_texts,
    ordinals,
    spoken,
)
from refprep.text.readings.signs import DOT, MINUS, SLASH, UNTIL, sign_texts
from refprep.text.words import is_spaceless, primary_language

_EDGES = "\"'()[]{}.,;:!?¡¿«»„“”‘’\u2039\u203a*_…、。，！？；：「」『』（）【】《》〈〉·・~"
_PIECES = re.compile(r"\d+(?:[.,:']\d+)*|[^\W\d_]+(?:['.][^\W\d_]+)*(?:\.(?=$|\W))?|.", re.DOTALL)
_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015"
# Endings written onto a number that make it an ordinal, and those that are letters of their own everywhere else.
_ORDINAL_ENDINGS = {
    "en": ("st", "nd", "rd", "th"), "fr": ("er", "ère", "re", "e", "ème", "eme", "nd", "nde", "es"), "es": ("o", "a", "er", "ª", "º", "os", "as"),
    "it": ("o", "a", "°"), "pt": ("o", "a", "os", "as", "°"), "nl": ("e", "de", "ste"), "sv": ("e", "a"), "de": ("te", "ten", "ter", "tes"),
}  # fmt: skip
_POINT_IS_ORDINAL = ("de", "da", "no", "nb", "nn", "fi", "cs", "pl", "hu")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_MOST_READINGS = 96
# Numbers without a name, and what is no word: read by letters and digits.
_LONGEST_WORD = 200
_ENDLESS = re.compile(r"(?:\d[.,:']?){19}")
_ENDS_IN_APOSTROPHE = frozenset({"o'", "'n'", "po'", "pa'"})


@functools.lru_cache(maxsize=65_536)
def readings(word: str, language: str) -> tuple[Reading, ...]:
    """The ways a written word can be read aloud, the plainest first.

    Args:
        word: As written, punctuation included.
        language: BCP 47; see ``refprep.text.readings`` for what is known of which.

    Returns:
        At least one reading, and none that is empty, unless the word is nothing but punctuation: then that alone.
    """
    code = primary_language(language)
    plain = plain_form(word)
    if len(plain) > _LONGEST_WORD or _ENDLESS.search(plain):
        return (_digit_by_digit(plain, code),)
    core = _strip(plain)
    found = _whole(core, code) or _in_pieces(core, code)
    distinct = tuple(dict.fromkeys(r for r in found if r))[:_MOST_READINGS]
    return distinct or (_letters(plain),)


def _strip(plain: str) -> str:
    """Without the punctuation around it; an apostrophe before it ('em, '90s) and a point after it say something."""
    core = plain.lstrip(_EDGES.replace("'", "")).rstrip(_EDGES.replace(".", "").replace("'", ""))
    core = re.sub(r"(?:\.{2,}|[,;:!?]+\.*)$", "", core)
    if core.startswith("'") and core.endswith("'") and len(core) > 2 and core.lower() != "'n'":
        core = core[1:-1]
    core = core.rstrip(_EDGES.replace(".", "").replace("'", ""))
    # A dash that opens or closes a word is punctuation, except before a number.
    core = core.rstrip(_DASHES)
    return core if re.match(rf"[{_DASHES}][$£€¥]?\d", core) else core.lstrip(_DASHES)


def _digit_by_digit(plain: str, code: str) -> Reading:
    """Digits one by one, and the letters between them."""
    tokens: list[str] = []
    for piece in re.findall(r"\d|[^\W\d_]+", plain):
        tokens += spoken(digit_by_digit(piece, code)[0]) if piece.isdecimal() else _letters(piece)
    return tuple(tokens)


def _letters(text: str) -> Reading:
    """A word by its letters alone: itself, or its characters where it is of a script without spaces."""
    plain = fold(text)
    if not plain:
        return ()
    return tuple(plain) if any(is_spaceless(ch) for ch in plain) else (plain,)


def _whole(core: str, code: str) -> list[Reading]:
    """Readings of words whose parts mean something only together; where there are any, they are all."""
    bare = core.rstrip(".'")
    if not bare:
        return []
    if not any(ch.isdecimal() for ch in bare):
        texts: Iterable[str] = (
            sign_texts(bare, code) or currency_names(bare, code)[0] if not bare[0].isalnum() else ()
        )
        return all_spoken(texts)
    bare = re.sub(f"[{_DASHES}]", "-", bare) if core[0] in _DASHES else bare
    found = amount_texts(bare, code) or measure_texts(bare.rstrip('"'), code) or _percent(bare, code)
    if not found and re.search(r"\d['\"]\d|\d\"$", core):
        found = measure_texts(core, code)
    if found:
        # "30s" is half a minute or a decade.
        decades = _in_pieces(core, code) if code == "en" and re.fullmatch(r"\d+0s", bare) else []
        return [*decades, *all_spoken(found)]
    found = [
        *fraction_texts(bare, code),
        *clock_texts(bare, code),
        *clock_texts(core, code),
        *date_texts(bare, code),
    ]
    if "/" in bare and bare.count("/") == 2 and found:
        return all_spoken(found)
    return [*all_spoken(found), *_in_pieces(core, code)] if found else []


def _percent(bare: str, code: str) -> list[str]:
    """Chinese says the hundred first: 百分之五十."""
    match = re.fullmatch(r"([-+])?(\d[\d.,]*)%", bare)
    if match is None or code != "zh":
        return []
    return signed([f"百分之{n}" for n in number_texts(match.group(2), code)], match.group(1) == "-", code)


def _in_pieces(core: str, code: str) -> list[Reading]:
    """Numbers, words and signs one after another, each in all its ways."""
    whole = _word_options(core, code) if not any(ch.isdecimal() for ch in core) else _unit_of(core, code)
    if code == "en":
        core = re.sub(r"(?<=\d)'s$", "s", core)
    pieces = _PIECES.findall(core)
    if len(pieces) == 1 and not pieces[0][0].isdecimal():
        return whole
    options: list[list[Reading]] = []
    read_pieces: list[str] = []
    index = 0
    while index < len(pieces):
        piece, after = pieces[index], "".join(pieces[index + 1 : index + 2])
        if piece[0].isdecimal():
            read, used = _number_options(piece, after, pieces, index, code)
            options.append(read)
            index += used
        elif piece[0].isalpha():
            options.append(_word_options(piece, code) or [_letters(piece)])
        else:
            options.append(_sign_options(piece, pieces, index, code))
        read_pieces.append(piece)
        index += 1
    if not all(options):
        return whole
    num_open = sum(len(o) > 1 for o in options)
    most = max(2, int(_MOST_READINGS ** (1.0 / max(1, num_open))))
    if sum(p[0].isdecimal() for p in pieces) > 1:
        # A telephone number: digit by digit throughout, its dashes silent.
        for pick in (-1, -2):
            parts = [
                o[max(pick, -len(o))] if p[0].isdecimal() else min(o, key=len)
                for p, o in zip(read_pieces, options, strict=True)
            ]
            whole.append(tuple(token for part in parts for token in part))
    combined = itertools.islice(
        itertools.product(*(o[:most] if num_open > 1 else o for o in options)), _MOST_READINGS
    )
    return [*(tuple(token for part in parts for token in part) for parts in combined), *whole]


def _unit_of(core: str, code: str) -> list[Reading]:
    return [*all_spoken(unit_texts(core, code)), *all_spoken(abbreviation_texts(fold(core), core, code))]


def _number_options(
    piece: str, after: str, pieces: list[str], index: int, code: str
) -> tuple[list[Reading], int]:
    """(readings, how many of the pieces after it belong to the number)."""
    if not re.search(r"[^\d]", piece):
        if after.rstrip(".") in _ORDINAL_ENDINGS.get(code, ()) and (found := ordinals(int(piece), code)):
            return all_spoken(
                [*found, *(cardinals(int(piece), code)[:1] if code in ("it", "es", "pt") else ())]
            ), 1
        if after in ("s", "'s") and code == "en":
            return all_spoken([_plural(t) for t in number_texts(piece, code)]), 1
        if after in ("er", "ern") and code == "de":
            return all_spoken([t + after for t in number_texts(piece, code)]), 1
        if after in ("k", "K") and code == "en":
            return all_spoken(
                [
                    *(f"{t} k" for t in number_texts(piece, code)),
                    *(f"{t} thousand" for t in number_texts(piece, code)),
                ]
            ), 1
    texts = list(number_texts(piece, code))
    if not texts:
        # Several numbers: a time with seconds, a score, a version.
        split = [number_texts(p, code) for p in re.split(r"[.,:']", piece)]
        texts = [
            " ".join(t[0] for t in split),
            " ".join(digit_by_digit(p, code)[0] for p in re.split(r"[.,:']", piece)),
        ]
        if len(split) == 2:
            texts += [f"{split[0][0]} {until} {split[1][0]}" for until in UNTIL.get(code, UNTIL["en"])]
        if "." in piece:
            texts += [
                f" {DOT.get(code, DOT['en'])} ".join(t[0] for t in split),
                " point ".join(t[0] for t in split),
            ]
    if after == "." and index + 2 == len(pieces) and piece.isdecimal() and code in _POINT_IS_ORDINAL:
        texts += ordinals(int(piece), code)
    return all_spoken(texts), 0


def _plural(text: str) -> str:
    return text[:-1] + "ies" if text.endswith("y") else text + ("es" if text.endswith("x") else "s")


def _sign_options(sign: str, pieces: list[str], index: int, code: str) -> list[Reading]:
    before, after = pieces[index - 1] if index else "", pieces[index + 1] if index + 1 < len(pieces) else ""
    is_between_numbers = before[:1].isdecimal() and after[:1].isdecimal()
    num_numbers = sum(p[0].isdecimal() for p in pieces)
    if sign in _DASHES:
        if is_between_numbers and num_numbers == 2:
            return [*all_spoken(UNTIL.get(code, UNTIL["en"])), ()]
        return all_spoken(MINUS.get(code, MINUS["en"])) if not before and after[:1].isdecimal() else [()]
    if sign == "/":
        return [(), spoken(SLASH.get(code, SLASH["en"]))]
    if sign == "." and before and after:
        return [(), spoken(DOT.get(code, DOT["en"]))]
    if sign == "×" or (sign in "xX" and is_between_numbers):
        return all_spoken(sign_texts("×", code))
    if sign in "~<>" and not (before or after)[:1].isdecimal() and not after[:1].isdecimal():
        return [()]
    return all_spoken(sign_texts(sign, code) or currency_names(sign, code)[0]) or [()]


def _word_options(written: str, code: str) -> list[Reading]:
    """Readings of a word of letters, with the points and apostrophes it is written with."""
    has_elision = written.lower() in _ENDS_IN_APOSTROPHE or re.fullmatch(r"[a-z]{2,}in'", written.lower())
    bare = written if has_elision else written.rstrip("'")
    plain = fold(bare)
    if not plain:
        return []
    if any(is_spaceless(ch) for ch in plain):
        return [tuple(plain)]
    is_one_word = re.fullmatch(r"[^\W\d_]+(?:['.][^\W\d_]+)*[.']?|'[^\W\d_]+'?", bare) is not None
    found: list[Reading] = []
    if is_one_word and not re.search(r"[^\W\d_]{2,}\.[^\W\d_]{2,}", bare):
        found.append((plain,))
        if code == "de" and bare != (spelt := bare.translate(_UMLAUTS)):
            found.append((fold(spelt),))
    elif "." in bare and is_one_word:
        dot = DOT.get(code, DOT["en"])
        found += [spoken(bare.replace(".", " ")), spoken(f" {dot} ".join(p for p in bare.split(".") if p))]
    if abbreviations := abbreviation_texts(plain, written, code):
        found += all_spoken(abbreviations)
    full_month = short_month(plain, code)
    texts = contraction_texts(bare, code)
    # An English elision before a word it does not know is a quotation mark.
    if bare.startswith("'") and not texts:
        texts = contraction_texts(bare[1:], code)
    found += all_spoken([*texts, *([full_month] if full_month else ())])
    unit = bare.rstrip(".")
    if len(unit) > 1 and unit.lower() not in _UNITS_THAT_ARE_WORDS:
        found += all_spoken(unit_texts(unit, code))
    found += roman_readings(unit, code)
    found += spelt_out(bare)
    return found


# As a word alone; after a number they are read as units (``refprep.text.readings.neighbours``).
_UNITS_THAT_ARE_WORDS = frozenset({"in", "mi", "std"})
