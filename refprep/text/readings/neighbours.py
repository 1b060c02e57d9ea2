"""Neighbouring words that are read otherwise than one after the other: "$3.5 million", "May 3", "10 000", "8:30 Uhr"."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from refprep.text.normalise import Reading, fold, plain_form
from refprep.text.readings import japanese
from refprep.text.readings.abbreviations import abbreviation_texts, number_noun
from refprep.text.readings.clock import clock_texts
from refprep.text.readings.dates import day_and_month_texts, months
from refprep.text.readings.measures import unit_texts
from refprep.text.readings.money import amount_texts, currency_names, scaled_texts
from refprep.text.readings.numbers import all_spoken, number_texts
from refprep.text.words import primary_language

_EDGES = '"()[]{},;:!?¡¿«»„“”.'
_SCALE = re.compile(
    r"(?:thousand|million|billion|trillion|hundred|tausend|millionen?|milliarden?|mille|millions?|milliards?|mil|millones|"
    r"millón|milioni?|miliardi?|milh[õã]es|milhão|bilh[õã]es|bilhão|mln|mio|mrd|miljoen|miljard|万|亿|億)"
)
_LONGEST_PART = 5  # of an abbreviation written apart, with its point: "v. Chr."
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º|°|o|ª|\.|e)?")


@dataclass(frozen=True, slots=True)
class Unit:
    """A half-open range of written words and the ways to read them together, none of them empty."""

    first: int
    last: int
    readings: tuple[Reading, ...]


def units(words: Sequence[str], language: str) -> list[Unit]:
    """The runs of a text that have readings of their own, in order; they may overlap.

    Args:
        words: Written words.
        language: BCP 47, of all of them.
    """
    code = primary_language(language)
    found: list[Unit] = []
    if any(any(ch.isdecimal() for ch in w) for w in words):
        cores = [plain_form(w).strip() for w in words]
        for index, core in enumerate(cores):
            if any(ch.isdecimal() for ch in core):
                found += _around_number(cores, index, code)
    found += _spaced_abbreviations(words, code)
    if code == "ja":
        found += _in_kana(words)
    return sorted(found, key=lambda unit: (unit.first, unit.last))


def _around_number(cores: list[str], index: int, code: str) -> list[Unit]:
    core = cores[index].strip(_EDGES)
    after = cores[index + 1].strip(_EDGES) if index + 1 < len(cores) else ""
    before = cores[index - 1].strip(_EDGES) if index else ""
    found: list[Unit] = []

    def add(first: int, last: int, texts: Sequence[str]) -> None:
        if spoken_ways := all_spoken(texts):
            found.append(Unit(first, last, tuple(spoken_ways)))

    if _SCALE.fullmatch(after.casefold()):
        add(index, index + 2, scaled_texts(core, after, code))
    if core.isdecimal() and len(core) <= 3:
        last = index + 1
        while last < len(cores) and re.fullmatch(r"\d{3}", cores[last].strip(_EDGES)):
            last += 1
        previous = re.search(r"\d$", before) is not None
        if last > index + 1 and not previous and not core.startswith("0"):
            digits = "".join(c.strip(_EDGES) for c in cores[index:last])
            add(index, last, number_texts(digits, code))
    if before and core[0].isdecimal():
        add(index - 1, index + 1, _after_currency(before, core, code))
        if noun := number_noun(cores[index - 1].strip('"()[]{},;:'), code):
            add(index - 1, index + 1, [f"{noun} {text}" for text in number_texts(core, code)])
    if after and core[-1].isdecimal():
        if len(after) == 1 or after == "in":
            add(
                index,
                index + 2,
                [f"{n} {name}" for n in number_texts(core, code) for name in unit_texts(after, code)],
            )
        if after.casefold() in ("uhr", "o'clock", "h", "heures", "horas", "uur", "ore"):
            add(
                index,
                index + 2,
                [
                    t
                    for t in clock_texts(core, code)
                    if after.casefold() in ("h", "uhr") or fold(after) in fold(t)
                ],
            )
    if code == "ja" and after == "日" and core.isdecimal() and (day := japanese.DAYS.get(int(core))):
        add(index, index + 2, [day])
    found += _dates(cores, index, code)
    return found


def _spaced_abbreviations(words: Sequence[str], code: str) -> list[Unit]:
    """Abbreviations whose parts stand apart: "z. B.", "i. e."."""
    found: list[Unit] = []
    for first, (one, other) in enumerate(itertools.pairwise(words)):
        if one.endswith(".") and "." in other and max(len(one), len(other)) <= _LONGEST_PART:
            core = other.strip(_EDGES[:-1])
            if texts := all_spoken(abbreviation_texts(fold(one + core), one + core, code)):
                found.append(Unit(first, first + 2, tuple(texts)))
    return found


def _after_currency(before: str, core: str, code: str) -> list[str]:
    """Money before its number: "Rs. 5", "EUR 5"; a sign that stood alone is on the word before it: "costs$ 5"."""
    if currency_names(before, code)[0] and (
        before.isupper() or not before.isalpha() or before in ("Rs", "kr")
    ):
        sign, lead = before, ""
    elif before[-1] in "$£€¥₹" and before[:-1].isalpha():
        sign, lead = before[-1], before[:-1]
    else:
        return []
    names = currency_names(sign, code)[0]
    amounts = amount_texts(f"{sign}{core}", code) or [
        f"{n} {name}" for n in number_texts(core, code) for name in names
    ]
    return [f"{lead} {amount}" for amount in amounts]


def _dates(cores: list[str], index: int, code: str) -> list[Unit]:
    match = _DAY.fullmatch(cores[index].strip('"()[]{},;:!?'))
    names = months(code)
    if match is None or not names or not 1 <= int(match.group(1)) <= 31:
        return []
    day, found = int(match.group(1)), []
    for first, month, last in (
        (index - 1, index - 1, index + 1),
        (index, index + 1, index + 2),
        (index, index + 2, index + 3),
    ):
        if (
            first < 0
            or last > len(cores)
            or (month - index == 2 and fold(cores[index + 1]) not in ("of", "de"))
        ):
            continue
        if code != "en" and month < index:
            continue
        number = names.get(fold(cores[month]), 0)
        if number and (texts := all_spoken(day_and_month_texts(day, number, code))):
            found.append(Unit(first, last, tuple(texts)))
    return found


def _in_kana(words: Sequence[str]) -> list[Unit]:
    """Words in characters by their sound; the text is cut by SudachiPy, the written words are its characters."""
    owners = [k for k, word in enumerate(words) for _ in word]
    found: list[Unit] = []
    for begin, end, sounds in japanese.kana_of("".join(words)):
        first, last = owners[begin], owners[end - 1] + 1
        # A word of Latin letters beside it, glued on by a missing space, would be lost in the reading.
        if len(fold("".join(words[first:last]))) == end - begin:
            found.append(Unit(first, last, tuple(tuple(sound) for sound in sounds)))
    return found
